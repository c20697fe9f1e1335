//! Backfills that stand in each other's way, and those whose customer goes.

use accrue::{
    ErrorKind, ExternalId, Timeframe,
    backfill::{Backfill, BackfillStatus, NewBackfill},
};

use crate::{
    backfills::{frame, hour, of},
    support::fixture::{COUNT, Fixture, at, block_on, event, external, refused, run},
};

fn whose(customer: Option<&str>, new: NewBackfill) -> NewBackfill {
    let customer = customer.map(|name| ExternalId::parse(name).unwrap().into());
    NewBackfill { customer, ..new }
}

/// A fixture with the customer `ada` and a backfill with an event of hers that is reflected.
fn reflected(customer: Option<&str>) -> (Fixture, Backfill) {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let backfill = fixture.backfill(whose(customer, hour()));
    fixture.fill(&backfill, "a", "2026-03-01T08:30:00Z").unwrap();
    run(fixture.account.close_backfill(backfill.id)).unwrap();
    fixture.tick();
    assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reflected);
    (fixture, backfill)
}

const WHOSE: [(Option<&str>, Option<&str>); 4] =
    [(None, None), (None, Some("ada")), (Some("ada"), None), (Some("ada"), Some("ada"))];

#[test]
fn wire_3_3_one_is_not_reverted_while_another_over_it_is_open() {
    for (first, second) in WHOSE {
        let (fixture, backfill) = reflected(first);
        let last = frame("2026-03-01T08:59:59.999999Z", "2026-03-01T10:00:00Z");
        let other = fixture.backfill(whose(second, NewBackfill::new(last)));
        let (kind, text) = refused(&fixture, fixture.account.revert_backfill(backfill.id));
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        assert!(text.contains(&other.id.to_string()), "it names the other: {text}");
        assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reflected);
        // It is in nobody's way once it is reflected.
        run(fixture.account.close_backfill(other.id)).unwrap();
        fixture.tick();
        run(fixture.account.revert_backfill(backfill.id)).unwrap();
        fixture.tick();
        assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reverted);
    }
}

#[test]
fn wire_3_3_one_is_created_over_another_that_is_about_to_be_reverted_since_that_comes_first() {
    for (first, second) in WHOSE {
        let (fixture, backfill) = reflected(first);
        let asked = run(fixture.account.revert_backfill(backfill.id)).unwrap();
        assert_eq!(asked.status, BackfillStatus::PendingRevert);
        let other = fixture.backfill(whose(second, hour()));
        assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reverted);
        assert_eq!(fixture.fetched(&other).status, BackfillStatus::Pending);
    }
}

#[test]
fn wire_3_3_one_is_created_over_another_that_is_about_to_be_reflected_since_that_comes_first() {
    for (first, second) in WHOSE {
        let fixture = Fixture::new();
        fixture.customer("ada");
        let backfill = fixture.backfill(whose(first, hour()));
        fixture.fill(&backfill, "a", "2026-03-01T08:30:00Z").unwrap();
        run(fixture.account.close_backfill(backfill.id)).unwrap();
        fixture.backfill(whose(second, hour()));
        assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reflected);
    }
}

#[test]
fn a_customer_that_is_deleted_leaves_no_backfill_that_waits_for_ever() {
    for takes_events in [false, true] {
        let fixture = Fixture::new();
        let ada = fixture.customer("ada").id;
        let backfill = fixture.backfill(of(ada, hour()));
        if takes_events {
            let event = event("ada", "a", at("2026-03-01T08:30:00Z"), "1");
            run(fixture.account.ingest_backfill(backfill.id, [event])).unwrap();
        }
        run(fixture.account.delete_customer(ada)).unwrap();
        for _ in 0..2 {
            fixture.tick();
            let now = accrue::Clock::now(&fixture.clock);
            let fetched = fixture.fetched(&backfill);
            let waits = fetched.status == BackfillStatus::Pending
                || fetched.status == BackfillStatus::PendingRevert;
            let closes = fetched.close_time.filter(|_| waits);
            assert!(!waits || closes.is_some_and(|at| at > now), "{fetched:?}");
            fixture.advance_days(2);
        }
        fixture.tick();
        let next = block_on(fixture.billing.next_deadline()).unwrap();
        assert_eq!(next, None, "events: {takes_events}");
        // The timeframe is free for others.
        fixture.backfill(hour());
    }
}

#[test]
fn wire_3_3_no_timeframe_ends_before_it_starts() {
    let (start, end) = (at("2026-03-01T08:00:00Z"), at("2026-03-01T07:59:59.999999Z"));
    let error = Timeframe::new(start, end).unwrap_err();
    assert!(error.to_string().contains("before"), "{error}");
}

#[test]
fn wire_3_3_a_timeframe_that_is_too_long_or_empty_writes_nothing() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let long = frame("2026-01-01T00:00:00Z", "2026-02-01T00:00:00.000001Z");
    let empty = frame("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    for timeframe in [long, empty] {
        for new in [NewBackfill::new(timeframe), of(external("ada"), NewBackfill::new(timeframe))] {
            let (kind, _) = refused(&fixture, fixture.account.create_backfill(new));
            assert_eq!(kind, ErrorKind::RequestValidation);
        }
    }
}

/// Whoever has no event yet has nothing to correct, and what comes now comes after the closing.
#[test]
fn the_first_event_of_a_customer_waits_for_no_backfill_of_all() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let metric = fixture.metric(COUNT);
    let hour = frame("2026-03-10T11:00:00Z", "2026-03-10T12:00:00Z");
    let ingest = |who: &str, key: &str| {
        let at = at("2026-03-10T11:30:00Z");
        run(fixture.account.ingest([event(who, key, at, "1")])).unwrap();
    };
    ingest("ada", "a");
    let backfill = fixture.backfill(NewBackfill::new(hour));
    run(fixture.account.close_backfill(backfill.id)).unwrap();
    ingest("zoe", "z");
    fixture.tick();
    assert_eq!(fixture.fetched(&backfill).status, BackfillStatus::Reflected);
    let zoe = fixture.customer("zoe").id;
    let ada = block_on(fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let used = |customer| {
        let used = fixture.account.usage_between(customer, metric.id, hour);
        block_on(used).unwrap().map(|used| used.to_string())
    };
    assert_eq!(used(ada).as_deref(), Some("0"), "it was replaced by nothing");
    assert_eq!(used(zoe).as_deref(), Some("1"));
}
