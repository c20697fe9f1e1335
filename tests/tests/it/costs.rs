//! What a question about costs reads of the store, however long the history is.

use std::{sync::Arc, time::Duration};

use accrue::{
    Clock as _, Currency, SubscriptionId, Timeframe, Timestamp,
    cost::CostQuery,
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::MemoryStore,
    subscription::{BillingAnchor, NewSubscription},
};
use accrue_conformance::{Recorded, RecordingStore};
use accrue_tests::host::{Host, customer, event, instant, name, number};
use pollster::block_on;

struct Story {
    store: Arc<RecordingStore<MemoryStore>>,
    host: Host,
    subscription: SubscriptionId,
}

/// A subscription that has used so much on each of its days, all within one quarter of an hour.
fn story(days: u64, events_a_day: u64) -> Story {
    let store = Arc::new(RecordingStore::new(MemoryStore::new()));
    let host = Host::on(Arc::clone(&store));
    let metric = host.metric("SELECT sum(n) FROM events");
    let usd = Currency::parse("USD").unwrap();
    let model = Model::Unit(Unit::new(number("0.5")));
    let monthly =
        |named| NewPrice::builder(name(named), metric.item_id).billed(Cadence::Monthly, usd);
    let mut plan = NewPlan::new(name("plan"), usd);
    plan.prices = vec![
        monthly("usage").usage(metric.id, model).into(),
        monthly("fee").fee_in_advance(5.into()).into(),
    ];
    let subscription = block_on(async {
        let plan = host.account.create_plan(plan).await.unwrap().id;
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        let mut new = NewSubscription::new(ada, plan);
        new.anchor = BillingAnchor::SubscriptionStart;
        host.account.create_subscription(new).await.unwrap().id
    });
    for day in 0..days {
        let now = host.clock.now();
        let events = (0..events_a_day)
            .map(|n| event("ada", &format!("{day} {n}"), now, &[("n", 1_u64.into())]));
        block_on(host.account.ingest(events.collect::<Vec<_>>()).into_future()).unwrap();
        host.clock.advance(Duration::from_secs(24 * 60 * 60));
    }
    host.tick();
    Story { store, host, subscription }
}

impl Story {
    /// How many rows the store answered while a cost was computed, in a process that has computed it
    /// before.
    fn rows(&self, timeframe: Option<Timeframe>) -> usize {
        let query = CostQuery { timeframe: timeframe.into(), ..CostQuery::default() };
        for _ in 0..2 {
            self.store.take_log();
            let costs = block_on(self.host.account.subscription_costs(self.subscription, &query));
            assert!(!costs.unwrap()[0].total.is_zero());
        }
        let rows = self.store.take_log().into_iter().map(|call| match call {
            Recorded::Get { keys, .. } => keys.len(),
            Recorded::Scan { answer, .. } => answer.unwrap().len(),
            _ => 0,
        });
        rows.sum()
    }
}

fn between(start: &str, end: &str) -> Timeframe {
    let [start, end]: [Timestamp; 2] = [start, end].map(instant);
    Timeframe::new(start, end).unwrap()
}

#[test]
fn the_cost_of_the_current_period_reads_as_much_after_ten_times_the_events() {
    assert_eq!(story(20, 10).rows(None), story(20, 1).rows(None));
}

#[test]
fn the_cost_of_the_current_period_reads_as_much_after_ten_times_the_days() {
    // 400 days are 13 months and some days more.
    assert_eq!(story(400, 1).rows(None), story(40, 1).rows(None));
}

#[test]
fn the_cost_of_a_past_period_reads_as_much_after_ten_times_the_history() {
    let period = Some(between("2026-03-10T09:00:00Z", "2026-04-10T09:00:00Z"));
    let short = story(40, 1).rows(period);
    assert_eq!(story(400, 1).rows(period), short);
    assert_eq!(story(40, 10).rows(period), short, "quarters are added up, not events");
}

#[test]
fn a_cost_writes_nothing() {
    let story = story(40, 1);
    story.store.take_log();
    story.rows(Some(between("2026-03-10T09:00:00Z", "2026-04-10T09:00:00Z")));
    let query = CostQuery::default();
    block_on(story.host.account.subscription_costs(story.subscription, &query)).unwrap();
    let changes =
        story.store.take_log().into_iter().filter(
            |call| matches!(call, Recorded::Commit { batch, .. } if !batch.changes.is_empty()),
        );
    assert_eq!(changes.count(), 0);
}
