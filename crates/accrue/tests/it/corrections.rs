//! A backfill comes to count, and counts no longer.

use std::time::Duration;

use accrue::{
    Clock, Timeframe,
    backfill::{Backfill, BackfillStatus, NewBackfill},
    cost::CostQuery,
    subscription::NewSubscription,
    usage::Event,
};
use pollster::block_on;

use crate::support::{
    credited::credited_with,
    fixture::{COUNT, Fixture, SUM, at, event, external, number, run},
    priced::{cost_alert, priced},
};

impl Fixture {
    pub(crate) fn apply_transitions(&self) {
        while block_on(self.billing.tick(10)).unwrap().more {}
    }

    /// A backfill with its events, reflected.
    fn backfilled(&self, new: NewBackfill, events: Vec<Event>) -> Backfill {
        let backfill = run(self.account.create_backfill(new)).unwrap();
        if !events.is_empty() {
            run(self.account.ingest_backfill(backfill.id, events)).unwrap();
        }
        let closed = run(self.account.close_backfill(backfill.id)).unwrap();
        assert_eq!(closed.status, BackfillStatus::Pending);
        self.apply_transitions();
        let reflected = block_on(self.account.fetch_backfill(backfill.id)).unwrap();
        assert_eq!(reflected.status, BackfillStatus::Reflected);
        reflected
    }

    /// The rows that say what there is.
    fn aggregates(&self) -> Vec<String> {
        self.figures(&[])
    }

    fn revert(&self, backfill: &Backfill) {
        let reverted = run(self.account.revert_backfill(backfill.id)).unwrap();
        assert_eq!(reverted.status, BackfillStatus::PendingRevert);
        self.apply_transitions();
        let reverted = block_on(self.account.fetch_backfill(backfill.id)).unwrap();
        assert_eq!(reverted.status, BackfillStatus::Reverted);
    }
}

fn frame(start: &str, end: &str) -> Timeframe {
    let day = |text: &str| at(&format!("2026-03-10T{text}Z"));
    Timeframe::new(day(start), day(end)).unwrap()
}

fn used(key: &str, time: &str, n: &str) -> Event {
    event("ada", key, at(&format!("2026-03-10T{time}Z")), n)
}

#[test]
fn wire_3_3_a_reflected_backfill_replaces_what_was_there_and_reverting_it_restores_it() {
    for customer in [Some("ada"), None] {
        let fixture = Fixture::new();
        let (count, sum) = (fixture.metric(COUNT), fixture.metric(SUM));
        let ada = fixture.customer("ada");
        let subscription =
            fixture.subscribe_from(ada.id, &fixture.plan(), Some("2026-03-10T00:00:00Z"));
        let figures = || [&count, &sum].map(|metric| fixture.usage(&subscription, metric).unwrap());
        run(fixture.account.ingest([
            used("a", "10:00:00", "1"),
            used("b", "10:20:00", "2"),
            used("c", "11:00:00", "4"),
        ]))
        .unwrap();
        assert_eq!(figures(), ["3", "7"]);
        let before = fixture.aggregates();
        assert!(before.len() > 5);
        let mut new = NewBackfill::new(frame("10:00:00", "11:00:00"));
        new.customer = customer.map(|name| external(name).into());
        let events = vec![used("b", "10:20:00", "16"), used("d", "10:30:00", "32")];
        let backfill = fixture.backfilled(new, events);
        assert_eq!(backfill.events_ingested, 2);
        assert_eq!(figures(), ["3", "52"]);
        fixture.clock.advance(Duration::from_secs(60));
        fixture.revert(&backfill);
        assert_eq!(figures(), ["3", "7"]);
        assert_eq!(fixture.aggregates(), before);
    }
}

#[test]
fn a_preview_of_a_close_answers_what_it_would_change_and_changes_nothing() {
    let priced = priced(|fixture, metric| [fixture.usage_at("2", metric)]);
    let fixture = &priced.fixture;
    priced.use_now("a", "7");
    let (now, hour) = (fixture.clock.now(), Duration::from_secs(60 * 60));
    let timeframe = Timeframe::new(now.saturating_sub(hour), now.saturating_add(hour)).unwrap();
    for customer in [Some("ada"), None] {
        let mut new = NewBackfill::new(timeframe);
        new.customer = customer.map(|name| external(name).into());
        let backfill = run(fixture.account.create_backfill(new)).unwrap();
        let late = event("ada", "late", now, "16");
        run(fixture.account.ingest_backfill(backfill.id, [late])).unwrap();
        let alert = cost_alert(&["20", "30"]);
        let alert = fixture.account.create_subscription_alert(priced.subscription.id, alert);
        let alert = run(alert).unwrap();
        let before = fixture.dump();
        let preview = block_on(fixture.account.close_backfill(backfill.id).preview()).unwrap();
        assert_eq!(fixture.dump(), before);
        let [period] = &preview.periods[..] else { panic!("{:?}", preview.periods) };
        let [usage] = &period.usage[..] else { panic!("{:?}", period.usage) };
        assert_eq!(
            (usage.before.clone(), usage.after.clone()),
            (Some(number("7")), Some(number("16")))
        );
        assert_eq!((&period.cost_before, &period.cost_after), (&number("14"), &number("32")));
        let types: Vec<_> = preview.messages.iter().map(|of| of.body.message_type()).collect();
        assert_eq!(types[0], "subscription.cost_exceeded");
        assert!(customer.is_none() || types[1..] == ["backfill.reflected"], "{types:?}");
        // And so it is.
        run(fixture.account.close_backfill(backfill.id)).unwrap();
        fixture.apply_transitions();
        let cost = fixture.cost(&priced.subscription, &CostQuery::default());
        assert_eq!(cost.total, period.cost_after);
        let backfill = block_on(fixture.account.fetch_backfill(backfill.id)).unwrap();
        let undone = block_on(fixture.account.revert_backfill(backfill.id).preview()).unwrap();
        assert_eq!(undone.periods[0].cost_after, number("14"));
        fixture.revert(&backfill);
        run(fixture.account.delete_alert(alert.id)).unwrap();
    }
}

/// A subscription that begins far in the past gets no running totals of its oldest periods, and its
/// old usage was never drawn: a correction books the difference alone.
#[test]
fn an_old_period_without_a_total_books_only_what_a_backfill_brings() {
    let priced = credited_with("100");
    let fixture = &priced.fixture;
    priced.use_now("old", "7");
    let then = fixture.clock.now();
    fixture.advance_days(90);
    let plan = priced.subscription.plan_id.unwrap();
    let mut new = NewSubscription::new(priced.subscription.customer_id, plan);
    new.start_date = Some(then.saturating_sub(Duration::from_secs(60)));
    run(fixture.account.create_subscription(new)).unwrap();
    let (before, balance) = (fixture.aggregates(), priced.balance());
    let timeframe = Timeframe::new(then, then.saturating_add(Duration::from_secs(60))).unwrap();
    let mut new = NewBackfill::new(timeframe);
    new.replace_existing_events = false;
    let backfill = fixture.backfilled(new, vec![event("ada", "late", then, "2")]);
    // Both subscriptions of the customer count it.
    assert_eq!((balance.as_deref(), priced.balance().as_deref()), (Some("93"), Some("89")));
    fixture.revert(&backfill);
    assert_eq!(priced.balance(), balance);
    assert_eq!(fixture.aggregates(), before);
}

#[test]
fn a_deleted_customer_s_backfill_closes_and_moves_nothing_of_it() {
    for customer in [Some("ada"), None] {
        let priced = credited_with("100");
        let fixture = &priced.fixture;
        priced.use_now("a", "7");
        let now = fixture.clock.now();
        let minute = Duration::from_secs(60);
        let timeframe = Timeframe::new(now, now.saturating_add(minute)).unwrap();
        let mut new = NewBackfill::new(timeframe);
        new.customer = customer.map(|name| external(name).into());
        let backfill = run(fixture.account.create_backfill(new)).unwrap();
        run(fixture.account.ingest_backfill(backfill.id, [event("ada", "b", now, "16")])).unwrap();
        run(fixture.account.delete_customer(priced.subscription.customer_id)).unwrap();
        fixture.messages();
        fixture.advance_days(2);
        fixture.apply_transitions();
        let reflected = block_on(fixture.account.fetch_backfill(backfill.id)).unwrap();
        assert_eq!(reflected.status, BackfillStatus::Reflected);
        let told: Vec<_> = fixture.messages().iter().map(|of| of.message_type()).collect();
        assert_eq!(told, ["backfill.reflected"]);
        assert_eq!(block_on(fixture.billing.next_deadline()).unwrap(), None);
    }
}
