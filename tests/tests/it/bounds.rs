//! What must fit one commit fits, and what is refused changes nothing.

use std::time::Duration;

use accrue::{
    Clock as _, CustomerId, Decimal, ErrorKind, EventKey, IdOr, IdempotencyKey, Name,
    alert::{NewAlert, Thresholds},
    metric::MetricQuery,
    store::MemoryStore,
    subscription::NewSubscription,
    usage::{Event, Incoming, PropertyValue},
};
use accrue_tests::{
    host::{Host, customer, event, key, number, thresholds},
    stores::dump,
};
use pollster::block_on;

const QUARTER: u64 = 15 * 60;

/// A thousand events of one customer, over many quarters, each with values of its own.
fn thousand(host: &Host, customer: impl Fn(u64) -> String) -> Vec<Event> {
    let now = host.clock.now();
    let event = |n: u64| {
        let at = now.saturating_sub(Duration::from_secs(n % 95 * QUARTER));
        let properties: Vec<(&str, PropertyValue)> =
            ["a", "b", "c", "d", "e"].map(|name| (name, PropertyValue::from(n))).to_vec();
        event(&customer(n), &format!("{n:0>256}"), at, &properties)
    };
    (0..1_000).map(event).collect()
}

fn metrics(host: &Host, plain: usize, distinct: usize) {
    let names = ["a", "b", "c", "d", "e"];
    for index in 0..distinct {
        let _ = host.metric(&format!("SELECT count(DISTINCT {}) FROM events", names[index % 5]));
    }
    for index in 0..plain {
        let function = ["sum", "min", "max", "latest"][index % 4];
        let _ = host.metric(&format!("SELECT {function}({}) FROM events", names[index % 5]));
    }
}

#[test]
fn a_thousand_events_of_a_customer_with_200_subscriptions_and_20_metrics_fit() {
    let host = Host::on(MemoryStore::new());
    metrics(&host, 15, 5);
    let plan = host.plan().id;
    let count = host.metric("SELECT count(*) FROM events").id;
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        let new = NewAlert::usage_exceeded(count, thresholds(&["10", "1000"]));
        host.account.create_plan_alert(plan, new).await.unwrap();
        let mut last = None;
        for n in 0..200 {
            let mut new = NewSubscription::new(ada, plan);
            let before = Duration::from_secs(n * 17 * 60);
            new.start_date = Some(host.clock.now().saturating_sub(before));
            // Some live for minutes, so that sightings cannot tell.
            new.end_date = (n % 3 == 0).then(|| host.clock.now());
            let new = if n == 0 { NewSubscription::new(ada, plan) } else { new };
            last = Some(host.account.create_subscription(new).await.unwrap().id);
        }
        let ingested = host.account.ingest(thousand(&host, |_| "ada".to_owned())).await.unwrap();
        assert_eq!(ingested.ingested, 1_000);
        let usage = host.account.subscription_usage(last.unwrap()).await.unwrap();
        for metric in usage.metrics {
            let between = host.account.usage_between(ada, metric.metric_id, usage.timeframe);
            assert_eq!(metric.quantity, between.await.unwrap());
        }
    });
}

#[test]
fn a_thousand_events_of_a_thousand_customers_fit() {
    let host = Host::on(MemoryStore::new());
    metrics(&host, 5, 5);
    let plan = host.plan().id;
    let count = host.metric("SELECT count(*) FROM events").id;
    block_on(async {
        for n in 0..1_000 {
            let id = host.account.create_customer(customer(&format!("c{n}"))).await.unwrap().id;
            for _ in 0..2 {
                host.account.create_subscription(NewSubscription::new(id, plan)).await.unwrap();
            }
        }
        // Nobody has applied these when the batch comes.
        let new = NewAlert::usage_exceeded(count, thresholds(&["1", "2"]));
        host.account.create_plan_alert(plan, new).await.unwrap();
        let now = host.clock.now();
        let properties = ["a", "b", "c", "d", "e"].map(|name| (name, PropertyValue::from(7)));
        let events =
            (0..1_000).map(|n| event(&format!("c{n}"), &format!("{n:0>256}"), now, &properties));
        assert_eq!(host.account.ingest(events).await.unwrap().ingested, 1_000);
        let exceeded = host.drain().into_iter();
        let exceeded = exceeded.filter(|message| message.message_type().ends_with("exceeded"));
        assert_eq!(exceeded.count(), 2_000);
    });
}

/// §6: the state of alerts is per alert and threshold; all that the bounds allow must fit, or one
/// event that crosses them is refused forever.
#[test]
fn every_threshold_of_every_alert_of_a_subscription_can_fire() {
    let host = Host::on(MemoryStore::new());
    let plan = host.plan().id;
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        let new = NewSubscription::new(ada, plan);
        let subscription = host.account.create_subscription(new).await.unwrap().id;
        for _ in 0..100 {
            let metric = host.metric("SELECT sum(a) FROM events").id;
            let values = (0..100).map(|n| number(&format!("1.{n:0>26}1")));
            let new = NewAlert::usage_exceeded(metric, Thresholds::new(values).unwrap());
            host.account.create_subscription_alert(subscription, new).await.unwrap();
        }
        let event = event("ada", "k", host.clock.now(), &[("a", 2.into())]);
        assert_eq!(host.account.ingest([event]).await.unwrap().ingested, 1);
    });
}

/// §5: a key has 1 to 256 bytes, whichever they are, and an account 100 metrics: a period's total,
/// with the key of each metric's latest event, must fit, or the event is refused forever.
#[test]
fn the_latest_event_of_every_metric_can_have_the_longest_key() {
    let host = Host::on(MemoryStore::new());
    let plan = host.plan().id;
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        host.account.create_subscription(NewSubscription::new(ada, plan)).await.unwrap();
        for _ in 0..100 {
            let _ = host.metric("SELECT latest(a) FROM events");
        }
        let digits = PropertyValue::from(number("12345678901234.56789012345678"));
        let event = event("ada", &"\"".repeat(256), host.clock.now(), &[("a", digits)]);
        assert_eq!(host.account.ingest([event]).await.unwrap().ingested, 1);
    });
}

/// Refuses a batch, and says which events of it were refused, and why.
fn refused(host: &Host, batch: Vec<Incoming>) -> Vec<(usize, Option<String>, String)> {
    let before = dump(&*host.store);
    let call = host.account.ingest(batch.clone());
    let error = block_on(call.into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation);
    assert!(!error.can_be_retried());
    let keyed = block_on(host.account.ingest(batch).keyed(key("k")).into_future()).unwrap_err();
    assert_eq!(keyed.kind(), ErrorKind::RequestValidation);
    assert_eq!(dump(&*host.store), before, "a refused batch changed something");
    let events = error.refused_events().iter();
    events
        .map(|event| (event.index, event.idempotency_key.clone(), event.reasons.join("; ")))
        .collect()
}

fn host() -> Host {
    let host = Host::on(MemoryStore::new());
    metrics(&host, 4, 1);
    let plan = host.plan().id;
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        host.account.create_subscription(NewSubscription::new(ada, plan)).await.unwrap();
        let known = event("ada", "known", host.clock.now(), &[("a", 1.into())]);
        host.account.ingest([known]).await.unwrap();
    });
    host
}

#[test]
fn every_bad_event_is_named_by_index_key_and_reason() {
    let host = host();
    let now = host.clock.now();
    let good = |key: &str| Incoming::from(event("ada", key, now, &[("a", 1.into())]));
    let json = |properties: &str, key: &str| {
        Incoming::from_json(&format!(
            r#"{{"event_name": "call", "timestamp": "{now}", "properties": {properties},
                "idempotency_key": "{key}", "external_customer_id": "ada"}}"#
        ))
    };
    let unknown: CustomerId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let mut stranger = event("ada", "stranger", now, &[]);
    stranger.customer = IdOr::Id(unknown);
    let late = now.saturating_sub(Duration::from_secs(86_400) + Duration::from_micros(1));
    let early = now.saturating_add(Duration::from_secs(300) + Duration::from_micros(1));
    let long_key = "k".repeat(257);
    let many: Vec<String> = (0..65).map(|n| format!("p{n}")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), true.into())).collect();
    let batch = vec![
        good("first"),
        stranger.into(),
        json(r#"{"a": {"b": 1}}"#, "nested"),
        json("[]", "list"),
        event("ada", "early", early, &[]).into(),
        good("in between"),
        event("ada", "late", late, &[]).into(),
        json("{}", &long_key),
        json(r#"{"a": 1e3000000}"#, "huge"),
        json(&format!(r#"{{"a": {}}}"#, "1".repeat(40)), "digits"),
        event("ada", "known", now, &[("a", 2.into())]).into(),
        event("ada", "many", now, &many).into(),
        event("ada", "long", now, &[("a", "x".repeat(4_097).as_str().into())]).into(),
        good("known"),
    ];
    let found = refused(&host, batch);
    let check = |index: usize, key: Option<&str>, reason: &str| {
        let event = found.iter().find(|(at, ..)| *at == index);
        let (_, found_key, reasons) = event.unwrap_or_else(|| panic!("{index}: {found:?}"));
        assert_eq!(found_key.as_deref(), key, "{index}");
        assert!(reasons.contains(reason), "{index}: {reasons}");
    };
    check(1, Some("stranger"), "customer_id");
    check(2, Some("nested"), "properties.a: found an object");
    check(3, Some("list"), "invalid type");
    check(4, Some("early"), "in the future");
    check(6, Some("late"), "too old");
    check(7, Some(&long_key), "idempotency_key");
    check(8, Some("huge"), "properties.a");
    check(9, Some("digits"), "properties.a");
    check(10, Some("known"), "another event");
    check(11, Some("many"), "properties");
    check(12, Some("long"), "properties.a");
    let indices: Vec<_> = found.iter().map(|(index, ..)| *index).collect();
    assert!(!indices.contains(&0) && !indices.contains(&5), "{indices:?}");
}

/// §5: "Same key and same content is counted as a duplicate. Same key, other content: that event is
/// an error": the stored event is what both are held against, whatever came before in the batch.
#[test]
fn a_duplicate_behind_a_conflict_is_no_error() {
    let host = host();
    let now = host.clock.now();
    let known = |value: u64| Incoming::from(event("ada", "known", now, &[("a", value.into())]));
    let indices: Vec<_> =
        refused(&host, vec![known(2), known(1)]).into_iter().map(|(index, ..)| index).collect();
    assert_eq!(indices, [0]);
}

/// §5: an error of an event is listed, and all are: also those of an event that comes twice.
#[test]
fn an_event_that_is_bad_twice_is_listed_twice() {
    let host = host();
    let late = host.clock.now().saturating_sub(Duration::from_secs(90_000));
    let bad = || Incoming::from(event("ada", "late", late, &[]));
    let indices: Vec<_> =
        refused(&host, vec![bad(), bad()]).into_iter().map(|(index, ..)| index).collect();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn the_last_instants_that_are_taken_are_taken() {
    let host = host();
    let now = host.clock.now();
    let edges = [
        now.saturating_sub(Duration::from_secs(86_400)),
        now.saturating_add(Duration::from_secs(300)),
    ];
    let events = edges.iter().enumerate().map(|(n, at)| event("ada", &n.to_string(), *at, &[]));
    assert_eq!(block_on(host.account.ingest(events).into_future()).unwrap().ingested, 2);
}

#[test]
fn a_batch_has_1_to_1000_events() {
    let host = host();
    let before = dump(&*host.store);
    let ingest = |count: u64| {
        let events: Vec<_> = thousand(&host, |_| "ada".to_owned());
        let events: Vec<_> = events.into_iter().cycle().take(count.try_into().unwrap()).collect();
        block_on(host.account.ingest(events).into_future())
    };
    assert_eq!(ingest(0).unwrap_err().kind(), ErrorKind::RequestValidation);
    let error = ingest(1_001).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceTooLarge);
    assert!(error.to_string().contains("split"), "{error}");
    assert_eq!(dump(&*host.store), before);
    assert_eq!(ingest(1_000).unwrap().ingested, 1_000);
}

#[test]
fn bad_texts_are_refused_where_they_are_parsed() {
    assert!(IdempotencyKey::parse("k".repeat(64)).is_ok());
    assert!(IdempotencyKey::parse("é".repeat(64)).is_ok());
    assert!(IdempotencyKey::parse("k".repeat(65)).is_err());
    assert!(IdempotencyKey::parse("").is_err());
    assert!(IdempotencyKey::parse("a\nb").is_err());
    assert!(EventKey::parse("k".repeat(256)).is_ok());
    assert!(EventKey::parse("k".repeat(257)).is_err());
    assert!(Name::parse("").is_err());
    for text in ["1".repeat(40).as_str(), "1e3000000", "-1e3000000", "1e-29", "NaN", "1e28", ""] {
        assert!(Decimal::parse(text).is_err(), "{text}");
    }
    for sql in [
        "SELECT avg(a) FROM events",
        "SELECT sum(a) FROM customers",
        "SELECT sum(a) FROM events WHERE",
        "DROP TABLE events",
        "SELECT sum(event_name) FROM events",
        "",
    ] {
        assert!(MetricQuery::parse(sql).is_err(), "{sql}");
    }
    let error = Thresholds::new([]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation);
    let twice = Thresholds::new(["1", "1.0"].map(number)).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::RequestValidation);
    assert!(Thresholds::new((0..101).map(Decimal::from)).is_err());
}
