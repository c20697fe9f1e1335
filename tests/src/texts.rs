//! Any bytes as the text of a value, a query, a cursor, an API key, an event or a stored row, for a fuzzer
//! and for the tests that replay what it found.

use std::{fmt::Display, str::FromStr};

use accrue::{
    AccountId, Currency, Cursor, CustomerId, Decimal, Description, Email, ErrorKind, EventKey,
    EventName, ExternalId, IdempotencyKey, Name, PageRequest, PricingUnit, PropertyName, Timestamp,
    Zone,
    metric::MetricQuery,
    schema::TABLES,
    store::{Document, Key, MemoryStore, Row},
    usage::{Event, Incoming},
};
use accrue_durable::row;
use pollster::block_on;
use serde::Serialize;

use crate::host::Host;

/// An account whose lists and keys are asked for.
#[derive(Debug)]
pub struct Target(Host);

impl Default for Target {
    fn default() -> Self {
        Self(Host::on(MemoryStore::new()))
    }
}

/// Takes a text for a value: what is one is written as what is the same again.
fn check<T: PartialEq + Serialize, E: Display>(text: &str, parse: impl Fn(&str) -> Result<T, E>) {
    match parse(text) {
        Ok(value) => {
            let written = serde_json::to_value(&value).expect("a value is a text");
            let written = written.as_str().expect("a value is a text");
            let again = parse(written)
                .unwrap_or_else(|error| panic!("{text:?} is written as {written:?}: {error}"));
            assert!(again == value, "{text:?} is written as {written:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty(), "{text:?} is refused without a word"),
    }
}

/// Takes a text for an event: what is one is kept as what is read as the same.
fn check_event(text: &str) {
    match Incoming::from_json(text) {
        Incoming::Event(event) => {
            let kept = serde_json::to_string(&event).expect("an event is JSON");
            let again: Event = serde_json::from_str(&kept).expect("it was written");
            assert_eq!(again, event, "{text:?} is kept as {kept:?}");
        }
        Incoming::Malformed { reasons, .. } => {
            assert!(reasons.iter().any(|reason| !reason.is_empty()), "{text:?} has no reason");
        }
        other => panic!("{text:?} is {other:?}"),
    }
}

/// Takes bytes for a key and a row of a durable store: what is one is stored as the same bytes.
fn check_row(bytes: &[u8]) {
    let table = TABLES[0];
    if let Ok(key) = row::decode_key(table, bytes) {
        assert_eq!(row::encode_key(table, key), bytes);
    }
    match row::decode_row(Key::new(table, *b"key"), bytes) {
        Ok(Row { document, version, .. }) => {
            assert_eq!(row::encode_row(version, &document), bytes);
            assert_eq!(row::decode_version(bytes).expect("it has a version"), version);
        }
        Err(error) => assert!(!error.to_string().is_empty(), "{bytes:?} is refused without a word"),
    }
}

impl Target {
    /// Takes bytes for a text of each kind.
    ///
    /// # Panics
    ///
    /// If one is read and not read again from what it is written as, or if a cursor or an API key that
    /// nobody has given out is taken, or is taken for damage of the store.
    pub fn run(&self, bytes: &[u8]) {
        let text = &*String::from_utf8_lossy(bytes);
        check(text, Timestamp::parse);
        check(text, Decimal::parse);
        check(text, Currency::parse);
        check(text, Zone::parse);
        check(text, CustomerId::from_str);
        check(text, MetricQuery::parse);
        check(text, |text| AccountId::parse(text));
        check(text, |text| IdempotencyKey::parse(text));
        check(text, |text| EventKey::parse(text));
        check(text, |text| EventName::parse(text));
        check(text, |text| PropertyName::parse(text));
        check(text, |text| ExternalId::parse(text));
        check(text, |text| PricingUnit::parse(text));
        check(text, |text| Name::parse(text));
        check(text, |text| Description::parse(text));
        check(text, |text| Email::parse(text));
        check_event(text);
        check_row(bytes);
        if let Ok(document) = Document::parse(text) {
            let again = Document::from_stored(document.as_str().as_bytes()).expect("it is a text");
            assert!(again.same_value(&document), "{text:?}");
        }
        let Host { account, billing, .. } = &self.0;
        let page = PageRequest::default().after(Cursor::from_text(text));
        let listed = block_on(account.list_items(&accrue::ListFilter::default(), &page));
        let error = listed.expect_err("nobody has given this cursor out");
        assert_eq!(error.kind(), ErrorKind::RequestValidation, "{text:?}: {error}");
        assert_eq!(block_on(billing.authenticate(text)).expect("a memory"), None, "{text:?}");
    }
}
