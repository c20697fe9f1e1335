//! Usage events.

use std::collections::BTreeMap;

use orb_billing::{
    AmendEventRequest, Customer, CustomerId, Event, EventPropertyValue, EventSearchParams,
    IngestEventRequest, IngestionMode,
};
use serde_json::{json, Value};
use time::OffsetDateTime;

use crate::fixtures::{all, client, customer, now, post, unique};

/// The properties of an event.
pub(crate) fn properties(amount: u64, region: &str) -> BTreeMap<String, EventPropertyValue> {
    [
        ("amount".to_owned(), EventPropertyValue::Number(amount.into())),
        ("region".to_owned(), EventPropertyValue::String(region.to_owned())),
        ("cached".to_owned(), EventPropertyValue::Bool(true)),
    ]
    .into()
}

/// Sends an event of a customer, and returns its key.
pub(crate) async fn ingest(
    of: CustomerId<'_>,
    amount: u64,
    region: &str,
    at: OffsetDateTime,
) -> String {
    let key = unique("event/a b");
    let event = IngestEventRequest {
        idempotency_key: &key,
        customer_id: of,
        event_name: "usage",
        properties: &properties(amount, region),
        timestamp: at,
    };
    client().ingest_events(IngestionMode::Production, &[event]).await.unwrap();
    key
}

/// Finds an event.
async fn find(key: &str) -> Vec<Event> {
    let keys = [key];
    let params = EventSearchParams::DEFAULT.event_ids(&keys);
    all(client().search_events(&params)).await
}

fn expected(key: &str, of: &Customer, amount: u64, at: OffsetDateTime) -> Event {
    Event {
        id: key.to_owned(),
        customer_id: of.id.clone(),
        external_customer_id: of.external_id.clone(),
        event_name: "usage".to_owned(),
        properties: properties(amount, "eu"),
        timestamp: at,
    }
}

pub(crate) async fn they_are_ingested_in_both_modes() {
    let (customer, at) = (customer().await, now(0));
    let external = customer.external_id.clone().unwrap();
    for of in [CustomerId::Orb(&customer.id), CustomerId::External(&external)] {
        for mode in [IngestionMode::Production, IngestionMode::Debug] {
            let key = unique("event/a b");
            let event = IngestEventRequest {
                idempotency_key: &key,
                customer_id: of.clone(),
                event_name: "usage",
                properties: &properties(5, "eu"),
                timestamp: at,
            };
            for _ in 0..2 {
                let answer = client().ingest_events(mode, &[event.clone()]).await.unwrap();
                // There is nothing to debug since July 2026 (wire 3.4).
                assert_eq!(answer.debug, None);
            }
            assert_eq!(find(&key).await, [expected(&key, &customer, 5, at)], "once");
        }
    }
}

pub(crate) async fn they_are_searched_in_a_timeframe() {
    let (customer, at) = (customer().await, now(0));
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(ingest(CustomerId::Orb(&customer.id), 5, "eu", at).await);
    }
    let keys: Vec<_> = keys.iter().map(|key| &**key).collect();
    let found = |start, end| {
        let params = EventSearchParams::DEFAULT.page_size(2).event_ids(&keys);
        let params = params.timeframe_start(start).timeframe_end(end);
        async move { all(client().search_events(&params)).await.len() }
    };
    assert_eq!(found(now(-1), now(1)).await, 3);
    assert_eq!(found(now(-2), now(-1)).await, 0);
    assert_eq!(find("nothing").await, []);
}

/// Reads whether an event no longer counts, which the client does not show.
async fn is_deprecated(key: &str) -> Value {
    post("/events/search", json!({"event_ids": [key]})).await["data"][0]["deprecated"].clone()
}

pub(crate) async fn one_is_amended_and_deprecated() {
    let (client, customer, at) = (client(), customer().await, now(0));
    let key = ingest(CustomerId::Orb(&customer.id), 5, "eu", at).await;
    let change = AmendEventRequest {
        customer_id: CustomerId::Orb(&customer.id),
        event_name: "usage",
        properties: &properties(7, "eu"),
        timestamp: at,
    };
    client.amend_event(&key, &change).await.unwrap();
    assert_eq!(find(&key).await, [expected(&key, &customer, 7, at)]);
    assert_eq!(is_deprecated(&key).await, false);
    client.deprecate_event(&key).await.unwrap();
    assert_eq!(find(&key).await, [expected(&key, &customer, 7, at)]);
    assert_eq!(is_deprecated(&key).await, true);
}
