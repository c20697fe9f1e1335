//! What must fit one commit fits beside ledgers with many blocks too.

use std::time::Duration;

use accrue::{
    Clock as _, CustomerId, Decimal, MetricId, PlanId, PricingUnit,
    credit::NewLedgerEntry,
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::MemoryStore,
    subscription::NewSubscription,
    usage::Event,
};
use accrue_tests::host::{Host, customer, event, name, number};
use pollster::block_on;

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

/// A plan whose usage is one credit for each unit of a metric.
fn plan(host: &Host, sql: &str) -> PlanId {
    let metric = host.metric(sql);
    let mut plan = NewPlan::new(name("plan"), accrue::Currency::parse("USD").unwrap());
    plan.prices = vec![price(metric.item_id, metric.id).into()];
    block_on(host.account.create_plan(plan).into_future()).unwrap().id
}

fn price(item: accrue::ItemId, metric: MetricId) -> NewPrice {
    let one = Model::Unit(Unit::new(number("1")));
    NewPrice::builder(name("usage"), item).billed(Cadence::Monthly, credits()).usage(metric, one)
}

/// A customer with so many subscriptions, and so many blocks that expire one after the other; the
/// first has as many strings as a block can.
fn subscriber(host: &Host, external: &str, plan: PlanId, subscriptions: u64, blocks: u64) {
    let now = host.clock.now();
    let strings = (0..50).map(|n| (format!("{n}"), "x".repeat(500))).collect();
    let account = &host.account;
    block_on(async {
        let id: CustomerId = account.create_customer(customer(external)).await.unwrap().id;
        for _ in 0..subscriptions {
            account.create_subscription(NewSubscription::new(id, plan)).await.unwrap();
        }
        let mut first = NewLedgerEntry::increment(credits(), Decimal::from(10));
        first.metadata = strings;
        account.create_ledger_entry(id, first).await.unwrap();
        for n in 1..blocks {
            let expiry = now.saturating_add(Duration::from_secs(n * 3_600));
            let block = NewLedgerEntry::expiring(credits(), Decimal::from(10), expiry);
            account.create_ledger_entry(id, block).await.unwrap();
        }
    });
}

fn balance(host: &Host, external: &str) -> Decimal {
    let external = accrue_tests::host::external(external);
    let credits = credits();
    let balance = host.account.credit_balance(external, &credits);
    block_on(balance).unwrap().balance.unwrap()
}

#[test]
fn a_thousand_events_that_move_200_subscriptions_up_and_down_fit() {
    let host = Host::on(MemoryStore::new());
    let plan = plan(&host, "SELECT latest(n) FROM events");
    subscriber(&host, "ada", plan, 200, 150);
    let now = host.clock.now();
    let events: Vec<Event> = (0..1_000_u64)
        .map(|n| event("ada", &format!("{n:0>4}"), now, &[("n", (n % 2).into())]))
        .collect();
    assert_eq!(block_on(host.account.ingest(events).into_future()).unwrap().ingested, 1_000);
    // The last one is one unit for each of the 200.
    assert_eq!(balance(&host, "ada"), Decimal::from(1_500 - 200));
}

#[test]
fn a_thousand_events_of_a_thousand_customers_with_many_blocks_fit() {
    let host = Host::on(MemoryStore::new());
    let plan = plan(&host, "SELECT sum(n) FROM events");
    for n in 0..1_000 {
        subscriber(&host, &format!("c{n}"), plan, 2, 30);
    }
    let now = host.clock.now();
    let events: Vec<Event> = (0..1_000)
        .map(|n| event(&format!("c{n}"), &format!("{n}"), now, &[("n", 50_u64.into())]))
        .collect();
    assert_eq!(block_on(host.account.ingest(events).into_future()).unwrap().ingested, 1_000);
    assert_eq!(balance(&host, "c7"), Decimal::from(300 - 100));
}
