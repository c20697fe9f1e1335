//! The fields of a customer that are stored as an answer has them, and given back.

use std::marker::PhantomData;

use accrue::{Carried, Email, Name};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::tax_ids::{TaxIdCountry, TaxIdType};
use crate::{
    json::Json,
    problem::Problem,
    shape::{Describe, Maybe, Read, Reader, Schema, choices, request, response},
};

request! {
    /// An address.
    pub(crate) struct AddressIn open {
        /// First line.
        line1: Option<String>,
        /// Second line.
        line2: Option<String>,
        /// City.
        city: Option<String>,
        /// State.
        state: Option<String>,
        /// Postal code.
        postal_code: Option<String>,
        /// Country.
        country: Option<String>,
    }

    /// The identifier of a customer at a tax authority.
    pub(crate) struct TaxIdIn {
        /// Country of the tax authority.
        country: TaxIdCountry,
        /// Type of the identifier.
        "type" kind: TaxIdType,
        /// Identifier.
        value: Name,
    }

    /// The settings for the computation of taxes.
    pub(crate) struct TaxConfigurationIn {
        /// Tax provider.
        tax_provider: TaxProvider,
        /// True if no tax is to be computed.
        tax_exempt: bool,
        /// True if tax is to be computed.
        automatic_tax_enabled: Option<bool>,
        /// Code of the reason why no tax is to be computed.
        tax_exemption_code: Option<String>,
    }

    /// The accounting systems that keep the books of a customer.
    pub(crate) struct AccountingSyncConfigurationIn {
        /// Accounting systems.
        accounting_providers: Option<Vec<AccountingProviderIn>>,
        /// True if the books are not to be kept.
        excluded: Option<bool>,
    }

    /// An accounting system that keeps books.
    pub(crate) struct AccountingProviderIn {
        /// Accounting system.
        provider_type: AccountingSystem,
        /// Id of the customer there.
        external_provider_id: Name,
    }

    /// The payment providers through which a customer pays.
    pub(crate) struct PaymentConfigurationIn {
        /// Payment providers.
        payment_providers: Option<Vec<PaymentProviderIn>>,
    }

    /// A payment provider through which a customer pays.
    pub(crate) struct PaymentProviderIn {
        /// Payment provider.
        provider_type: PaymentSystem,
        /// Token of the payment method with which the customer pays there.
        default_shared_payment_token: Option<String>,
        /// Types of payment methods with which the customer does not pay there: stored and given back.
        excluded_payment_method_types: Option<Vec<String>>,
    }

    /// The settings of a customer for reports.
    pub(crate) struct ReportingConfigurationIn {
        /// True if the customer does not count in reports.
        exempt: bool,
    }
}

response! {
    /// An address.
    pub(crate) struct Address {
        /// First line.
        line1: Option<String>,
        /// Second line.
        line2: Option<String>,
        /// City.
        city: Option<String>,
        /// State.
        state: Option<String>,
        /// Postal code.
        postal_code: Option<String>,
        /// Country.
        country: Option<String>,
    }

    /// The identifier of a customer at a tax authority.
    pub(crate) struct TaxId {
        /// Country of the tax authority.
        country: TaxIdCountry,
        /// Type of the identifier.
        "type" kind: TaxIdType,
        /// Identifier.
        value: Name,
    }

    /// The settings for the computation of taxes. No answer has all of them.
    struct TaxConfiguration {
        /// Tax provider.
        tax_provider: TaxProvider,
        /// True if no tax is to be computed.
        tax_exempt: bool,
        /// True if tax is to be computed.
        automatic_tax_enabled: Option<bool>,
        /// Code of the reason why no tax is to be computed.
        tax_exemption_code: Option<String>,
    }

    /// The accounting systems that keep the books of a customer.
    pub(crate) struct AccountingSyncConfiguration {
        /// Accounting systems.
        accounting_providers: Vec<AccountingProvider>,
        /// True if the books are not to be kept.
        excluded: bool,
    }

    /// An accounting system that keeps books.
    pub(crate) struct AccountingProvider {
        /// Accounting system.
        provider_type: AccountingSystem,
        /// Id of the customer there.
        external_provider_id: Name,
    }

    /// The payment providers through which a customer pays.
    pub(crate) struct PaymentConfiguration {
        /// Payment providers.
        payment_providers: Vec<PaymentThrough>,
    }

    /// A payment provider through which a customer pays.
    pub(crate) struct PaymentThrough {
        /// Payment provider.
        provider_type: PaymentSystem,
        /// Token of the payment method with which the customer pays there.
        default_shared_payment_token: Option<String>,
        /// Types of payment methods with which the customer does not pay there.
        excluded_payment_method_types: Vec<String>,
    }

    /// The settings of a customer for reports.
    pub(crate) struct ReportingConfiguration {
        /// True if the customer does not count in reports.
        exempt: bool,
    }
}

/// A service that computes taxes.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaxProvider {
    Avalara,
    Taxjar,
    Sphere,
    Numeral,
    Anrok,
    Stripe,
}

/// A system that keeps books.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountingSystem {
    Quickbooks,
    Netsuite,
}

/// A service that takes payments.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentSystem {
    Stripe,
}

choices! {
    TaxProvider {
        "avalara" => TaxProvider::Avalara,
        "taxjar" => TaxProvider::Taxjar,
        "sphere" => TaxProvider::Sphere,
        "numeral" => TaxProvider::Numeral,
        "anrok" => TaxProvider::Anrok,
        "stripe" => TaxProvider::Stripe,
    }

    AccountingSystem {
        "quickbooks" => AccountingSystem::Quickbooks,
        "netsuite" => AccountingSystem::Netsuite,
    }

    PaymentSystem {
        "stripe" => PaymentSystem::Stripe,
    }
}

/// Addresses beside the first one of a customer, which has 50 of them at most (wire 4.3).
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct AdditionalEmails(Vec<Email>);

impl AdditionalEmails {
    const MOST: usize = 49;
}

impl Read for AdditionalEmails {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let emails = Vec::<Email>::read(json, at, reader)?;
        if emails.len() > Self::MOST {
            let (found, most) = (emails.len(), Self::MOST);
            return reader.wrong(at, format!("found {found} addresses, expected at most {most}"));
        }
        Some(Self(emails))
    }
}

impl Describe for AdditionalEmails {
    fn schema() -> Schema {
        Schema::Array { items: Box::new(Email::schema()), most: Some(Self::MOST) }
    }
}

/// A field of a request that is only stored.
pub(crate) trait Keep {
    /// Returns the JSON text that is stored of it; `None` where it was absent.
    fn keep(self) -> Result<Option<String>, Problem>;
}

impl<T: Stored> Keep for Maybe<T> {
    fn keep(self) -> Result<Option<String>, Problem> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Ok(Some("null".to_owned())),
            Self::Value(field) => {
                let text = serde_json::to_string(&field.stored());
                text.map(Some).map_err(|_| Problem::internal("a stored field cannot be read"))
            }
        }
    }
}

/// The form in which a field is stored: that of an answer.
pub(crate) trait Stored {
    fn stored(self) -> impl Serialize;
}

impl Stored for bool {
    fn stored(self) -> impl Serialize {
        self
    }
}

impl Stored for AdditionalEmails {
    fn stored(self) -> impl Serialize {
        self
    }
}

impl Stored for AddressIn {
    fn stored(self) -> impl Serialize {
        let Self { line1, line2, city, state, postal_code, country } = self;
        Address { line1, line2, city, state, postal_code, country }
    }
}

impl Stored for TaxIdIn {
    fn stored(self) -> impl Serialize {
        TaxId { country: self.country, kind: self.kind, value: self.value }
    }
}

impl Stored for TaxConfigurationIn {
    fn stored(self) -> impl Serialize {
        let Self { tax_provider, tax_exempt, automatic_tax_enabled, tax_exemption_code } = self;
        TaxConfiguration { tax_provider, tax_exempt, automatic_tax_enabled, tax_exemption_code }
    }
}

impl Stored for AccountingSyncConfigurationIn {
    fn stored(self) -> impl Serialize {
        let providers = self.accounting_providers.unwrap_or_default().into_iter();
        let provider = |of: AccountingProviderIn| AccountingProvider {
            provider_type: of.provider_type,
            external_provider_id: of.external_provider_id,
        };
        AccountingSyncConfiguration {
            accounting_providers: providers.map(provider).collect(),
            excluded: self.excluded.unwrap_or(false),
        }
    }
}

impl Stored for PaymentConfigurationIn {
    fn stored(self) -> impl Serialize {
        let providers = self.payment_providers.unwrap_or_default().into_iter();
        let provider = |of: PaymentProviderIn| PaymentThrough {
            provider_type: of.provider_type,
            default_shared_payment_token: of.default_shared_payment_token,
            excluded_payment_method_types: of.excluded_payment_method_types.unwrap_or_default(),
        };
        PaymentConfiguration { payment_providers: providers.map(provider).collect() }
    }
}

impl Stored for ReportingConfigurationIn {
    fn stored(self) -> impl Serialize {
        ReportingConfiguration { exempt: self.exempt }
    }
}

/// A field that was stored as an answer has it.
#[derive(Clone, Debug)]
pub(crate) struct Answered<T> {
    text: Option<Box<RawValue>>,
    of: PhantomData<T>,
}

impl<T> Answered<T> {
    /// Finds a field.
    pub(crate) fn of(carried: &Carried, name: &str) -> Self {
        let text = carried.get(name);
        let text = text.and_then(|text| RawValue::from_string(text.to_owned()).ok());
        Self { text, of: PhantomData }
    }
}

/// Null where there is none, and of a list that it is empty.
impl<T: WithoutValue> Serialize for Answered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => text.serialize(serializer),
            None => T::NONE.serialize(serializer),
        }
    }
}

/// A type that has a value where there is none.
pub(crate) trait WithoutValue: Serialize {
    const NONE: Self;
}

impl<T: Serialize> WithoutValue for Option<T> {
    const NONE: Self = None;
}

impl<T: Serialize> WithoutValue for Vec<T> {
    const NONE: Self = Self::new();
}

impl<T: Describe> Describe for Answered<T> {
    fn schema() -> Schema {
        T::schema()
    }
}
