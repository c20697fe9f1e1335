//! Values that requests and answers are made of.

use std::{collections::BTreeMap, fmt, marker::PhantomData, str::FromStr};

use accrue::{
    AdjustmentId, AdjustmentIntervalId, AlertId, BackfillId, CouponId, CreditBlockId, CreditNoteId,
    Currency, CustomerId, Decimal, Description, DimensionalPriceGroupId, Email, EventKey,
    EventName, ExternalId, InvoiceId, InvoiceLineId, ItemId, JsonNumber, LicenseId, LicenseTypeId,
    MessageId, Metadata, MetadataUpdate, MetricId, MigrationId, Name, PaymentMethodId, PlanId,
    PriceId, PriceIntervalId, PricingUnit, PropertyName, RedemptionCode, SubscriptionChangeId,
    SubscriptionId, Timestamp, TopUpId, WebhookEndpointId, WrittenDecimal, Zone, limits,
};
use serde::{Serialize, Serializer};

use super::{Describe, Maybe, Read, Reader, Schema, Source, member, texts};
use crate::json::Json;

const NO_CONTROL_CHARACTERS: &str = r"^[^\x00-\x1f\x7f-\x9f]+$";

texts! {
    Name: 1, limits::NAME_CHARACTERS;
    Description: 1, limits::DESCRIPTION_CHARACTERS;
    Email: 3, limits::EMAIL_CHARACTERS, r"^[^@\s\x00-\x1f\x7f-\x9f]+@[^@\s\x00-\x1f\x7f-\x9f]+$";
    ExternalId: 1, limits::EXTERNAL_ID_BYTES, NO_CONTROL_CHARACTERS;
    RedemptionCode: 1, limits::REDEMPTION_CODE_BYTES, NO_CONTROL_CHARACTERS;
    PricingUnit: 1, limits::PRICING_UNIT_CHARACTERS, NO_CONTROL_CHARACTERS;
    EventKey: 1, limits::EVENT_KEY_BYTES, NO_CONTROL_CHARACTERS;
    EventName: 1, limits::EVENT_NAME_BYTES;
    PropertyName: 1, limits::PROPERTY_NAME_BYTES;
    Currency: 3, 3, "^[A-Z]{3}$" => "expected the code of an ISO 4217 currency";
    Zone: 1, 64 => "expected the name of an IANA time zone";
}

/// What something is, in words. An empty text says nothing.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Option<Description>);

impl Read for Words {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(text) if text.is_empty() => Some(Self(None)),
            text => Description::read(text, at, reader).map(|words| Self(Some(words))),
        }
    }
}

impl Describe for Words {
    fn schema() -> Schema {
        Schema::text(0, limits::DESCRIPTION_CHARACTERS)
    }
}

/// Any text.
impl Read for String {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(text) => Some(text.clone()),
            other => reader.unexpected(other, at, "a string"),
        }
    }
}

impl Describe for String {
    fn schema() -> Schema {
        Schema::String { least: 0, most: None, format: None, pattern: None }
    }
}

impl Describe for &'static str {
    fn schema() -> Schema {
        String::schema()
    }
}

impl Read for bool {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match (json, reader.source) {
            (Json::Boolean(value), _) => Some(*value),
            (Json::String(text), Source::Query) if text == "true" => Some(true),
            (Json::String(text), Source::Query) if text == "false" => Some(false),
            (_, Source::Query) => reader.wrong(at, "expected true or false"),
            (other, Source::Body) => reader.unexpected(other, at, "a boolean"),
        }
    }
}

impl Describe for bool {
    fn schema() -> Schema {
        Schema::Boolean
    }
}

/// A whole number within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Whole<const LEAST: i64, const MOST: i64>(pub(crate) i64);

impl<const LEAST: i64, const MOST: i64> Read for Whole<LEAST, MOST> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = match (json, reader.source) {
            (Json::Number(text), _) | (Json::String(text), Source::Query) => text,
            (other, _) => return reader.unexpected(other, at, "a whole number"),
        };
        // 1.0 and 1e0 are whole numbers of JSON too. A sign of plus is none of its.
        let number = Decimal::parse(text).ok().filter(|_| !text.starts_with('+'));
        match number.and_then(|number| number.to_string().parse::<i64>().ok()) {
            Some(number) if (LEAST..=MOST).contains(&number) => Some(Self(number)),
            _ => reader.wrong(at, format!("expected a whole number from {LEAST} to {MOST}")),
        }
    }
}

impl<const LEAST: i64, const MOST: i64> Describe for Whole<LEAST, MOST> {
    fn schema() -> Schema {
        Schema::Integer { least: LEAST, most: MOST }
    }
}

impl<const LEAST: i64, const MOST: i64> Whole<LEAST, MOST> {
    pub(crate) fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    pub(crate) fn count(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl Describe for u64 {
    fn schema() -> Schema {
        Schema::Integer { least: 0, most: i64::MAX }
    }
}

impl Describe for u32 {
    fn schema() -> Schema {
        Schema::Integer { least: 0, most: i64::from(u32::MAX) }
    }
}

/// A number of JSON, exact.
impl Read for JsonNumber {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = match (json, reader.source) {
            (Json::Number(text), _) | (Json::String(text), Source::Query) => text,
            (other, _) => return reader.unexpected(other, at, "a number"),
        };
        match Decimal::parse(text) {
            Ok(number) => Some(Self(number)),
            Err(error) => reader.wrong(at, error.to_string()),
        }
    }
}

impl Describe for JsonNumber {
    fn schema() -> Schema {
        Schema::Number
    }
}

/// An amount as a number, or in a string as elsewhere (subscriptions 2.1).
#[derive(Clone, Debug)]
pub(crate) struct LooseAmount(pub(crate) Decimal);

impl Read for LooseAmount {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(_) => Decimal::read(json, at, reader).map(Self),
            json => JsonNumber::read(json, at, reader).map(|JsonNumber(number)| Self(number)),
        }
    }
}

impl Describe for LooseAmount {
    fn schema() -> Schema {
        Schema::AnyOf(vec![JsonNumber::schema(), Decimal::schema()])
    }
}

/// A number in a string, as the wire has amounts (wire 6.4).
impl Read for Decimal {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        reader.parse(json, at, "a number in a string", Self::parse)
    }
}

impl Describe for Decimal {
    fn schema() -> Schema {
        Schema::Decimal
    }
}

/// A number in a string that comes back as it was written.
impl Read for WrittenDecimal {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        reader.parse(json, at, "a number in a string", Self::parse)
    }
}

impl Describe for WrittenDecimal {
    fn schema() -> Schema {
        Schema::Decimal
    }
}

/// A member of an answer that is left out where it has no value.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Sparse<T>(pub(crate) Option<T>);

impl<T: Describe> Describe for Sparse<T> {
    const IS_SPARSE: bool = true;

    fn schema() -> Schema {
        T::schema()
    }

    fn is_left_out(&self) -> bool {
        self.0.is_none()
    }
}

/// A word that the engine wrote: one of those of a type.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Word<T>(&'static str, PhantomData<T>);

impl<T> Word<T> {
    pub(crate) const fn of(word: &'static str) -> Self {
        Self(word, PhantomData)
    }
}

impl<T: Describe> Describe for Word<T> {
    fn schema() -> Schema {
        T::schema()
    }
}

/// A member that the wire has and that is always null.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Nothing;

impl Describe for Nothing {
    fn schema() -> Schema {
        Schema::Null
    }
}

/// A list that the wire has and that is always empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoRows;

impl Serialize for NoRows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq([(); 0])
    }
}

impl Describe for NoRows {
    fn schema() -> Schema {
        Schema::Array { items: Box::new(Schema::Any), most: Some(0) }
    }
}

/// An instant: with an offset on the way out (wire 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl Read for Moment {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        reader.parse(json, at, "a string with a date and a time", Timestamp::parse).map(Self)
    }
}

impl Describe for Moment {
    fn schema() -> Schema {
        Schema::formatted("date-time")
    }
}

impl From<Timestamp> for Moment {
    fn from(instant: Timestamp) -> Self {
        Self(instant)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(text.strip_suffix('Z').unwrap_or(&text))?;
        f.write_str("+00:00")
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The id of a resource. A text that is none names no resource: it is not found.
macro_rules! ids {
    ($($type:ty: $what:literal,)*) => {$(
        impl Read for $type {
            fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
                let Json::String(text) = json else {
                    return reader.unexpected(json, at, "a string");
                };
                Self::from_str(text).ok().or_else(|| reader.unknown($what))
            }
        }

        impl Describe for $type {
            fn schema() -> Schema {
                String::schema()
            }
        }
    )*};
}

ids! {
    AdjustmentId: "adjustment",
    AdjustmentIntervalId: "adjustment interval",
    AlertId: "alert",
    BackfillId: "backfill",
    CouponId: "coupon",
    CreditBlockId: "credit block",
    CreditNoteId: "credit note",

    CustomerId: "customer",
    InvoiceId: "invoice",
    InvoiceLineId: "invoice line item",
    ItemId: "item",
    LicenseId: "license",
    LicenseTypeId: "license type",
    MessageId: "webhook event",
    DimensionalPriceGroupId: "dimensional price group",
    MetricId: "metric",
    MigrationId: "migration",
    PaymentMethodId: "payment method",
    PlanId: "plan",
    PriceId: "price",
    PriceIntervalId: "price interval",
    SubscriptionId: "subscription",
    SubscriptionChangeId: "subscription change",
    TopUpId: "top-up",
    WebhookEndpointId: "webhook endpoint",
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::Object(members) = json else {
            return reader.unexpected(json, at, "an object");
        };
        let mut read = Self::new();
        let mut is_whole = true;
        for (name, value) in members {
            match T::read(value, &member(at, name), reader) {
                Some(value) => drop(read.insert(name.clone(), value)),
                None => is_whole = false,
            }
        }
        is_whole.then_some(read)
    }
}

impl<T: Describe> Describe for BTreeMap<String, T> {
    fn schema() -> Schema {
        Schema::Map(Box::new(T::schema()))
    }
}

/// Metadata as a request has it: a key without a value is one to remove (wire 2.3).
pub(crate) type MetadataIn = Maybe<MetadataEntries>;

/// Its entries. How large they may be is for the engine to judge.
#[derive(Clone, Debug)]
pub(crate) struct MetadataEntries(BTreeMap<String, Option<String>>);

impl Read for MetadataEntries {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        BTreeMap::read(json, at, reader).map(Self)
    }
}

impl Describe for MetadataEntries {
    fn schema() -> Schema {
        Schema::Entries {
            values: Box::new(Schema::Nullable(Box::new(Schema::text(
                0,
                limits::METADATA_VALUE_BYTES,
            )))),
            name_characters: limits::METADATA_KEY_BYTES,
            most: limits::METADATA_ENTRIES,
        }
    }
}

/// Returns the metadata of a new resource.
pub(crate) fn new_metadata(metadata: MetadataIn) -> Metadata {
    match metadata {
        Maybe::Absent | Maybe::Null => Metadata::new(),
        Maybe::Value(MetadataEntries(entries)) => {
            entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
        }
    }
}

/// Returns what an update does to metadata.
pub(crate) fn metadata_update(metadata: MetadataIn) -> MetadataUpdate {
    match metadata {
        Maybe::Absent => MetadataUpdate::Keep,
        Maybe::Null => MetadataUpdate::Clear,
        Maybe::Value(MetadataEntries(entries)) => MetadataUpdate::Merge(entries),
    }
}
