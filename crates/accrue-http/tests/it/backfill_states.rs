//! What becomes of backfills: they are closed, reflected and reverted.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    backfills::{PATH, create, hour, ingest_path, path, tick},
    subscriptions::{self, Shop, customer},
    support::{Body, Host, event},
};

/// What a subscription uses, and what that costs with its fees.
fn figures(shop: &Shop, subscription: &Value) -> (Value, Value) {
    let get = |of: &str| {
        let path = subscriptions::path(subscription, of);
        shop.host.get(&path).ok(StatusCode::OK)
    };
    let (usage, costs) = (get("/usage"), get("/costs?view_mode=cumulative"));
    let last = costs["data"].as_array().unwrap().last().unwrap()["total"].clone();
    (usage["data"][0]["usage"][0]["quantity"].clone(), last)
}

/// The messages about backfills: their types, and the backfill.
fn told(host: &Host) -> Vec<(&'static str, String)> {
    let page = accrue::PageRequest::first_of_messages(100).unwrap();
    let messages = pollster::block_on(host.account().list_messages(&page)).unwrap().data;
    let of = messages.iter().filter_map(|message| {
        Some((message.message_type(), message.body.backfill_id()?.to_string()))
    });
    of.collect()
}

/// Ada's event at half past noon of the 10th of March.
fn late(key: &str, tokens: u64) -> Value {
    json!({
        "idempotency_key": key,
        "event_name": "completion",
        "timestamp": "2026-03-10T12:30:00Z",
        "external_customer_id": "ada",
        "properties": {"tokens": tokens, "model": "small"},
    })
}

#[test]
fn wire_3_3_what_is_ingested_into_a_backfill_counts_once_it_is_reflected() {
    let shop = Shop::new();
    let host = &shop.host;
    let align = json!({"align_billing_with_subscription_start_date": true});
    let subscription = shop.subscribe(align);
    shop.use_tokens("was there", 4, "small");
    // Two days later, when it is too late for an event outside of a backfill.
    shop.now("2026-03-12T12:00:00Z");
    let before = figures(&shop, &subscription);
    assert_eq!(before, (json!(4), json!("22.00")));
    let batch = json!({"events": [late("a", 10), late("b", 20)]});
    host.post("/v1/ingest", batch.clone()).error(400, "400-request-validation-errors");

    let backfill = create(host, hour(12));
    for _ in 0..2 {
        let ingested = host.post(&ingest_path(&backfill), batch.clone()).ok(StatusCode::OK);
        assert_eq!(ingested, json!({"validation_failed": []}));
    }
    let mut expected = backfill.clone();
    expected["events_ingested"] = json!(2);
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK), expected);
    assert_eq!(figures(&shop, &subscription), before);

    shop.now("2026-03-12T13:00:00Z");
    let closed = host.post(&path(&backfill, "/close"), ()).ok(StatusCode::OK);
    expected["close_time"] = json!("2026-03-12T13:00:00.000000+00:00");
    assert_eq!(closed, expected);
    tick(host);
    expected["status"] = json!("reflected");
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK), expected);
    assert_eq!(figures(&shop, &subscription), (json!(30), json!("35.00")));
    let id = backfill["id"].as_str().unwrap().to_owned();
    assert_eq!(told(host), [("backfill.reflected", id.clone())]);
    let search = json!({"event_ids": ["was there"], "timeframe_start": "2026-03-10T00:00:00Z"});
    let found = |host: &Host| {
        let found = host.post("/v1/events/search", search.clone()).ok(StatusCode::OK);
        found["data"][0]["deprecated"].clone()
    };
    assert_eq!(found(host), true);

    shop.now("2026-03-12T14:00:00Z");
    let reverted = host.post(&path(&backfill, "/revert"), ()).ok(StatusCode::OK);
    expected["status"] = json!("pending_revert");
    expected["reverted_at"] = json!("2026-03-12T14:00:00.000000+00:00");
    assert_eq!(reverted, expected);
    tick(host);
    expected["status"] = json!("reverted");
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK), expected);
    assert_eq!(figures(&shop, &subscription), before);
    assert_eq!(told(host), [("backfill.reflected", id.clone()), ("backfill.reverted", id)]);
    assert_eq!(found(host), false);
}

#[test]
fn wire_3_3_a_backfill_closes_by_itself() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    shop.now("2026-03-12T12:00:00Z");
    let mut new = hour(12);
    new["external_customer_id"] = json!("ada");
    let backfill = create(&shop.host, new);
    let batch = json!({"events": [late("a", 10)]});
    shop.host.post(&ingest_path(&backfill), batch).ok(StatusCode::OK);
    shop.now("2026-03-13T12:00:00Z");
    tick(&shop.host);
    let mut expected = backfill.clone();
    expected["events_ingested"] = json!(1);
    expected["status"] = json!("reflected");
    expected["close_time"] = json!("2026-03-13T12:00:00.000000+00:00");
    assert_eq!(shop.host.get(&path(&backfill, "")).ok(StatusCode::OK), expected);
    assert_eq!(figures(&shop, &subscription).0, 10);
}

#[test]
fn wire_3_3_a_backfill_that_is_reverted_before_it_closes_never_counts() {
    let shop = Shop::new();
    let host = &shop.host;
    let subscription = shop.subscribe(json!({}));
    shop.now("2026-03-12T12:00:00Z");
    let backfill = create(host, hour(12));
    let batch = json!({"events": [late("a", 10)]});
    host.post(&ingest_path(&backfill), batch.clone()).ok(StatusCode::OK);
    let reverted = host.post(&path(&backfill, "/revert"), ()).ok(StatusCode::OK);
    let mut expected = backfill.clone();
    expected["events_ingested"] = json!(1);
    expected["status"] = json!("reverted");
    expected["close_time"] = Value::Null;
    expected["reverted_at"] = json!("2026-03-12T12:00:00.000000+00:00");
    assert_eq!(reverted, expected);
    tick(host);
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK), expected);
    assert_eq!(figures(&shop, &subscription).0, 0);
    assert_eq!(told(host), []);
    for rest in ["/close", "/revert"] {
        host.post(&path(&backfill, rest), ()).error(400, "400-constraint-violation");
    }
    host.post(&ingest_path(&backfill), batch).error(400, "400-constraint-violation");
}

#[test]
fn wire_3_3_a_backfill_is_closed_once_and_takes_no_events_then() {
    let host = Host::new();
    let backfill = create(&host, hour(11));
    host.post(&path(&backfill, "/close"), json!({"close_time": null}))
        .error(400, "400-request-validation-errors");
    host.post(&path(&backfill, "/close"), json!({})).ok(StatusCode::OK);
    host.post(&path(&backfill, "/close"), ()).error(400, "400-constraint-violation");
    let batch = json!({"events": [event("a")]});
    host.post(&ingest_path(&backfill), batch.clone()).error(400, "400-constraint-violation");
    tick(&host);
    host.post(&path(&backfill, "/close"), ()).error(400, "400-constraint-violation");
    host.post(&ingest_path(&backfill), batch).error(400, "400-constraint-violation");
    host.post(&path(&backfill, "/revert"), json!({"at": 1}))
        .error(400, "400-request-validation-errors");
    host.post(&path(&backfill, "/revert"), json!({})).ok(StatusCode::OK);
    host.post(&path(&backfill, "/revert"), ()).error(400, "400-constraint-violation");
}

#[test]
fn wire_3_4_an_event_that_a_backfill_refuses_is_named() {
    let host = Host::new();
    customer(&host, "ada");
    let mut new = hour(11);
    new["external_customer_id"] = json!("ada");
    let backfill = create(&host, new);
    let mut other = event("of another");
    other["external_customer_id"] = json!("bob");
    let mut outside = event("outside");
    outside["timestamp"] = json!("2026-03-10T10:59:59Z");
    let batch = json!({"events": [event("good"), other, outside, {"idempotency_key": "bare"}]});
    let body =
        host.post(&ingest_path(&backfill), batch).error(400, "400-request-validation-errors");
    let failed = body["validation_failed"].as_array().unwrap();
    let keys: Vec<_> = failed.iter().map(|event| &event["idempotency_key"]).collect();
    assert_eq!(keys, ["of another", "outside", "bare"]);
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK)["events_ingested"], 0);
    host.post(&ingest_path(&backfill), json!({"events": [event("good")]})).ok(StatusCode::OK);
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK)["events_ingested"], 1);
}

#[test]
fn s4_5_6_what_is_done_with_a_backfill_is_replayed_byte_for_byte() {
    let host = Host::new();
    let send = |path: &str, key: &str, body: fn() -> Body| host.keyed("POST", path, key, body());
    let twice = |path: &str, key: &str, body: fn() -> Body| {
        let first = send(path, key, body);
        let answer = first.is_fresh().ok(StatusCode::OK);
        tick(&host);
        send(path, key, body).replays(&first);
        answer
    };
    let backfill = twice(PATH, "create", || hour(11).into());
    assert_eq!(host.walk(PATH), std::slice::from_ref(&backfill));
    twice(&ingest_path(&backfill), "ingest", || json!({"events": [event("a")]}).into());
    // What it was ingested into is of the payload.
    let batch = json!({"events": [event("a")]});
    host.keyed("POST", "/v1/ingest", "ingest", batch).is_reused();
    let closed = twice(&path(&backfill, "/close"), "close", || ().into());
    assert_eq!((&closed["status"], &closed["events_ingested"]), (&json!("pending"), &json!(1)));
    let reverted = twice(&path(&backfill, "/revert"), "revert", || ().into());
    assert_eq!(reverted["status"], "pending_revert");
    assert_eq!(host.get(&path(&backfill, "")).ok(StatusCode::OK)["status"], "reverted");
    host.keyed("POST", &path(&backfill, "/close"), "revert", ()).is_reused();
}

#[test]
fn s4_5_5_a_refusal_that_an_operation_came_to_is_replayed() {
    let host = Host::new();
    create(&host, hour(11));
    let send = || host.keyed("POST", PATH, "k", hour(11));
    let first = send();
    first.is_fresh().error(400, "400-constraint-violation");
    send().replays(&first);
}
