//! The fields of a customer that are stored as an answer has them, and given back.

use std::marker::PhantomData;

use accrue::{Carried, Email, Name};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{
    json::Json,
    problem::Problem,
    shape::{Describe, Maybe, Read, Reader, Schema, choices, request, response},
};

request! {
    /// An address.
    pub(crate) struct AddressIn open {
        /// The first line.
        line1: Option<String>,
        /// The second line.
        line2: Option<String>,
        /// The city.
        city: Option<String>,
        /// The state.
        state: Option<String>,
        /// The postal code.
        postal_code: Option<String>,
        /// The country.
        country: Option<String>,
    }

    /// What a tax authority calls a customer.
    pub(crate) struct TaxIdIn {
        /// Whose authority.
        country: Name,
        /// What kind of identifier.
        "type" kind: Name,
        /// The identifier.
        value: Name,
    }

    /// How taxes are computed.
    pub(crate) struct TaxConfigurationIn {
        /// By whom.
        tax_provider: TaxProvider,
        /// Whether none is to be computed.
        tax_exempt: bool,
        /// Whether it is to be computed.
        automatic_tax_enabled: Option<bool>,
        /// Why none is to be computed.
        tax_exemption_code: Option<String>,
    }

    /// Where the books of a customer are kept.
    pub(crate) struct AccountingSyncConfigurationIn {
        /// With whom.
        accounting_providers: Option<Vec<AccountingProviderIn>>,
        /// Whether they are not to be kept.
        excluded: Option<bool>,
    }

    /// With whom books are kept.
    pub(crate) struct AccountingProviderIn {
        /// With whom.
        provider_type: AccountingSystem,
        /// What the customer is called there.
        external_provider_id: Name,
    }

    /// How a customer pays.
    pub(crate) struct PaymentConfigurationIn {
        /// Through whom.
        payment_providers: Option<Vec<PaymentProviderIn>>,
    }

    /// Through whom a customer pays.
    pub(crate) struct PaymentProviderIn {
        /// Through whom.
        provider_type: PaymentSystem,
        /// What it pays with there.
        default_shared_payment_token: Option<String>,
        /// What it does not pay with there.
        excluded_payment_method_types: Option<Vec<String>>,
    }

    /// Whether a customer counts in reports.
    pub(crate) struct ReportingConfigurationIn {
        /// Whether it does not.
        exempt: bool,
    }
}

response! {
    /// An address.
    pub(crate) struct Address {
        /// The first line.
        line1: Option<String>,
        /// The second line.
        line2: Option<String>,
        /// The city.
        city: Option<String>,
        /// The state.
        state: Option<String>,
        /// The postal code.
        postal_code: Option<String>,
        /// The country.
        country: Option<String>,
    }

    /// What a tax authority calls a customer.
    pub(crate) struct TaxId {
        /// Whose authority.
        country: Name,
        /// What kind of identifier.
        "type" kind: Name,
        /// The identifier.
        value: Name,
    }

    /// How taxes are computed. No answer has all of it.
    struct TaxConfiguration {
        /// By whom.
        tax_provider: TaxProvider,
        /// Whether none is to be computed.
        tax_exempt: bool,
        /// Whether it is to be computed.
        automatic_tax_enabled: Option<bool>,
        /// Why none is to be computed.
        tax_exemption_code: Option<String>,
    }

    /// Where the books of a customer are kept.
    pub(crate) struct AccountingSyncConfiguration {
        /// With whom.
        accounting_providers: Vec<AccountingProvider>,
        /// Whether they are not to be kept.
        excluded: bool,
    }

    /// With whom books are kept.
    pub(crate) struct AccountingProvider {
        /// With whom.
        provider_type: AccountingSystem,
        /// What the customer is called there.
        external_provider_id: Name,
    }

    /// How a customer pays.
    pub(crate) struct PaymentConfiguration {
        /// Through whom.
        payment_providers: Vec<PaymentThrough>,
    }

    /// Through whom a customer pays.
    pub(crate) struct PaymentThrough {
        /// Through whom.
        provider_type: PaymentSystem,
        /// What it pays with there.
        default_shared_payment_token: Option<String>,
        /// What it does not pay with there.
        excluded_payment_method_types: Vec<String>,
    }

    /// Whether a customer counts in reports.
    pub(crate) struct ReportingConfiguration {
        /// Whether it does not.
        exempt: bool,
    }
}

/// Who computes taxes.
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

/// Who keeps books.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountingSystem {
    Quickbooks,
    Netsuite,
}

/// Who takes payments.
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
    /// Returns the JSON text that is stored of it; `None` where nothing was said of it.
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

/// What is stored of a field: what an answer has.
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
