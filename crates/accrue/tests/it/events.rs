use accrue::{
    ErrorKind, EventKey, ExternalId, Timeframe,
    customer::{CustomerUpdate, NewCustomer},
    usage::{EventSearch, Incoming},
};

use crate::support::fixture::{COUNT, Fixture, SUM, at, block_on, event, name, run};

#[test]
fn a_duplicate_is_a_success_however_old() {
    let fixture = Fixture::new();
    let first = event("ada", "a", at("2026-03-10T12:00:00Z"), "1.50");
    run(fixture.account.ingest([first.clone()])).unwrap();
    fixture.advance_days(300);
    let before = fixture.dump();
    let mut again = first.clone();
    again.properties = event("ada", "a", first.timestamp, "1.5").properties;
    let ingestion = run(fixture.account.ingest([again.clone(), again])).unwrap();
    assert_eq!((ingestion.ingested, ingestion.duplicates), (0, 2));
    assert_eq!(fixture.dump(), before);
}

#[test]
fn another_content_under_a_key_refuses_the_whole_batch() {
    let fixture = Fixture::new();
    fixture.use_now("ada", "a", "1");
    let before = fixture.dump();
    let now = at("2026-03-10T12:00:00Z");
    let batch = [event("ada", "b", now, "1"), event("ada", "a", now, "2")];
    let refused = run(fixture.account.ingest(batch)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation);
    let [event] = refused.refused_events() else { panic!("one event is refused") };
    assert_eq!((event.index, event.idempotency_key.as_deref()), (1, Some("a")));
    assert_eq!(event.reasons, ["idempotency_key: another event has this key"]);
    assert_eq!(fixture.dump(), before);
}

#[test]
fn every_event_that_is_refused_is_listed() {
    let fixture = Fixture::new();
    let malformed = Incoming::from_json(r#"{"event_name": ""}"#);
    let batch = [
        malformed,
        event("ada", "good", at("2026-03-10T12:00:00Z"), "").into(),
        event("ada", "old", at("2026-03-09T11:59:59.999999Z"), "").into(),
        event("ada", "future", at("2026-03-10T12:05:00.000001Z"), "").into(),
    ];
    let refused = run(fixture.account.ingest(batch)).unwrap_err();
    let indexes: Vec<_> = refused.refused_events().iter().map(|event| event.index).collect();
    assert_eq!(indexes, [0, 2, 3]);
}

#[test]
fn the_window_of_time_is_met_to_the_instant() {
    let fixture = Fixture::new();
    let batch = [
        event("ada", "oldest", at("2026-03-09T12:00:00Z"), ""),
        event("ada", "newest", at("2026-03-10T12:05:00Z"), ""),
    ];
    assert_eq!(run(fixture.account.ingest(batch)).unwrap().ingested, 2);
}

#[test]
fn events_wait_for_a_customer_that_is_created_later() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    fixture.use_now("ada", "a", "7");
    let ada = fixture.customer("ada");
    let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
    let sum = block_on(fixture.account.usage_between(ada.id, metric.id, day)).unwrap();
    assert_eq!(sum.unwrap().to_string(), "7");
    let plan = fixture.plan();
    let subscription = fixture.subscribe_from(ada.id, &plan, Some("2026-03-01T00:00:00Z"));
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "7");
    fixture.use_now("ada", "b", "3");
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "10");
}

#[test]
fn an_external_id_with_waiting_events_is_for_a_new_customer_only() {
    let fixture = Fixture::new();
    fixture.use_now("ada", "a", "");
    let email = accrue::Email::parse("a@example.com").unwrap();
    let nobody = run(fixture.account.create_customer(NewCustomer::new(name("x"), email))).unwrap();
    let update = CustomerUpdate {
        external_customer_id: Some(ExternalId::parse("ada").unwrap()),
        ..Default::default()
    };
    let refused = run(fixture.account.update_customer(nobody.id, update)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn a_metric_counts_events_that_were_accepted_before_its_creation() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    fixture.use_now("ada", "a", "1");
    let metric = fixture.metric(COUNT);
    let part = Timeframe::new(at("2026-03-10T12:00:00Z"), at("2026-03-10T12:01:00Z")).unwrap();
    let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
    let check = |expect: &str| {
        assert_eq!(fixture.usage(&subscription, &metric).unwrap(), expect);
        for timeframe in [part, day] {
            let count = fixture.account.usage_between(ada.id, metric.id, timeframe);
            assert_eq!(block_on(count).unwrap().unwrap().to_string(), expect);
        }
    };
    // At once, before anybody has measured them, and the same afterwards.
    check("1");
    while block_on(fixture.billing.tick(10)).unwrap().more {}
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-04-10T12:00:00Z"))
    );
    check("1");
    fixture.use_now("ada", "b", "1");
    check("2");
}

#[test]
fn without_events_count_sum_and_distinct_are_zero_and_the_others_none() {
    let fixture = Fixture::new();
    let subscription = fixture.subscribe(fixture.customer("ada").id, &fixture.plan());
    let check = |sql: &str, expect: Option<&str>| {
        let metric = fixture.metric(sql);
        assert_eq!(fixture.usage(&subscription, &metric).as_deref(), expect, "{sql}");
    };
    check(COUNT, Some("0"));
    check(SUM, Some("0"));
    check("SELECT count(DISTINCT n) FROM events", Some("0"));
    check("SELECT min(n) FROM events", None);
    check("SELECT max(n) FROM events", None);
    check("SELECT latest(n) FROM events", None);
}

#[test]
fn search_finds_what_is_there_and_leaves_out_what_is_not() {
    let fixture = Fixture::new();
    fixture.use_now("ada", "a", "1.5");
    let key = |text: &str| EventKey::parse(text).unwrap();
    fixture.clock.advance(std::time::Duration::from_secs(1));
    let search = EventSearch::new([key("a"), key("b")]);
    let found = block_on(fixture.account.search_events(search.clone())).unwrap();
    let [event] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((event.id.as_str(), event.customer_id), ("a", None));
    assert_eq!(event.external_customer_id, Some(ExternalId::parse("ada").unwrap()));
    let ada = fixture.customer("ada");
    let found = block_on(fixture.account.search_events(search.clone())).unwrap();
    assert_eq!(found[0].customer_id, Some(ada.id));
    let twice = EventSearch::new([key("a"), key("b"), key("a")]);
    let found = block_on(fixture.account.search_events(twice)).unwrap();
    assert_eq!(found.len(), 1, "an event that is asked for twice comes once");
    fixture.advance_days(8);
    assert_eq!(block_on(fixture.account.search_events(search)).unwrap(), [], "the last week");
    let search = |count: usize| {
        let keys = (0..count).map(|n| key(&n.to_string()));
        block_on(fixture.account.search_events(EventSearch::new(keys)))
    };
    for (count, expect) in [(0, false), (1, true), (500, true), (501, false)] {
        let answer = search(count).map_err(|error| error.kind());
        assert_eq!(answer.is_ok(), expect, "{count}");
        assert!(expect || answer == Err(ErrorKind::RequestValidation));
    }
}

#[test]
fn a_grace_period_is_kept_to_the_microsecond() {
    let fixture = Fixture::new();
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.grace_period = std::time::Duration::from_nanos(60_000_001_999);
    let answered = run(fixture.account.configure(configuration)).unwrap();
    assert_eq!(answered.grace_period, std::time::Duration::from_micros(60_000_001));
    assert_eq!(block_on(fixture.account.configuration()).unwrap(), answered);
}

#[test]
fn the_grace_period_of_the_account_decides_what_is_too_old() {
    let fixture = Fixture::new();
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.grace_period = std::time::Duration::from_secs(60);
    run(fixture.account.configure(configuration.clone())).unwrap();
    let batch = |text: &str| [event("ada", text, at(text), "")];
    assert!(run(fixture.account.ingest(batch("2026-03-10T11:59:00Z"))).is_ok());
    assert!(run(fixture.account.ingest(batch("2026-03-10T11:58:59Z"))).is_err());
    configuration.grace_period = std::time::Duration::from_secs(28 * 24 * 60 * 60 + 1);
    let refused = run(fixture.account.configure(configuration)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation);
}
