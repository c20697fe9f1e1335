//! Balances, blocks, entries and alerts on balances, as a naive bank recomputes them from what was
//! accepted.

use std::{sync::Arc, time::Duration};

use accrue::{
    Clock as _, Currency, CustomerId, Decimal, PageRequest, PricingUnit,
    alert::{NewAlert, NewBalanceAlert, Thresholds},
    credit::{
        CreditBalance, CreditBlock, CreditBlockFilter, EntryKind, LedgerEntry, LedgerFilter,
        NewLedgerEntry,
    },
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::MemoryStore,
    subscription::NewSubscription,
};
use accrue_conformance::{Recorded, RecordingStore};
use accrue_tests::{
    cases, credit,
    host::{Host, customer, event, name, number, thresholds},
    script::{self, Manner},
};
use pollster::block_on;
use proptest::prelude::*;

/// Before clocks change, near the end of a short month, and near the end of a year.
const BEGINNINGS: &[&str] = &[
    "2026-03-10T09:07:31.000001Z",
    "2028-02-28T23:50:00Z",
    "2025-01-31T00:00:00Z",
    "2026-10-24T22:30:00Z",
    "2025-12-31T18:29:59.999999Z",
];

proptest! {
    #![proptest_config(cases(150))]

    /// §7: the balance is the sum of the entries and of the blocks, and all three are those of the
    /// operations that were accepted; a committed entry never changes; what is refused writes
    /// nothing. None of it depends on how events are cut into batches, or on when `tick` runs.
    #[test]
    fn ledgers_and_messages_equal_those_of_the_bank(
        beginning in prop::sample::select(BEGINNINGS),
        opening in credit::opening(),
        steps in credit::script(),
        manner in script::manner(),
    ) {
        let single = Manner { batches: vec![1], ticks: vec![true] };
        for manner in [Manner::plain(), single, manner] {
            credit::run(beginning, &opening, &steps, &manner);
        }
    }
}

const fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 60 * 60)
}

/// A customer with 200 subscriptions, each with fees and an alert on them, and with as many blocks
/// of credits as there may be, which expire one by one in the course of a year.
fn crowd(host: &Host) -> CustomerId {
    let metric = host.metric("SELECT count(*) FROM events");
    let usd = Currency::parse("USD").unwrap();
    let credits = PricingUnit::parse("credits").unwrap();
    let unit = Unit::new(number("0.25"));
    let price = NewPrice::builder(name("price"), metric.item_id);
    let fee = price.clone().billed(Cadence::Monthly, usd).fee_in_advance(5.into());
    let usage = price.billed(Cadence::Monthly, credits.clone());
    let mut plan = NewPlan::new(name("price"), usd);
    plan.prices = vec![fee.into(), usage.usage(metric.id, Model::Unit(unit)).into()];
    block_on(async {
        let account = &host.account;
        let plan = account.create_plan(plan).await.unwrap().id;
        let alert = NewAlert::cost_exceeded(thresholds(&["1", "4"]));
        account.create_plan_alert(plan, alert).await.unwrap();
        let ada = account.create_customer(customer("ada")).await.unwrap().id;
        for _ in 0..200 {
            account.create_subscription(NewSubscription::new(ada, plan)).await.unwrap();
        }
        for block in 1..=200 {
            let expiry = host.clock.now().saturating_add(hours(43 * block));
            let new = NewLedgerEntry::expiring(credits.clone(), 1.into(), expiry);
            account.create_ledger_entry(ada, new).await.unwrap();
        }
        let levels = Thresholds::new((0..100).map(|n| Decimal::from(3 * n))).unwrap();
        let dropped = NewBalanceAlert::credit_balance_dropped(credits.clone(), levels);
        account.create_customer_alert(ada, dropped).await.unwrap();
        let depleted = NewBalanceAlert::credit_balance_depleted(credits);
        account.create_customer_alert(ada, depleted).await.unwrap();
        account.ingest([event("ada", "k", host.clock.now(), &[])]).await.unwrap();
        ada
    })
}

/// What a customer has, all its entries, and all its blocks.
fn answers(host: &Host, ada: CustomerId) -> (CreditBalance, Vec<LedgerEntry>, Vec<CreditBlock>) {
    let credits = PricingUnit::parse("credits").unwrap();
    let all = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
    block_on(async {
        let balance = host.account.credit_balance(ada, &credits).await.unwrap();
        let page = PageRequest::first_of_ledger(999).unwrap();
        let any = LedgerFilter::default();
        let entries = host.account.list_ledger_entries(ada, &credits, &any, &page).await.unwrap();
        let (mut page, mut blocks) = (PageRequest::first(100).unwrap(), Vec::new());
        loop {
            let found = host.account.list_credit_blocks(ada, &credits, &all, &page).await.unwrap();
            blocks.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        (balance, entries.data, blocks)
    })
}

/// The commits that changed something, by how many rows.
fn commits(store: &RecordingStore<MemoryStore>) -> Vec<usize> {
    let calls = store.take_log().into_iter();
    let sizes = calls.filter_map(|call| match call {
        Recorded::Commit { batch, .. } => Some(batch.changes.len()),
        _ => None,
    });
    sizes.filter(|size| *size > 0).collect()
}

/// §6: "every operation that writes applies what time has made due for the customer it touches, in
/// bounded commits of their own; a read computes as if applied and writes nothing".
///
/// The host's store panics where a commit exceeds the bounds.
#[test]
fn a_year_that_nobody_looked_at_is_applied_in_bounded_commits() {
    let store = Arc::new(RecordingStore::new(MemoryStore::new()));
    let host = Host::on(Arc::clone(&store));
    let ada = crowd(&host);
    let _ = host.drain();
    host.clock.advance(hours(366 * 24));
    commits(&store);
    let early = answers(&host, ada);
    assert!(commits(&store).is_empty(), "a read writes nothing");
    assert_eq!(early.0.balance, Some(Decimal::zero()));
    let expired =
        early.1.iter().filter(|entry| entry.entry_type.kind() == EntryKind::CreditBlockExpiry);
    // The 200 subscriptions took 50 of the first blocks.
    assert_eq!(expired.count(), 200 - 50);
    let mut ticks = 0_usize;
    while block_on(host.billing.tick(1)).unwrap().more {
        ticks += 1;
        // Where it has just begun, and then now and again: what is read is long.
        if ticks < 8 || ticks.is_multiple_of(8) {
            assert_eq!(answers(&host, ada), early, "whoever has applied how much");
        }
    }
    let sizes = commits(&store);
    assert!(sizes.len() > 2, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size < 8_192), "{sizes:?}");
    assert_eq!(answers(&host, ada), early);
    let told = host.drain();
    let of_kind = |kind: &str| told.iter().filter(|of| of.message_type() == kind).count();
    assert_eq!(of_kind("customer.credit_balance_depleted"), 1);
    // 147, 144, and so on down to zero.
    assert_eq!(of_kind("customer.credit_balance_dropped"), 50);
    // Each month the fee alone crosses both thresholds.
    assert_eq!(of_kind("subscription.cost_exceeded"), 200 * 12);
}

/// Wire 6.2: a page of a ledger has at most 1,000 entries.
#[test]
fn a_page_of_a_ledger_may_be_of_a_thousand_entries() {
    let host = Host::on(MemoryStore::new());
    let credits = PricingUnit::parse("credits").unwrap();
    block_on(async {
        let ada = host.account.create_customer(customer("ada")).await.unwrap().id;
        let new = NewLedgerEntry::increment(credits.clone(), 1.into());
        host.account.create_ledger_entry(ada, new).await.unwrap();
        let page = PageRequest::first_of_ledger(1_000).unwrap();
        let any = LedgerFilter::default();
        let entries = host.account.list_ledger_entries(ada, &credits, &any, &page).await.unwrap();
        assert_eq!(entries.data.len(), 1);
    });
}

/// §7: an event draws what it adds to the cost of the usage prices together, whatever their order.
#[test]
fn an_event_draws_what_its_prices_come_to_together() {
    for amounts in [["5", "-1.5"], ["-1.5", "5"]] {
        let host = Host::on(MemoryStore::new());
        let metric = host.metric("SELECT count(*) FROM events");
        let credits = PricingUnit::parse("credits").unwrap();
        let mut plan = NewPlan::new(name("plan"), Currency::parse("USD").unwrap());
        let price = |amount: &str| {
            let model = Model::Unit(Unit::new(number(amount)));
            NewPrice::builder(name("price"), metric.item_id)
                .billed(Cadence::Monthly, credits.clone())
                .usage(metric.id, model)
                .into()
        };
        plan.prices = amounts.map(price).into();
        block_on(async {
            let account = &host.account;
            let plan = account.create_plan(plan).await.unwrap().id;
            let ada = account.create_customer(customer("ada")).await.unwrap().id;
            account.create_subscription(NewSubscription::new(ada, plan)).await.unwrap();
            let ten = NewLedgerEntry::increment(credits.clone(), 10.into());
            account.create_ledger_entry(ada, ten).await.unwrap();
            account.ingest([event("ada", "k", host.clock.now(), &[])]).await.unwrap();
            let balance = account.credit_balance(ada, &credits).await.unwrap().balance;
            assert_eq!(balance, Some(number("6.5")), "prices of {amounts:?}");
        });
    }
}
