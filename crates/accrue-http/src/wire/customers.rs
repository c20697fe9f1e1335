use accrue::{
    Carried, CarriedUpdate, Currency, CustomerId, Email, ExternalId, IdOr, Metadata, Name,
    PaymentMethodId, Zone,
    customer::{self, CustomerUpdate, HierarchyChange, PaymentProvider},
    related::Related,
};
use serde::{Deserialize, Serialize};

use super::{
    amounts::Amount,
    carried::flag,
    customer_fields::{
        AccountingSyncConfiguration, AccountingSyncConfigurationIn, AdditionalEmails, Address,
        AddressIn, Answered, Keep, PaymentConfiguration, PaymentConfigurationIn,
        ReportingConfiguration, ReportingConfigurationIn, TaxConfigurationIn, TaxId, TaxIdIn,
    },
    payment_methods::PaymentMethod,
};
use crate::{
    json::Json,
    problem::Problem,
    shape::{
        Describe, Fields, Maybe, MetadataIn, Moment, Nothing, Read, Reader, Schema, choices,
        metadata_update, new_metadata, request, response,
    },
};

request! {
    /// A customer to create.
    pub(crate) struct NewCustomer {
        /// Its name.
        name: Name,
        /// E-mail address for its invoices.
        email: Email,
        /// External id: the caller's own alias. Usage that waits under it becomes the customer's.
        external_customer_id: Option<ExternalId>,
        /// Time zone in which its billing periods begin and end: the account's where none is given.
        timezone: Option<Zone>,
        /// Currency of its invoices.
        currency: Option<Currency>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
        /// Payment provider in which it exists.
        payment_provider: Option<PaymentProvider>,
        /// Its id at the payment provider.
        payment_provider_id: Option<Name>,
        /// Further e-mail addresses for its invoices.
        additional_emails: Maybe<AdditionalEmails>,
        /// True if its invoices are collected without a request.
        auto_collection: Maybe<bool>,
        /// True if its invoices are issued without approval.
        auto_issuance: Maybe<bool>,
        /// True if its invoices are sent by e-mail.
        email_delivery: Maybe<bool>,
        /// Postal address of its invoices.
        billing_address: Maybe<AddressIn>,
        /// Postal address for goods.
        shipping_address: Maybe<AddressIn>,
        /// Its identifier at the tax authority.
        tax_id: Maybe<TaxIdIn>,
        /// Settings for the computation of taxes.
        tax_configuration: Maybe<TaxConfigurationIn>,
        /// Accounting systems that keep its books.
        accounting_sync_configuration: Maybe<AccountingSyncConfigurationIn>,
        /// Payment providers through which it pays.
        payment_configuration: Maybe<PaymentConfigurationIn>,
        /// Settings for reports: if it counts in them.
        reporting_configuration: Maybe<ReportingConfigurationIn>,
        /// Parent or children of the customer, whose usage a subscription of the parent may count.
        hierarchy: Option<HierarchyIn>,
    }

    /// Changes to a customer.
    pub(crate) struct UpdateCustomer {
        /// Its name from now on.
        name: Option<Name>,
        /// E-mail address for its invoices from now on.
        email: Option<Email>,
        /// External id: the caller's own alias; only where there is none yet.
        external_customer_id: Option<ExternalId>,
        /// Currency of its invoices: only where there is none yet.
        currency: Option<Currency>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
        /// Payment provider in which it exists.
        payment_provider: Maybe<PaymentProvider>,
        /// Its id at the payment provider.
        payment_provider_id: Maybe<Name>,
        /// Further e-mail addresses for its invoices.
        additional_emails: Maybe<AdditionalEmails>,
        /// True if its invoices are collected without a request.
        auto_collection: Maybe<bool>,
        /// True if its invoices are issued without approval.
        auto_issuance: Maybe<bool>,
        /// True if its invoices are sent by e-mail.
        email_delivery: Maybe<bool>,
        /// Postal address of its invoices.
        billing_address: Maybe<AddressIn>,
        /// Postal address for goods.
        shipping_address: Maybe<AddressIn>,
        /// Its identifier at the tax authority.
        tax_id: Maybe<TaxIdIn>,
        /// Settings for the computation of taxes.
        tax_configuration: Maybe<TaxConfigurationIn>,
        /// Accounting systems that keep its books.
        accounting_sync_configuration: Maybe<AccountingSyncConfigurationIn>,
        /// Payment providers through which it pays.
        payment_configuration: Maybe<PaymentConfigurationIn>,
        /// Settings for reports: if it counts in them.
        reporting_configuration: Maybe<ReportingConfigurationIn>,
        /// Payment method with which it pays: one of its own; null leaves the choice to the gateway.
        default_payment_method_id: Maybe<PaymentMethodId>,
        /// Another parent, or more children.
        hierarchy: Option<HierarchyIn>,
    }

    /// The parent and the children of a customer.
    pub(crate) struct HierarchyIn {
        /// Id of the parent customer, which is nobody's child; null to leave that which it has.
        parent_customer_id: Maybe<CustomerId>,
        /// Ids of customers that become its children, beside those that it has: at most 100 in all.
        child_customer_ids: Option<Vec<CustomerId>>,
    }
}

response! {
    /// A customer, to whom usage is billed (wire 4.2).
    pub(crate) struct Customer {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_customer_id: Option<ExternalId>,
        /// Its name.
        name: Name,
        /// E-mail address for its invoices.
        email: Email,
        /// Further e-mail addresses for its invoices.
        additional_emails: Answered<Vec<Email>>,
        /// Time zone in which its billing periods begin and end.
        timezone: Zone,
        /// Currency of its invoices, once that is decided.
        currency: Option<Currency>,
        /// Balance in its currency: above zero what it is owed, below zero what it owes.
        balance: Amount,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
        /// Instant of its creation.
        created_at: Moment,
        /// Payment provider in which it exists.
        payment_provider: Option<PaymentProvider>,
        /// Its id at the payment provider.
        payment_provider_id: Option<Name>,
        /// Payment method with which it pays; null where none is known.
        default_payment_method: Option<PaymentMethod>,
        /// True if its invoices are collected without a request.
        auto_collection: bool,
        /// True if its invoices are issued without approval.
        auto_issuance: Option<bool>,
        /// True if its invoices are sent by e-mail.
        email_delivery: bool,
        /// Postal address of its invoices.
        billing_address: Answered<Option<Address>>,
        /// Postal address for goods.
        shipping_address: Answered<Option<Address>>,
        /// Its identifier at the tax authority.
        tax_id: Answered<Option<TaxId>>,
        /// True if no tax is to be computed.
        exempt_from_automated_tax: Option<bool>,
        /// True if tax is to be computed: not where nothing was said.
        automatic_tax_enabled: bool,
        /// Accounting systems that keep its books.
        accounting_sync_configuration: Answered<Option<AccountingSyncConfiguration>>,
        /// Payment providers through which it pays.
        payment_configuration: Answered<Option<PaymentConfiguration>>,
        /// Settings for reports: if it counts in them.
        reporting_configuration: Answered<Option<ReportingConfiguration>>,
        /// Parent and children of the customer.
        hierarchy: Hierarchy,
        /// Always null: there is no page on which it sees its invoices.
        portal_url: Nothing,
    }

    /// The parent and the children of a customer.
    pub(crate) struct Hierarchy {
        /// Parent customer; null where it has none.
        parent: Option<CustomerMinified>,
        /// Child customers that were not deleted, in the order in which they came.
        children: Vec<CustomerMinified>,
    }

    /// A customer, in short.
    pub(crate) struct CustomerMinified {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_customer_id: Option<ExternalId>,
    }
}

choices! {
    PaymentProvider {
        "quickbooks" => PaymentProvider::Quickbooks,
        "bill.com" => PaymentProvider::BillCom,
        "stripe_charge" => PaymentProvider::StripeCharge,
        "stripe_invoice" => PaymentProvider::StripeInvoice,
        "netsuite" => PaymentProvider::Netsuite,
        "adyen" => PaymentProvider::Adyen,
    }
}

/// A customer by its external id. A text that cannot be one names no customer.
#[derive(Clone, Debug)]
pub(crate) struct ExternalCustomerId(ExternalId);

/// One of two fields names a customer, or none does.
pub(crate) fn names_one_customer_at_most(fields: &Fields<'_>, reader: &mut Reader) {
    if fields.has("customer_id") && fields.has("external_customer_id") {
        let pointer = fields.pointer("external_customer_id");
        let _: Option<()> = reader.wrong(&pointer, "is there beside customer_id, expected one");
    }
}

impl Read for ExternalCustomerId {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::String(text) = json else {
            return reader.unexpected(json, at, "a string");
        };
        ExternalId::parse(text.as_str()).ok().map(Self).or_else(|| reader.unknown("customer"))
    }
}

impl Describe for ExternalCustomerId {
    fn schema() -> Schema {
        ExternalId::schema()
    }
}

impl From<ExternalCustomerId> for IdOr<CustomerId> {
    fn from(ExternalCustomerId(id): ExternalCustomerId) -> Self {
        id.into()
    }
}

/// Lists the fields of a request that are only stored, each with its JSON text.
macro_rules! kept {
    ($request:ident: $($field:ident),*) => {
        [$(($request.$field.keep()?).map(|text| (stringify!($field), text))),*]
            .into_iter()
            .flatten()
    };
}

impl TryFrom<NewCustomer> for customer::NewCustomer {
    type Error = Problem;

    fn try_from(new: NewCustomer) -> Result<Self, Problem> {
        let carried = Carried::new(kept!(
            new: additional_emails, auto_collection, auto_issuance, email_delivery,
            billing_address, shipping_address, tax_id, tax_configuration,
            accounting_sync_configuration, payment_configuration, reporting_configuration
        ))?;
        let mut customer = Self::new(new.name, new.email);
        customer.external_customer_id = new.external_customer_id;
        customer.timezone = new.timezone;
        customer.currency = new.currency;
        customer.payment_provider = new.payment_provider;
        customer.payment_provider_id = new.payment_provider_id;
        customer.hierarchy = HierarchyIn::change(new.hierarchy);
        customer.metadata = new_metadata(new.metadata);
        customer.carried = carried;
        Ok(customer)
    }
}

impl TryFrom<UpdateCustomer> for CustomerUpdate {
    type Error = Problem;

    fn try_from(update: UpdateCustomer) -> Result<Self, Problem> {
        let carried = CarriedUpdate::new(kept!(
            update: additional_emails, auto_collection, auto_issuance, email_delivery,
            billing_address, shipping_address, tax_id, tax_configuration,
            accounting_sync_configuration, payment_configuration, reporting_configuration
        ))?;
        Ok(Self {
            name: update.name,
            email: update.email,
            external_customer_id: update.external_customer_id,
            currency: update.currency,
            payment_provider: update.payment_provider.into(),
            payment_provider_id: update.payment_provider_id.into(),
            default_payment_method: update.default_payment_method_id.into(),
            hierarchy: HierarchyIn::change(update.hierarchy),
            metadata: metadata_update(update.metadata),
            carried,
        })
    }
}

impl HierarchyIn {
    fn change(of: Option<Self>) -> HierarchyChange {
        of.map_or_else(HierarchyChange::default, |of| HierarchyChange {
            parent: of.parent_customer_id.into(),
            children: of.child_customer_ids.unwrap_or_default(),
        })
    }
}

impl Hierarchy {
    /// Writes those of a hierarchy that were not deleted.
    pub(super) fn of(of: &customer::Hierarchy, related: &Related) -> Self {
        let member = |id: &CustomerId| {
            let found = related.customer(*id)?;
            Some(CustomerMinified::of(*id, Some(found)))
        };
        Self {
            parent: of.parent.as_ref().and_then(member),
            children: of.children.iter().filter_map(member).collect(),
        }
    }
}

impl Customer {
    pub(crate) fn of(customer: &customer::Customer, related: &Related) -> Self {
        let carried = &customer.carried;
        let tax = TaxFlags::of(carried);
        Self {
            id: customer.id.to_string(),
            external_customer_id: customer.external_customer_id.clone(),
            name: customer.name.clone(),
            email: customer.email.clone(),
            additional_emails: Answered::of(carried, "additional_emails"),
            timezone: customer.timezone.clone(),
            currency: customer.currency,
            balance: match customer.currency {
                Some(currency) => Amount::of(&customer.balance, &currency.into()),
                None => Amount::nothing(),
            },
            metadata: customer.metadata.clone(),
            created_at: customer.created_at.into(),
            payment_provider: customer.payment_provider,
            payment_provider_id: customer.payment_provider_id.clone(),
            default_payment_method: customer
                .default_payment_method
                .as_deref()
                .map(PaymentMethod::from),
            auto_collection: auto_collection(customer),
            auto_issuance: flag(carried, "auto_issuance"),
            email_delivery: flag(carried, "email_delivery").unwrap_or(true),
            billing_address: Answered::of(carried, "billing_address"),
            shipping_address: Answered::of(carried, "shipping_address"),
            tax_id: Answered::of(carried, "tax_id"),
            exempt_from_automated_tax: tax.tax_exempt,
            automatic_tax_enabled: tax.automatic_tax_enabled.unwrap_or(false),
            accounting_sync_configuration: Answered::of(carried, "accounting_sync_configuration"),
            payment_configuration: Answered::of(carried, "payment_configuration"),
            reporting_configuration: Answered::of(carried, "reporting_configuration"),
            hierarchy: Hierarchy::of(&customer.hierarchy, related),
            portal_url: Nothing,
        }
    }
}

/// Tells whether the invoices of a customer are collected without a request: what was said, else
/// whether a payment provider is known (wire 4.3).
pub(crate) fn auto_collection(customer: &customer::Customer) -> bool {
    let said = flag(&customer.carried, "auto_collection");
    said.unwrap_or_else(|| customer.payment_provider.is_some())
}

/// The settings for the computation of taxes that an answer has.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct TaxFlags {
    tax_exempt: Option<bool>,
    automatic_tax_enabled: Option<bool>,
}

impl TaxFlags {
    fn of(carried: &Carried) -> Self {
        let text = carried.get("tax_configuration");
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

impl CustomerMinified {
    /// Writes a customer in short: without its external id where it was deleted.
    pub(crate) fn of(id: CustomerId, customer: Option<&customer::Customer>) -> Self {
        let external_customer_id = customer.and_then(|of| of.external_customer_id.clone());
        Self { id: id.to_string(), external_customer_id }
    }
}
