use serde::{Deserialize, Serialize};

use super::{Customer, PaymentProvider};
use crate::{CustomerId, Error, ExternalId, Name, PaymentMethodId, Timestamp, limits};

/// Payment method of a customer: a card, or what else its gateway can charge (invoicing 16.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethod {
    /// Its id.
    pub id: PaymentMethodId,
    /// Customer that pays with it.
    pub customer_id: CustomerId,
    /// Type.
    pub method_type: PaymentMethodType,
    /// Gateway that charges it.
    pub provider: PaymentProvider,
    /// The gateway's id for it.
    pub external_id: ExternalId,
    /// True where invoices are collected with it.
    pub is_default: bool,
    /// Instant at which it was first listed.
    pub created_at: Timestamp,
}

/// Type of a payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentMethodType {
    /// `card`
    Card,
    /// `us_bank_account`
    UsBankAccount,
    /// `link`
    Link,
    /// `amazon_pay`
    AmazonPay,
    /// `crypto`
    Crypto,
}

/// Account of a customer at a gateway: what a host asks for the payment methods of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GatewayAccount {
    /// Customer that it is of.
    pub customer_id: CustomerId,
    /// The gateway.
    pub provider: PaymentProvider,
    /// The customer's id there.
    pub provider_id: Name,
}

/// Payment method as a gateway lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPaymentMethod {
    /// The gateway's id for it.
    pub external_id: ExternalId,
    /// Type.
    pub method_type: PaymentMethodType,
    /// True where the gateway has it for the default.
    pub is_default: bool,
}

/// All payment methods that a gateway lists for an account there.
///
/// ```
/// use accrue::{ExternalId, customer::{ListedPaymentMethod, ListedPaymentMethods, PaymentMethodType}};
/// # use accrue::{AccountId, Billing, Email, Name, customer::{NewCustomer, PaymentProvider}, store::MemoryStore};
///
/// # pollster::block_on(async {
/// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
/// # let mut ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
/// # ada.payment_provider = Some(PaymentProvider::StripeCharge);
/// # ada.payment_provider_id = Some(Name::parse("cus_1")?);
/// # let ada = account.create_customer(ada).await?;
/// let of = account.gateway_account(ada.id).await?;
/// // What the gateway answers when it is asked for the methods of `of.provider_id`.
/// let card = ListedPaymentMethod {
///     external_id: ExternalId::parse("pm_1")?,
///     method_type: PaymentMethodType::Card,
///     is_default: true,
/// };
/// account.sync_payment_methods(ListedPaymentMethods::new(of, vec![card])?).await?;
/// let ada = account.fetch_customer(ada.id).await?;
/// assert_eq!(ada.default_payment_method.unwrap().external_id.as_str(), "pm_1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPaymentMethods {
    of: GatewayAccount,
    methods: Vec<ListedPaymentMethod>,
}

/// Payment methods of a customer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PaymentMethods {
    pub(crate) methods: Vec<PaymentMethod>,
}

/// Payment methods that came and went, as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MethodChanges {
    pub(crate) created: Vec<PaymentMethod>,
    pub(crate) deleted: Vec<PaymentMethod>,
}

impl PaymentMethodType {
    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::UsBankAccount => "us_bank_account",
            Self::Link => "link",
            Self::AmazonPay => "amazon_pay",
            Self::Crypto => "crypto",
        }
    }
}

impl GatewayAccount {
    /// Returns the account of a customer at a gateway, where it has one.
    pub(crate) fn find(customer: &Customer) -> Option<Self> {
        let provider = customer.payment_provider.filter(|of| of.is_gateway())?;
        let provider_id = customer.payment_provider_id.clone()?;
        Some(Self { customer_id: customer.id, provider, provider_id })
    }

    pub(crate) fn of(customer: &Customer) -> Result<Self, Error> {
        let none = || Error::constraint("the customer has no account at a payment gateway");
        Self::find(customer).ok_or_else(none)
    }
}

impl ListedPaymentMethods {
    /// Creates the list of an account.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are more than
    /// [50](limits::PAYMENT_METHODS), one is there twice, or more than one is the default.
    pub fn new(of: GatewayAccount, methods: Vec<ListedPaymentMethod>) -> Result<Self, Error> {
        let (count, most) = (methods.len(), limits::PAYMENT_METHODS);
        if count > most {
            let message = format!("found {count} payment methods, expected at most {most}");
            return Err(Error::invalid("methods", message));
        }
        for (place, method) in methods.iter().enumerate() {
            let mut before = methods.iter().take(place);
            if before.any(|of| of.external_id == method.external_id) {
                let message = format!("found {} twice", method.external_id);
                return Err(Error::invalid(format!("methods[{place}].external_id"), message));
            }
        }
        let defaults = methods.iter().filter(|of| of.is_default).count();
        if defaults > 1 {
            let message = format!("found {defaults} defaults, expected one at most");
            return Err(Error::invalid("methods", message));
        }
        Ok(Self { of, methods })
    }

    pub(crate) const fn customer_id(&self) -> CustomerId {
        self.of.customer_id
    }
}

impl PaymentMethods {
    /// Takes what the gateway lists in place of what is known: a method that is known keeps its id. The default
    /// is that of the gateway, or where it has none that of before, as long as it is listed.
    pub(crate) fn sync(
        &mut self,
        listed: ListedPaymentMethods,
        customer: &Customer,
        mut id: impl FnMut() -> PaymentMethodId,
        now: Timestamp,
    ) -> Result<MethodChanges, Error> {
        let ListedPaymentMethods { of, methods } = listed;
        if GatewayAccount::find(customer).as_ref() != Some(&of) {
            let detail = "the customer has another account at the gateway than was asked for";
            return Err(Error::constraint(detail));
        }
        let mut known = std::mem::take(&mut self.methods);
        let names_default = methods.iter().any(|of| of.is_default);
        let mut changes = MethodChanges::default();
        for ListedPaymentMethod { external_id, method_type, is_default } in methods {
            let place = known.iter().position(|of| of.external_id == external_id);
            let method = match place.map(|place| known.remove(place)) {
                Some(known) => {
                    let is_default = if names_default { is_default } else { known.is_default };
                    PaymentMethod { method_type, is_default, ..known }
                }
                None => {
                    let new = PaymentMethod {
                        id: id(),
                        customer_id: customer.id,
                        method_type,
                        provider: of.provider,
                        external_id,
                        is_default,
                        created_at: now,
                    };
                    changes.created.push(new.clone());
                    new
                }
            };
            self.methods.push(method);
        }
        changes.deleted = known;
        Ok(changes)
    }

    /// Chooses the default, or none.
    pub(crate) fn choose(&mut self, id: Option<PaymentMethodId>) -> Result<(), Error> {
        if let Some(id) = id
            && !self.methods.iter().any(|of| of.id == id)
        {
            return Err(Error::not_found("payment method", id));
        }
        self.methods.iter_mut().for_each(|of| of.is_default = Some(of.id) == id);
        Ok(())
    }

    /// Returns the default.
    pub(crate) fn default_method(&self) -> Option<Box<PaymentMethod>> {
        self.methods.iter().find(|of| of.is_default).cloned().map(Box::new)
    }
}
