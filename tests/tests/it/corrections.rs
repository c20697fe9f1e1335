//! Figures, costs, credits and alerts follow backfills, amendments and deprecations, as a naive
//! recomputation from the events that count.

use accrue::{
    BackfillId, Clock as _, Timeframe, Timestamp, backfill::NewBackfill, store::MemoryStore,
    subscription::NewSubscription,
};
use accrue_tests::{
    cases, corrected,
    host::{Host, customer, event, micros},
    script,
};
use pollster::block_on;
use proptest::prelude::*;

/// Before clocks change, at the end of a short month, and at odd instants.
const BEGINNINGS: &[&str] = &[
    "2026-03-10T09:07:31.000001Z",
    "2028-03-01T00:20:00Z",
    "2025-01-31T00:00:00Z",
    "2026-04-01T18:29:59.999999Z",
];

proptest! {
    #![proptest_config(cases(60))]

    /// Every figure equals a recomputation from the events that count, after every step.
    #[test]
    fn figures_equal_a_recomputation_from_what_counts(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
    ) {
        corrected::run(beginning, &opening, &steps, None);
    }

    /// No outcome depends on when `tick` runs, or on how events are cut into batches.
    #[test]
    fn outcomes_do_not_depend_on_when_corrections_are_done(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
        manner in script::manner(),
    ) {
        corrected::run(beginning, &opening, &steps, Some(&script::Manner::plain()));
        corrected::run(beginning, &opening, &steps, Some(&manner));
    }

    /// A revert restores the stored aggregates byte for byte where nothing came in between.
    #[test]
    fn a_revert_restores_what_is_stored(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
        fills in prop::collection::vec(corrected::backfill_and_fills(), 1..3),
    ) {
        let mut bench = corrected::run(beginning, &opening, &steps, Some(&script::Manner::plain()));
        for (backfill, fills) in &fills {
            bench.check_restoring(backfill, fills);
        }
    }
}

const DAY: i64 = 86_400_000_000;

/// A backfill that adds events to the two days before now, for one customer or for all.
fn two_days(host: &Host, of: Option<accrue::CustomerId>, at: &[(&str, Timestamp)]) -> BackfillId {
    let now = host.clock.now().micros();
    let mut new = NewBackfill::new(Timeframe::new(micros(now - 2 * DAY), micros(now)).unwrap());
    new.customer = of.map(Into::into);
    new.replace_existing_events = false;
    let id = block_on(host.account.create_backfill(new).into_future()).unwrap().id;
    let events: Vec<_> = at.iter().map(|(key, at)| event("ada", key, *at, &[])).collect();
    block_on(host.account.ingest_backfill(id, events).into_future()).unwrap();
    block_on(host.account.close_backfill(id).into_future()).unwrap();
    host.tick();
    id
}

/// Days that have no events but those of the backfill are corrected too when it is reverted.
#[test]
fn a_day_that_has_nothing_else_is_reverted_too() {
    for is_used in [false, true] {
        let host = Host::on(MemoryStore::new());
        let metric = host.metric("SELECT count(*) FROM events");
        let now = host.clock.now().micros();
        let new = customer("ada");
        let ada = block_on(host.account.create_customer(new).into_future()).unwrap().id;
        let mut new = NewSubscription::new(ada, host.plan().id);
        new.start_date = Some(micros(now - 5 * DAY));
        block_on(host.account.create_subscription(new).into_future()).unwrap();
        if is_used {
            let used = event("ada", "used", micros(now - 1), &[]);
            block_on(host.account.ingest([used]).into_future()).unwrap();
        }
        let yesterday = micros(now - DAY);
        let id = two_days(&host, Some(ada), &[("a", yesterday), ("b", micros(now - 2))]);
        block_on(host.account.revert_backfill(id).into_future()).unwrap();
        host.tick();
        let within = Timeframe::new(micros(now - 3 * DAY), micros(now)).unwrap();
        let used = block_on(host.account.usage_between(ada, metric.id, within)).unwrap().unwrap();
        assert_eq!(used, u64::from(is_used).into(), "of a customer that used: {is_used}");
    }
}

/// A key that a reverted backfill had is free, whether or not `tick` has ended the revert for all
/// customers.
#[test]
fn a_key_of_a_reverted_backfill_is_free_before_a_tick() {
    for ticks in [true, false] {
        let host = Host::on(MemoryStore::new());
        let now = host.clock.now().micros();
        for alias in ["ada", "bob"] {
            block_on(host.account.create_customer(customer(alias)).into_future()).unwrap();
        }
        let id = two_days(&host, None, &[("a", micros(now - DAY))]);
        block_on(host.account.revert_backfill(id).into_future()).unwrap();
        if ticks {
            host.tick();
        }
        let elsewhere = event("ada", "a", micros(now), &[]);
        let ingested = block_on(host.account.ingest([elsewhere]).into_future());
        let ingested = ingested.ok().map(|ingestion| ingestion.ingested);
        assert_eq!(ingested, Some(1), "after a tick: {ticks}");
    }
}
