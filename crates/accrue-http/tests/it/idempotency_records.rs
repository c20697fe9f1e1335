//! What a key keeps, and for how long (§4.5.4, §4.5.6).

use std::time::Duration;

use accrue::{
    IdempotencyKey, Name,
    idempotency::Fingerprint,
    item::NewItem,
    limits,
    store::{Batch, Document, Store},
};
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    stores::{HookedStore, key_in},
    support::{Answer, Host, event},
};

fn create(host: &Host, key: &str, body: Value) -> Answer {
    host.keyed("POST", "/v1/items", key, body)
}

fn archive(host: &Host, key: &str, item: &str) -> Answer {
    host.keyed("POST", &format!("/v1/items/{item}/archive"), key, ())
}

#[test]
fn an_invalid_body_burns_nothing() {
    let host = Host::new();
    for body in [json!({}), json!({"name": ""}), json!([]), json!(null)] {
        let refused = create(&host, "k", body);
        refused.error(400, "400-request-validation-errors");
        refused.is_fresh();
    }
    host.keyed("POST", "/v1/items", "k", "{").error(400, "400-request-validation-errors");
    let many: serde_json::Map<_, _> = (0..51).map(|n| (n.to_string(), json!("v"))).collect();
    // The engine's own bounds are no business rule either.
    let too_much = create(&host, "k", json!({"name": "Tokens", "metadata": many}));
    too_much.error(400, "400-request-validation-errors");
    create(&host, "k", json!({"name": "Tokens"})).is_fresh().ok(StatusCode::CREATED);
    assert_eq!(host.items(), 1);
}

#[test]
fn an_ingest_that_refuses_an_event_burns_nothing() {
    let host = Host::new();
    let ingest = |events| host.keyed("POST", "/v1/ingest", "k", json!({"events": events}));
    let mut late = event("late");
    late["timestamp"] = json!("2020-01-01T00:00:00Z");
    for _ in 0..2 {
        ingest(json!([event("a"), late])).error(400, "400-request-validation-errors");
    }
    let first = ingest(json!([event("a")]));
    first.is_fresh().ok(StatusCode::OK);
    ingest(json!([event("a")])).replays(&first);
    ingest(json!([event("a"), late])).is_reused();
}

#[test]
fn a_business_error_after_work_began_is_kept() {
    let host = Host::new();
    let item = host.item("Tokens");
    archive(&host, "first", &item).ok(StatusCode::OK);
    let twice = archive(&host, "constraint", &item);
    twice.error(400, "400-constraint-violation");
    archive(&host, "constraint", &item).replays(twice.is_fresh());

    let nowhere = "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    let other = Host::another(HookedStore::new());
    let later = other.item("Later");
    for missing in [nowhere, &later] {
        let first = archive(&host, missing, missing);
        first.error(404, "404-resource-not-found");
        archive(&host, missing, missing).replays(first.is_fresh());
    }
}

/// Creates an item whose document is so large that nothing can be added to it.
fn full_item(host: &Host) -> String {
    let item = host.item("Tokens");
    let fill = |bytes: usize| {
        let connection = |length: usize| json!({"external_connection_name": "stripe", "external_entity_id": "e".repeat(length)});
        let connections: Vec<_> =
            (0..bytes / 500).map(|_| 500).chain([bytes % 500]).filter(|it| *it > 0).collect();
        let connections: Vec<_> = connections.into_iter().map(connection).collect();
        let body = json!({"external_connections": connections});
        host.put(&format!("/v1/items/{item}"), body).status == 200
    };
    let (mut fits, mut too_large) = (1, limits::DOCUMENT_BYTES);
    while too_large - fits > 1 {
        let middle = fits.midpoint(too_large);
        if fill(middle) { fits = middle } else { too_large = middle }
    }
    assert!(fill(fits));
    item
}

#[test]
fn a_resource_that_grows_too_large_is_413_and_kept() {
    let host = Host::new();
    let item = full_item(&host);
    let first = archive(&host, "k", &item);
    first.error(413, "413-resource-too-large");
    archive(&host, "k", &item).replays(first.is_fresh());
    // It is the answer of then: with room for it, another key archives.
    let path = format!("/v1/items/{item}");
    host.put(&path, json!({"external_connections": []})).ok(StatusCode::OK);
    archive(&host, "k", &item).replays(&first);
    archive(&host, "other", &item).is_fresh().ok(StatusCode::OK);
}

#[test]
fn an_answer_beyond_48_kib_is_kept_in_parts() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    let item = host.item("Tokens");
    let connections: Vec<_> = (0..100)
        .map(|_| json!({"external_connection_name": "stripe", "external_entity_id": "\"".repeat(250)}))
        .collect();
    let path = format!("/v1/items/{item}");
    host.put(&path, json!({"external_connections": connections})).ok(StatusCode::OK);
    store.before_commit(|batch| {
        assert!(key_in(batch, "record").is_some() && key_in(batch, "record_part").is_some());
        None
    });
    let first = archive(&host, "k", &item);
    first.is_fresh().ok(StatusCode::OK);
    assert!(first.bytes.len() > limits::ANSWER_PART_BYTES, "{}", first.bytes.len());
    archive(&host, "k", &item).replays(&first);
    // A smaller answer under the same key takes its place, whose parts wait for the garbage collection.
    host.clock.advance(Duration::from_secs(48 * 60 * 60 + 1));
    store.before_commit(|batch| {
        assert!(key_in(batch, "record").is_some() && key_in(batch, "record_part").is_none());
        None
    });
    let second = create(&host, "k", json!({"name": "Small"}));
    second.is_fresh().ok(StatusCode::CREATED);
    create(&host, "k", json!({"name": "Small"})).replays(&second);
}

#[test]
fn an_answer_over_its_bound_is_413_and_nothing_is_committed() {
    let run = |bytes: usize| {
        let host = Host::new();
        let account = host.account();
        let key = IdempotencyKey::parse("k").unwrap();
        let attempt = account.admit(key, Fingerprint::of(["payload"])).unwrap();
        let call = account.create_item(NewItem::new(Name::parse("Tokens").unwrap()));
        let answer = block_on(attempt.run(call, move |_| "a".repeat(bytes)));
        (answer, host.items(), block_on(attempt.look()).unwrap().is_some())
    };
    for bytes in [limits::ANSWER_BYTES - 1, limits::ANSWER_BYTES] {
        let (answer, items, is_kept) = run(bytes);
        assert_eq!((answer.unwrap().outcome.len(), items, is_kept), (bytes, 1, true));
    }
    let (answer, items, is_kept) = run(limits::ANSWER_BYTES + 1);
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), accrue::ErrorKind::ResourceTooLarge);
    assert_eq!((items, is_kept), (0, false));
}

#[test]
fn a_post_that_only_reads_is_computed_again() {
    let host = Host::new();
    let search = |ids| host.keyed("POST", "/v1/events/search", "k", json!({"event_ids": ids}));
    let found = |answer: &Answer| {
        let body = answer.is_fresh().ok(StatusCode::OK);
        body["data"].as_array().unwrap().len()
    };
    assert_eq!(found(&search(["a"])), 0);
    host.post("/v1/ingest", json!({"events": [event("a")]})).ok(StatusCode::OK);
    assert_eq!(found(&search(["a"])), 1);
    assert_eq!(search(["a"]).header("idempotency-key"), Some("k"));
    search(["b"]).is_reused();
    create(&host, "k", json!({"name": "Tokens"})).is_reused();
    // A search that is refused takes no key.
    let refused = host.keyed("POST", "/v1/events/search", "other", json!({"event_ids": []}));
    refused.error(400, "400-request-validation-errors");
    create(&host, "other", json!({"name": "Tokens"})).is_fresh().ok(StatusCode::CREATED);
    host.clock.advance(Duration::from_secs(48 * 60 * 60));
    search(["b"]).is_reused();
    host.clock.advance(Duration::from_micros(1));
    assert_eq!(found(&search(["b"])), 0);
}

#[test]
fn a_key_that_the_library_used_is_409_at_the_door() {
    let host = Host::new();
    let new = NewItem::new(Name::parse("Tokens").unwrap());
    let key = IdempotencyKey::parse("k").unwrap();
    let call = || host.account().create_item(new.clone()).keyed(key.clone());
    block_on(call().into_future()).unwrap();
    create(&host, "k", json!({"name": "Tokens"})).is_reused();
    create(&host, "h", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    let call = host.account().create_item(new).keyed(IdempotencyKey::parse("h").unwrap());
    assert!(block_on(call.into_future()).unwrap_err().is_conflict());
}

#[test]
fn a_record_that_is_corrupt_is_500_and_never_run_again() {
    for (table, document) in [("record", "{}"), ("record", r#"{"v":999}"#), ("record_part", "{}")] {
        let store = HookedStore::new();
        let host = Host::over(store.clone());
        let item = host.item("Tokens");
        let connections: Vec<_> = (0..100)
            .map(|_| json!({"external_connection_name": "stripe", "external_entity_id": "e".repeat(500)}))
            .collect();
        let path = format!("/v1/items/{item}");
        host.put(&path, json!({"external_connections": connections})).ok(StatusCode::OK);
        let (found, keys) = std::sync::mpsc::channel();
        let found = std::sync::Mutex::new(found);
        store.before_commit(move |batch| {
            found.lock().unwrap().send(key_in(batch, table).unwrap()).unwrap();
            None
        });
        archive(&host, "k", &item).ok(StatusCode::OK);
        let spoil = Batch::new().put(keys.recv().unwrap(), Document::parse(document).unwrap());
        block_on(store.inner.commit(spoil)).unwrap();
        for _ in 0..2 {
            archive(&host, "k", &item).failed(None);
        }
        // Other keys are as they were.
        archive(&host, "other", &item).error(400, "400-constraint-violation");
    }
}

#[test]
fn the_answer_of_a_key_is_its_accounts_own() {
    let host = Host::new();
    let first = create(&host, "k", json!({"name": "Tokens"}));
    let neighbour = Host::over(HookedStore::new());
    let other = create(&neighbour, "k", json!({"name": "Other"}));
    other.is_fresh().ok(StatusCode::CREATED);
    create(&host, "k", json!({"name": "Tokens"})).replays(&first);
}

#[test]
fn a_subscription_whose_prices_have_the_most_metadata_is_cancelled_under_a_key() {
    let host = Host::new();
    let item = host.item("Seats");
    let fee = |n: usize| {
        json!({"price": {
            "name": format!("Fee {n}"), "item_id": item, "currency": "USD", "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "1"}, "fixed_price_quantity": 1,
        }})
    };
    let prices: Vec<_> = (0..8).map(fee).collect();
    let plan = host.post("/v1/plans", json!({"name": "Pro", "currency": "USD", "prices": prices}));
    let plan = plan.ok(StatusCode::CREATED);
    let metadata: serde_json::Map<_, _> =
        (0..50).map(|n| (n.to_string(), json!("v".repeat(512)))).collect();
    for price in plan["prices"].as_array().unwrap() {
        let path = format!("/v1/prices/{}", price["id"].as_str().unwrap());
        host.put(&path, json!({"metadata": metadata})).ok(StatusCode::OK);
    }
    let ada = json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
    host.post("/v1/customers", ada).ok(StatusCode::CREATED);
    let new = json!({"external_customer_id": "ada", "plan_id": plan["id"]});
    let pro = host.post("/v1/subscriptions", new).ok(StatusCode::CREATED);
    let path = format!("/v1/subscriptions/{}/cancel", pro["id"].as_str().unwrap());
    let cancel = || host.keyed("POST", &path, "end", json!({"cancel_option": "immediate"}));
    let (first, second) = (cancel(), cancel());
    first.ok(StatusCode::OK);
    assert!(first.bytes.len() > 256 * 1024);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
}
