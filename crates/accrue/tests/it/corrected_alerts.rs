//! Alerts fire where a backfill lifts what they watch, as of the instant at which it closes.

use std::time::Duration;

use accrue::{
    BackfillId, Timestamp,
    alert::Cause,
    backfill::{Backfill, NewBackfill},
    store::{Scan, Store as _, Version},
};

use crate::support::{
    fixture::{NOON, at, block_on, event, number, run, usage_alert},
    priced::{NOTHING, Priced, between, cost_alert, described, exceeded, metered},
};

const CLOSED: &str = "2026-03-10T13:00:00Z";

/// A backfill of one event that adds so much at an instant, within its minute.
pub(crate) fn added(priced: &Priced, start: Timestamp, n: &str) -> Backfill {
    let end = start.saturating_add(Duration::from_secs(60));
    let timeframe = between(&start.to_string(), &end.to_string());
    let new = NewBackfill { replace_existing_events: false, ..NewBackfill::new(timeframe) };
    let backfill = priced.fixture.backfill(new);
    let late = event("ada", &backfill.id.to_string(), start, n);
    run(priced.fixture.account.ingest_backfill(backfill.id, [late])).unwrap();
    backfill
}

pub(crate) fn noon() -> Timestamp {
    at(NOON)
}

impl Priced {
    /// Closes a backfill now, and applies it.
    pub(crate) fn reflect(&self, backfill: &Backfill) {
        run(self.fixture.account.close_backfill(backfill.id)).unwrap();
        self.fixture.tick();
    }

    /// Reverts a backfill now, and applies it.
    pub(crate) fn undo(&self, backfill: &Backfill) {
        run(self.fixture.account.revert_backfill(backfill.id)).unwrap();
        self.fixture.tick();
    }

    /// Which commits wrote the rows of a table.
    pub(crate) fn commits(&self, table: &str) -> Vec<Version> {
        let tables = accrue::schema::TABLES.iter().filter(|found| found.name() == table);
        let rows = tables.flat_map(|table| {
            let scan = Scan::prefix(*table, b"", usize::MAX);
            block_on(self.fixture.store.scan(&scan)).unwrap()
        });
        rows.map(|row| row.version).collect()
    }
}

/// A subscription with an alert on usage and one on cost, and 7 used.
fn watched() -> Priced {
    let priced = metered();
    priced.alert(usage_alert(priced.metric.id, &["10", "20", "30"]));
    priced.alert(cost_alert(&["15", "25", "100"]));
    priced.use_now("a", "7");
    assert_eq!(priced.told(), NOTHING);
    priced
}

#[test]
fn a_backfill_that_lifts_a_figure_fires_each_alert_once_as_of_its_closing() {
    for days in [0, 1] {
        let priced = watched();
        let backfill = added(&priced, noon(), "20");
        priced.fixture.set(CLOSED);
        run(priced.fixture.account.close_backfill(backfill.id)).unwrap();
        assert_eq!(priced.told(), NOTHING, "before it counts");
        priced.fixture.advance_days(days);
        priced.fixture.tick();
        let messages = priced.fixture.messages();
        let told: Vec<_> = messages.iter().filter_map(|message| described(&message.body)).collect();
        let expect = ["usage 10 20: 7 -> 27 by backfill", "cost 15 25: 7 -> 27 by backfill"];
        assert_eq!(told, expect);
        assert_eq!(messages.len(), 3, "and that it is reflected: {messages:?}");
        for message in &messages {
            assert_eq!(message.created_at, at(CLOSED), "{days} days later");
            let Some(exceeded) = exceeded(message) else { continue };
            assert_eq!(exceeded.cause, Cause::Backfill { backfill_id: backfill.id });
            assert_eq!(Some(&exceeded.threshold), exceeded.thresholds.last());
            assert_eq!(exceeded.value_before, Some(number("7")));
            assert_eq!(exceeded.value_after, number("27"));
            assert_eq!(exceeded.timeframe.start(), noon());
        }
        priced.fixture.tick();
        assert_eq!(priced.told(), NOTHING, "once");
    }
}

#[test]
fn usage_is_told_before_cost_whatever_was_created_first() {
    let priced = metered();
    priced.alert(cost_alert(&["15"]));
    priced.alert(usage_alert(priced.metric.id, &["10"]));
    let backfill = added(&priced, noon(), "20");
    priced.fixture.set(CLOSED);
    priced.reflect(&backfill);
    let expect = ["usage 10: none -> 20 by backfill", "cost 15: none -> 20 by backfill"];
    assert_eq!(priced.told(), expect);
}

#[test]
fn alerts_fire_in_the_commit_that_makes_the_backfill_count() {
    let priced = watched();
    priced.fixture.messages_of_catalogue();
    let backfill = added(&priced, noon(), "20");
    priced.fixture.set(CLOSED);
    run(priced.fixture.account.close_backfill(backfill.id)).unwrap();
    priced.fixture.tick();
    let overlays = priced.commits("overlay");
    let [overlay] = overlays[..] else { panic!("{overlays:?}") };
    let outbox = priced.commits("outbox");
    let together = outbox.iter().filter(|commit| **commit == overlay).count();
    // That of the backfill is about all customers.
    assert_eq!((together, outbox.len()), (2, 3));
}

#[test]
fn lowering_a_figure_arms_nothing_again_and_fires_nothing() {
    let priced = watched();
    let backfill = added(&priced, noon(), "20");
    priced.fixture.set(CLOSED);
    priced.reflect(&backfill);
    priced.fixture.drain();
    priced.fixture.advance_days(1);
    priced.undo(&backfill);
    assert_eq!(priced.fixture.message_types(), ["backfill.reverted"]);
    assert_eq!(priced.cost().total, number("7"));
    priced.use_now("b", "19");
    assert_eq!(priced.told(), NOTHING, "all that is crossed has fired");
    // And those beyond have not.
    let again = added(&priced, noon(), "4");
    priced.reflect(&again);
    assert_eq!(priced.told(), ["usage 30: 26 -> 30 by backfill"]);
}

#[test]
fn the_period_before_fires_while_its_events_are_still_taken() {
    // Its end, and the 24 hours for which events of the past are taken.
    let last = "2026-04-11T11:59:59.999999Z";
    for (closed, fires) in [(last, true), ("2026-04-11T12:00:00Z", false)] {
        let priced = watched();
        priced.fixture.set("2026-04-11T00:00:00Z");
        let backfill = added(&priced, noon(), "20");
        priced.fixture.set(closed);
        run(priced.fixture.account.close_backfill(backfill.id)).unwrap();
        priced.fixture.advance_days(1);
        priced.fixture.tick();
        let begun = "of 2026-03-10T12:00:00Z";
        let told = priced.fixture.dated();
        let told: Vec<_> = told.iter().filter(|told| told.contains(" by ")).collect();
        let expect = [
            format!("{closed} usage 10 20: 7 -> 27 by backfill {begun}"),
            format!("{closed} cost 15 25: 7 -> 27 by backfill {begun}"),
        ];
        let expect: Vec<_> = expect.iter().filter(|_| fires).collect();
        assert_eq!(told, expect, "closed at {closed}");
        let cost = priced.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
        assert_eq!(cost.total, number("27"), "it counts in any case");
    }
}

#[test]
fn a_period_older_than_that_fires_nothing() {
    let priced = watched();
    let mut configuration = block_on(priced.fixture.account.configuration()).unwrap();
    configuration.grace_period = Duration::from_secs(28 * 24 * 60 * 60);
    run(priced.fixture.account.configure(configuration)).unwrap();
    // The second period behind the one that is corrected.
    priced.fixture.set("2026-05-10T12:00:00Z");
    let backfill = added(&priced, noon(), "20");
    priced.reflect(&backfill);
    assert_eq!(priced.fixture.message_types(), ["backfill.reflected"]);
    let cost = priced.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    assert_eq!(cost.total, number("27"));
}

#[test]
fn alerts_that_are_switched_off_at_the_closing_fire_nothing() {
    // Off before, and on again before anybody looks; off only when somebody looks.
    let before = [("2026-03-10T12:59:59Z", false), ("2026-03-10T13:00:01Z", true)];
    let behind = [("2026-03-10T13:00:01Z", false)];
    for (switches, fires) in [(&before[..], false), (&behind[..], true)] {
        let priced = watched();
        let closes = at(CLOSED);
        let timeframe = between("2026-03-10T12:00:00Z", "2026-03-10T12:01:00Z");
        let mut new = NewBackfill::new(timeframe);
        (new.replace_existing_events, new.close_time) = (false, Some(closes));
        let backfill: BackfillId = priced.fixture.backfill(new).id;
        let late = event("ada", "late", noon(), "20");
        run(priced.fixture.account.ingest_backfill(backfill, [late])).unwrap();
        for (instant, alerts) in switches {
            priced.fixture.set(instant);
            priced.alerts_feature(*alerts);
        }
        priced.fixture.set("2026-03-12T00:00:00Z");
        priced.fixture.tick();
        let expect = ["usage 10 20: 7 -> 27 by backfill", "cost 15 25: 7 -> 27 by backfill"];
        let expect: Vec<_> = expect.iter().filter(|_| fires).collect();
        assert_eq!(priced.told().iter().collect::<Vec<_>>(), expect, "{switches:?}");
        assert_eq!(priced.cost().total, number("27"));
    }
}
