//! Customers, to whom usage is billed.

mod hierarchy;
mod payment_method;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::payment_method::{MethodChanges, PaymentMethods};
pub use self::{
    hierarchy::{Hierarchy, HierarchyChange},
    payment_method::{
        GatewayAccount, ListedPaymentMethod, ListedPaymentMethods, PaymentMethod, PaymentMethodType,
    },
};
use crate::{
    Carried, CarriedUpdate, Currency, CustomerId, Decimal, Email, Error, ExternalId, IdOr,
    Metadata, MetadataUpdate, Name, Patch, PaymentMethodId, Timestamp, Zone, metadata,
};

/// A customer (§2.4, wire 4.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Customer {
    /// Its id.
    pub id: CustomerId,
    /// The caller's alias for the id, unique in the account.
    pub external_customer_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// E-mail address to which its invoices go.
    pub email: Email,
    /// Time zone in which its billing periods begin and end.
    pub timezone: Zone,
    /// The currency that it is invoiced in, once that is decided.
    pub currency: Option<Currency>,
    /// The payment provider in which it exists.
    pub payment_provider: Option<PaymentProvider>,
    /// Its identifier there.
    pub payment_provider_id: Option<Name>,
    /// The payment method that its invoices are collected with: a copy of that among its
    /// [methods](crate::Account::payment_methods).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_payment_method: Option<Box<PaymentMethod>>,
    /// Balance in its currency: above zero what it is owed, below zero what it owes (invoicing 12).
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub balance: Decimal,
    /// Its parent, or its children.
    #[serde(default, skip_serializing_if = "Hierarchy::is_empty")]
    pub hierarchy: Hierarchy,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// A payment provider (wire 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentProvider {
    /// `quickbooks`
    Quickbooks,
    /// `bill.com`
    #[serde(rename = "bill.com")]
    BillCom,
    /// `stripe_charge`
    StripeCharge,
    /// `stripe_invoice`
    StripeInvoice,
    /// `netsuite`
    Netsuite,
    /// `adyen`
    Adyen,
}

impl PaymentProvider {
    /// Tells whether it charges: others are given invoices (invoicing 16.2).
    pub(crate) const fn is_gateway(self) -> bool {
        matches!(self, Self::StripeCharge | Self::Adyen)
    }

    /// Tells whether it is given invoices, which it collects.
    pub(crate) const fn is_invoicing(self) -> bool {
        !self.is_gateway()
    }

    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quickbooks => "quickbooks",
            Self::BillCom => "bill.com",
            Self::StripeCharge => "stripe_charge",
            Self::StripeInvoice => "stripe_invoice",
            Self::Netsuite => "netsuite",
            Self::Adyen => "adyen",
        }
    }
}

/// A customer to create (wire 4.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewCustomer {
    /// Its name.
    pub name: Name,
    /// E-mail address to which its invoices go.
    pub email: Email,
    /// The caller's alias, unique in the account. Usage that waits under it becomes the customer's.
    pub external_customer_id: Option<ExternalId>,
    /// Its time zone; the account's where none is given. It never changes.
    pub timezone: Option<Zone>,
    /// The currency that it is invoiced in.
    pub currency: Option<Currency>,
    /// The payment provider in which it exists.
    pub payment_provider: Option<PaymentProvider>,
    /// Its identifier there.
    pub payment_provider_id: Option<Name>,
    /// The parent that it gets, or the children.
    #[serde(skip_serializing_if = "HierarchyChange::is_empty")]
    pub hierarchy: HierarchyChange,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    pub carried: Carried,
}

impl NewCustomer {
    /// Creates a customer with the fields that every customer needs.
    #[must_use]
    pub const fn new(name: Name, email: Email) -> Self {
        Self {
            name,
            email,
            external_customer_id: None,
            timezone: None,
            currency: None,
            payment_provider: None,
            payment_provider_id: None,
            hierarchy: HierarchyChange { parent: Patch::Keep, children: Vec::new() },
            metadata: BTreeMap::new(),
            carried: Carried::NONE,
        }
    }

    pub(crate) fn decide(
        self,
        id: CustomerId,
        account_zone: &Zone,
        now: Timestamp,
    ) -> Result<Customer, Error> {
        metadata::check(&self.metadata)?;
        Ok(Customer {
            id,
            external_customer_id: self.external_customer_id,
            name: self.name,
            email: self.email,
            timezone: self.timezone.unwrap_or_else(|| account_zone.clone()),
            currency: self.currency,
            payment_provider: self.payment_provider,
            payment_provider_id: self.payment_provider_id,
            default_payment_method: None,
            balance: Decimal::zero(),
            hierarchy: Hierarchy::default(),
            metadata: self.metadata,
            carried: self.carried,
            created_at: now,
        })
    }
}

/// Update of a customer (wire 4.3). The zone never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CustomerUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// A new e-mail address.
    pub email: Option<Email>,
    /// The caller's alias: only where there is none yet.
    pub external_customer_id: Option<ExternalId>,
    /// The currency: only where there is none yet.
    pub currency: Option<Currency>,
    /// The payment provider.
    pub payment_provider: Patch<PaymentProvider>,
    /// The identifier there.
    pub payment_provider_id: Patch<Name>,
    /// The payment method that invoices are collected with: one of the customer's.
    pub default_payment_method: Patch<PaymentMethodId>,
    /// Another parent, or more children.
    #[serde(skip_serializing_if = "HierarchyChange::is_empty")]
    pub hierarchy: HierarchyChange,
    /// The caller's own strings.
    pub metadata: MetadataUpdate,
    /// Fields that the engine has no use for.
    pub carried: CarriedUpdate,
}

impl Customer {
    /// Tells whether an id or an external id is its own.
    pub(crate) fn is_named(&self, name: &IdOr<CustomerId>) -> bool {
        match name {
            IdOr::Id(id) => *id == self.id,
            IdOr::External(external) => self.external_customer_id.as_ref() == Some(external),
        }
    }

    /// Refuses what moves the balance of a customer of an invoicing provider: it pays for nothing (invoicing 10.6,
    /// 12.2).
    pub(crate) fn check_balance_counts(&self) -> Result<(), Error> {
        match self.payment_provider.filter(|of| of.is_invoicing()) {
            Some(_) => Err(Error::constraint(
                "the balance of a customer of an invoicing provider pays for nothing",
            )),
            None => Ok(()),
        }
    }
}

impl CustomerUpdate {
    /// Tells whether it may change payment methods: those of an account at a gateway go with it.
    pub(crate) fn is_of_methods(&self) -> bool {
        self.payment_provider != Patch::Keep
            || self.payment_provider_id != Patch::Keep
            || self.default_payment_method != Patch::Keep
    }

    /// Decides what the customer is after it, and changes its payment methods; returns those that are gone.
    pub(crate) fn decide(
        self,
        customer: &Customer,
        methods: &mut PaymentMethods,
    ) -> Result<(Customer, Vec<PaymentMethod>), Error> {
        let mut after = customer.clone();
        let mut gone = Vec::new();
        after.name = self.name.unwrap_or(after.name);
        after.email = self.email.unwrap_or(after.email);
        set_once(&mut after.external_customer_id, self.external_customer_id, "external id")?;
        set_once(&mut after.currency, self.currency, "currency")?;
        self.payment_provider.apply(&mut after.payment_provider);
        self.payment_provider_id.apply(&mut after.payment_provider_id);
        if GatewayAccount::find(customer) != GatewayAccount::find(&after) {
            gone = std::mem::take(&mut methods.methods);
        }
        match self.default_payment_method {
            Patch::Keep => {}
            Patch::Clear => methods.choose(None)?,
            Patch::Set(id) => methods.choose(Some(id))?,
        }
        self.metadata.apply(&mut after.metadata)?;
        self.carried.apply(&mut after.carried)?;
        Ok((after, gone))
    }
}

fn set_once<T: PartialEq>(field: &mut Option<T>, new: Option<T>, what: &str) -> Result<(), Error> {
    match (&field, new) {
        (_, None) => Ok(()),
        (Some(old), Some(new)) if *old != new => {
            Err(Error::constraint(format!("the customer has another {what} already")))
        }
        (_, Some(new)) => {
            *field = Some(new);
            Ok(())
        }
    }
}

/// The fields of a customer that an edit changed, as they were before.
pub type PreviousAttributes = BTreeMap<String, AttributeValue>;

/// The value of a field before an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttributeValue {
    /// A text, or none.
    Text(Option<String>),
    /// Metadata.
    Metadata(Metadata),
    /// A hierarchy.
    Hierarchy(Hierarchy),
    /// The JSON text of another field, or none.
    Json(Option<String>),
}

/// Lists the fields that differ, with their values in `before`.
pub(crate) fn previous_attributes(before: &Customer, after: &Customer) -> PreviousAttributes {
    let fields = |customer: &Customer| {
        let text = |text: &str| AttributeValue::Text(Some(text.to_owned()));
        let optional = |text: Option<&str>| AttributeValue::Text(text.map(str::to_owned));
        let default_method = customer.default_payment_method.as_ref().map(|of| of.id.to_string());
        [
            ("name", text(&customer.name)),
            ("email", text(&customer.email)),
            ("external_customer_id", optional(customer.external_customer_id.as_deref())),
            ("currency", optional(customer.currency.map(Currency::code))),
            ("payment_provider", optional(customer.payment_provider.map(PaymentProvider::name))),
            ("payment_provider_id", optional(customer.payment_provider_id.as_deref())),
            ("default_payment_method_id", AttributeValue::Text(default_method)),
            ("hierarchy", AttributeValue::Hierarchy(customer.hierarchy.clone())),
            ("metadata", AttributeValue::Metadata(customer.metadata.clone())),
        ]
    };
    // Where one has the name of a field of the engine, that one is told.
    carried_before(&before.carried, &after.carried)
        .chain(changed(fields(before), fields(after)))
        .collect()
}

/// Lists the fields that differ, of some in one order, as they were before.
pub(crate) fn changed<const N: usize>(
    before: [(&str, AttributeValue); N],
    after: [(&str, AttributeValue); N],
) -> impl Iterator<Item = (String, AttributeValue)> {
    let pairs = before.into_iter().zip(after);
    let differing = pairs.filter(|((_, before), (_, after))| before != after);
    differing.map(|((name, before), _)| (name.to_owned(), before))
}

/// Lists the fields that the engine has no use for and that differ, as they were before.
pub(crate) fn carried_before<'a>(
    before: &'a Carried,
    after: &'a Carried,
) -> impl Iterator<Item = (String, AttributeValue)> {
    let fields = before.iter().chain(after.iter());
    let changed = fields
        .map(|(name, _)| (name, before.get(name)))
        .filter(|(name, text)| after.get(name) != *text);
    changed.map(|(name, text)| (name.to_owned(), AttributeValue::Json(text.map(str::to_owned))))
}
