use accrue::{
    ErrorKind, EventKey, PropertyName,
    backfill::{Backfill, NewBackfill},
    expression::Expression,
    usage::{Event, Ingestion, PropertyValue},
};

use crate::{
    backfills::{frame, of},
    support::fixture::{
        Fixture, NOON, SUM, UNKNOWN, at, block_on, event, external, number, refused, run,
    },
};

const EIGHT: &str = "2026-03-10T08:00:00Z";
const NINE: &str = "2026-03-10T09:00:00Z";

/// A backfill of all customers from 8 to 9 o'clock today.
fn hour() -> NewBackfill {
    NewBackfill::new(frame(EIGHT, NINE))
}

/// Tries to ingest events into a backfill, or into none, and gives why each is refused. Then nothing
/// is written.
fn try_into(
    fixture: &Fixture,
    into: Option<&Backfill>,
    events: &[Event],
) -> Result<(usize, usize), Vec<String>> {
    let before = fixture.dump();
    let events = events.to_vec();
    let done = match into {
        Some(backfill) => run(fixture.account.ingest_backfill(backfill.id, events)),
        None => run(fixture.account.ingest(events)),
    };
    match done {
        Ok(Ingestion { ingested, duplicates, .. }) => Ok((ingested, duplicates)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
            assert_eq!(fixture.dump(), before);
            Err(error.refused_events().iter().flat_map(|of| of.reasons.clone()).collect())
        }
    }
}

fn taken() -> Result<(usize, usize), Vec<String>> {
    Err(vec!["idempotency_key: another event has this key".to_owned()])
}

#[test]
fn wire_3_4_events_lie_within_the_timeframe() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    let check = |key: &str, instant: &str, expect: bool| {
        let found = try_into(&fixture, Some(&backfill), &[event("ada", key, at(instant), "1")]);
        match found {
            Ok(found) => assert_eq!((found, expect), ((1, 0), true), "{instant}"),
            Err(reasons) => {
                assert!(!expect, "{instant}");
                let start =
                    format!("timestamp: {} is outside of the backfill's timeframe", at(instant));
                assert!(reasons[0].starts_with(&start), "{reasons:?}");
            }
        }
    };
    check("a", "2026-03-10T07:59:59.999999Z", false);
    check("a", EIGHT, true);
    check("b", "2026-03-10T08:59:59.999999Z", true);
    check("c", NINE, false);
}

#[test]
fn wire_3_4_none_lies_more_than_five_minutes_in_the_future() {
    let fixture = Fixture::new();
    let today = NewBackfill::new(frame("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"));
    let backfill = fixture.backfill(today);
    let newest = event("ada", "a", at("2026-03-10T12:05:00Z"), "1");
    let later = event("ada", "b", at("2026-03-10T12:05:00.000001Z"), "1");
    assert_eq!(try_into(&fixture, Some(&backfill), &[newest]), Ok((1, 0)));
    let reasons = try_into(&fixture, Some(&backfill), &[later]).unwrap_err();
    assert!(reasons[0].contains("is in the future"), "{reasons:?}");
}

#[test]
fn wire_3_4_the_events_of_a_customers_backfill_are_its_own() {
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.customer("ada"), fixture.customer("bob"));
    let backfill = fixture.backfill(of(ada.id, hour()));
    let named = |customer: accrue::IdOr<accrue::CustomerId>, key: &str| Event {
        customer,
        ..event("ada", key, at(EIGHT), "1")
    };
    let own = [named(ada.id.into(), "a"), named(external("ada").into(), "b")];
    assert_eq!(try_into(&fixture, Some(&backfill), &own), Ok((2, 0)));
    let others = [
        named(bob.id.into(), "c"),
        named(external("bob").into(), "d"),
        named(external("nobody").into(), "e"),
        named(ada.id.into(), "f"),
    ];
    let reasons = try_into(&fixture, Some(&backfill), &others).unwrap_err();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.starts_with("customer_id: ")), "{reasons:?}");
}

#[test]
fn wire_3_4_events_of_all_customers_wait_for_one_that_is_created_later() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    let batch = ["ada", "bob"].map(|name| event(name, name, at(EIGHT), "1"));
    assert_eq!(try_into(&fixture, Some(&backfill), &batch), Ok((2, 0)));
    fixture.customer("ada");
    assert_eq!(try_into(&fixture, Some(&backfill), &batch), Ok((0, 2)));
    assert_eq!(fixture.fetched(&backfill).events_ingested, 2);
}

#[test]
fn wire_3_4_the_size_of_a_batch_is_bounded() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    let batch = |count: usize| {
        let event = |n: usize| event("ada", &n.to_string(), at(EIGHT), "1");
        fixture.account.ingest_backfill(backfill.id, (0..count).map(event))
    };
    assert_eq!(refused(&fixture, batch(0)).0, ErrorKind::RequestValidation);
    assert_eq!(refused(&fixture, batch(1_001)).0, ErrorKind::ResourceTooLarge);
    assert_eq!(run(batch(1_000)).unwrap().ingested, 1_000);
}

#[test]
fn wire_3_4_within_a_backfill_a_key_is_one_events() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    let into = Some(&backfill);
    let one = event("ada", "a", at(EIGHT), "1");
    let other = event("ada", "a", at(EIGHT), "2");
    assert_eq!(try_into(&fixture, into, &[one.clone(), other.clone()]), taken());
    assert_eq!(try_into(&fixture, into, &[one.clone(), one.clone()]), Ok((1, 1)));
    let before = fixture.dump();
    assert_eq!(try_into(&fixture, into, std::slice::from_ref(&one)), Ok((0, 1)));
    assert_eq!(fixture.dump(), before, "a duplicate changes nothing");
    assert_eq!(try_into(&fixture, into, &[other]), taken());
    assert_eq!(try_into(&fixture, into, &[event("bob", "a", at(EIGHT), "1")]), taken());
    assert_eq!(fixture.fetched(&backfill).events_ingested, 1);
}

/// Where the event of a key that none has brought may come in a backfill.
#[test]
fn a_key_comes_again_in_a_backfill_at_its_place_or_where_it_replaces_the_event() {
    let filtered =
        || NewBackfill { deprecation_filter: Some(Expression::parse("n > 0").unwrap()), ..hour() };
    let added = || NewBackfill { replace_existing_events: false, ..hour() };
    let check = |new: NewBackfill, old: &str, again: Event, expect: bool| {
        let fixture = Fixture::new();
        for name in ["ada", "bob"] {
            fixture.customer(name);
        }
        run(fixture.account.ingest([event("ada", "a", at(old), "1")])).unwrap();
        let backfill = fixture.backfill(new.clone());
        let expect = if expect { Ok((1, 0)) } else { taken() };
        assert_eq!(try_into(&fixture, Some(&backfill), &[again]), expect, "{new:?}");
    };
    let half = "2026-03-10T08:30:00Z";
    let seven = "2026-03-10T07:59:59.999999Z";
    for new in [hour(), filtered(), added(), of(external("ada"), hour())] {
        let replaces = new.replace_existing_events && new.deprecation_filter.is_none();
        check(new.clone(), half, event("ada", "a", at(half), "2"), true);
        check(new.clone(), half, event("ada", "a", at(EIGHT), "2"), replaces);
        check(new.clone(), seven, event("ada", "a", at(EIGHT), "2"), false);
        check(new, NINE, event("ada", "a", at(EIGHT), "2"), false);
    }
    check(hour(), half, event("bob", "a", at(half), "2"), true);
    check(of(external("bob"), hour()), half, event("bob", "a", at(half), "2"), false);
    check(added(), half, event("bob", "a", at(half), "2"), false);
}

/// Where the event of a key that a pending backfill has brought may come without one.
#[test]
fn a_key_of_a_pending_backfill_comes_again_at_its_place_or_where_that_will_replace_it() {
    let check = |new: NewBackfill, now: &str, again: Event, expect: bool| {
        let fixture = Fixture::new();
        for name in ["ada", "bob"] {
            fixture.customer(name);
        }
        let close_time = Some(at("2026-03-10T13:00:00Z"));
        let backfill = fixture.backfill(NewBackfill { close_time, ..new.clone() });
        fixture.fill(&backfill, "a", "2026-03-10T08:30:00Z").unwrap();
        fixture.set(now);
        let expect = if expect { Ok((1, 0)) } else { taken() };
        assert_eq!(try_into(&fixture, None, &[again]), expect, "{new:?}");
    };
    let half = "2026-03-10T08:30:00Z";
    let added = || NewBackfill { replace_existing_events: false, ..hour() };
    check(added(), NOON, event("ada", "a", at(half), "2"), true);
    check(added(), NOON, event("ada", "a", at(EIGHT), "2"), false);
    check(hour(), NOON, event("ada", "a", at(EIGHT), "2"), true);
    check(hour(), NOON, event("bob", "a", at(EIGHT), "2"), true);
    check(hour(), NOON, event("ada", "a", at(NINE), "2"), false);
    check(of(external("ada"), hour()), NOON, event("bob", "a", at(EIGHT), "2"), false);
    // One that has closed hides nothing that comes now.
    check(hour(), "2026-03-10T12:59:59.999999Z", event("ada", "a", at(EIGHT), "2"), true);
    check(hour(), "2026-03-10T13:00:00Z", event("ada", "a", at(EIGHT), "2"), false);
}

#[test]
fn the_keys_of_a_reverted_backfill_are_free() {
    let fixture = Fixture::new();
    let first = fixture.backfill(NewBackfill { replace_existing_events: false, ..hour() });
    fixture.fill(&first, "a", EIGHT).unwrap();
    let elsewhere = event("bob", "a", at("2026-03-10T08:30:00Z"), "2");
    let second = fixture.backfill(NewBackfill {
        replace_existing_events: false,
        ..NewBackfill::new(frame(NINE, "2026-03-10T10:00:00Z"))
    });
    let there = event("bob", "a", at(NINE), "2");
    let into = Some(&second);
    assert_eq!(try_into(&fixture, into, std::slice::from_ref(&there)), taken());
    assert_eq!(try_into(&fixture, None, std::slice::from_ref(&elsewhere)), taken());
    run(fixture.account.revert_backfill(first.id)).unwrap();
    assert_eq!(try_into(&fixture, into, &[there]), Ok((1, 0)));
    assert_eq!(try_into(&fixture, None, &[elsewhere]), taken(), "the second has it now");
}

#[test]
fn an_event_beside_that_of_a_pending_backfill_counts() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let ada = fixture.customer("ada");
    let backfill = fixture.backfill(NewBackfill { replace_existing_events: false, ..hour() });
    fixture.fill(&backfill, "a", EIGHT).unwrap();
    let again = event("ada", "a", at(EIGHT), "7");
    assert_eq!(try_into(&fixture, None, &[again]), Ok((1, 0)));
    let whole = frame(EIGHT, NINE);
    let sum = block_on(fixture.account.usage_between(ada.id, metric.id, whole));
    assert_eq!(sum.unwrap(), Some(number("7")));
}

#[test]
fn so_many_backfills_bring_one_key() {
    let fixture = Fixture::new();
    let added = || NewBackfill {
        replace_existing_events: false,
        close_time: None,
        ..NewBackfill::new(frame(EIGHT, "2026-03-10T08:01:00Z"))
    };
    // Reverted ones are not counted.
    for _ in 0..=accrue::limits::EVENT_SLOTS {
        let backfill = fixture.backfill(added());
        fixture.fill(&backfill, "a", EIGHT).unwrap();
        run(fixture.account.revert_backfill(backfill.id)).unwrap();
    }
}

#[test]
fn what_is_wrong_with_an_event_is_said_as_without_a_backfill() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    let mut wrong = event("ada", "a", at(EIGHT), "1");
    let properties = (0..=64)
        .map(|n| (PropertyName::parse(format!("p{n}")).unwrap(), PropertyValue::Boolean(true)));
    wrong.properties = properties.collect();
    let nobody = Event {
        idempotency_key: EventKey::parse("b").unwrap(),
        customer: UNKNOWN.parse::<accrue::CustomerId>().unwrap().into(),
        ..event("ada", "b", at(EIGHT), "1")
    };
    let reasons = try_into(&fixture, Some(&backfill), &[wrong, nobody]).unwrap_err();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].starts_with("properties: "), "{reasons:?}");
    assert!(reasons[1].starts_with("customer_id: "), "{reasons:?}");
}
