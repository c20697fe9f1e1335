//! What a process reads of a customer that it has not served is guessed from what was asked for before
//! (`docs/decisions/footprints-of-customers.md`).

use std::sync::Arc;

use accrue::{
    Account, AccountId, Billing, Email, IdempotencyKey, ManualClock, SeededEntropy,
    customer::NewCustomer,
    plan::Plan,
    store::{Batch, MemoryStore, Scan, Store},
};

use crate::support::{
    counting::Counting,
    credited::credited_with,
    fixture::{Fixture, NOON, SUM, at, block_on, event, external, name, run, usage_alert},
    priced::{cost_alert, metered},
};

/// A process that has served others on a store, and how often it has asked that.
struct Cold {
    account: Account,
    store: Arc<Counting>,
}

impl Cold {
    fn on(fixture: &Fixture, seed: u64) -> Self {
        let store = Arc::new(Counting::on(Arc::clone(&fixture.store)));
        let cold = Self { account: process(Arc::clone(&store), &fixture.clock, seed), store };
        cold.ingest("somebody", &format!("of {seed}"));
        cold
    }

    /// Ingests an event under an idempotency key, and returns how many calls of the store that took.
    fn ingest(&self, of: &str, key: &str) -> usize {
        self.store.reset();
        let used = event(of, key, at(NOON), "1");
        let call = self.account.ingest([used]).keyed(IdempotencyKey::parse(key).unwrap());
        assert_eq!(block_on(call.into_future()).unwrap().outcome.ingested, 1);
        self.store.calls()
    }
}

fn process(store: impl Store, clock: &ManualClock, seed: u64) -> Account {
    let billing = Billing::new(store, clock.clone(), SeededEntropy::new(seed));
    billing.account(AccountId::parse("acme").unwrap())
}

/// Has somebody on the plan of a fixture, with an alert on cost, so that a process that serves them knows what an account
/// has.
fn serve_somebody(fixture: &Fixture, plan: &Plan) {
    let subscription = fixture.subscribe(fixture.customer("somebody").id, plan);
    let alert = cost_alert(&["1000"]);
    run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
}

/// Deletes the footprints of a store.
fn forget(store: &MemoryStore) -> usize {
    let table = accrue::schema::TABLES.iter().find(|table| table.name() == "footprint").unwrap();
    let rows = block_on(store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap();
    let batch = rows.iter().fold(Batch::new(), |batch, row| batch.delete(row.key.clone()));
    block_on(store.commit(batch)).unwrap();
    rows.len()
}

#[test]
fn the_first_event_in_a_process_costs_three_calls_of_the_store() {
    let priced = metered();
    serve_somebody(&priced.fixture, &priced.plan);
    priced.alert(usage_alert(priced.metric.id, &["100"]));
    priced.alert(cost_alert(&["100"]));
    priced.use_now("first", "1");
    for seed in 2..5 {
        let cold = Cold::on(&priced.fixture, seed);
        assert_eq!(
            cold.ingest("ada", &format!("a {seed}")),
            3,
            "the name, what it needs, the commit"
        );
        assert_eq!(cold.ingest("ada", &format!("b {seed}")), 1);
    }
}

#[test]
fn an_event_that_draws_credits_costs_three_calls_too() {
    let priced = credited_with("100");
    serve_somebody(&priced.fixture, &priced.plan);
    priced.use_now("first", "1");
    for seed in 2..5 {
        let cold = Cold::on(&priced.fixture, seed);
        assert_eq!(cold.ingest("ada", &format!("a {seed}")), 3);
    }
    assert_eq!(priced.balance().as_deref(), Some("96"));
}

#[test]
fn a_batch_of_500_customers_costs_three_calls() {
    let fixture = Fixture::new();
    fixture.metric(SUM);
    let plan = fixture.plan();
    serve_somebody(&fixture, &plan);
    let names: Vec<_> = (0..500).map(|number| format!("customer-{number}")).collect();
    for name in &names {
        let subscription = fixture.subscribe(fixture.customer(name).id, &plan);
        let alert = cost_alert(&["1000"]);
        run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
        fixture.use_now(name, name, "1");
    }
    let cold = Cold::on(&fixture, 2);
    cold.store.reset();
    let events = names.iter().map(|name| event(name, &format!("{name} again"), at(NOON), "1"));
    assert_eq!(run(cold.account.ingest(events.collect::<Vec<_>>())).unwrap().ingested, 500);
    assert_eq!(cold.store.calls(), 3);
}

#[test]
fn what_was_not_guessed_is_asked_for_and_guessed_from_then_on() {
    let priced = metered();
    serve_somebody(&priced.fixture, &priced.plan);
    priced.use_now("first", "1");
    let other = priced.fixture.subscribe(priced.customer, &priced.plan);
    let calls = Cold::on(&priced.fixture, 2).ingest("ada", "a");
    assert!(calls > 3, "nobody had asked for the second subscription: {calls}");
    assert_eq!(Cold::on(&priced.fixture, 3).ingest("ada", "b"), 3);
    assert_eq!(priced.fixture.usage(&other, &priced.metric).as_deref(), Some("3"));
}

/// The name of one who was deleted is the name of another customer: the rows of the first are not read for the second.
#[test]
fn what_was_guessed_of_another_of_that_name_is_not_read() {
    let priced = metered();
    let fixture = &priced.fixture;
    serve_somebody(fixture, &priced.plan);
    priced.use_now("first", "1");
    run(fixture.account.delete_customer(priced.customer)).unwrap();
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(external("ada"));
    let second = run(fixture.account.create_customer(new)).unwrap().id;
    let pro = fixture.subscribe(second, &priced.plan);
    fixture.subscribe(fixture.customer("eve").id, &priced.plan);
    let cold = Cold::on(fixture, 2);
    cold.ingest("eve", "of eve");
    let of_one_without = cold.store.keys();
    cold.ingest("ada", "a");
    assert_eq!(cold.store.keys(), of_one_without);
    assert_eq!(Cold::on(fixture, 3).ingest("ada", "b"), 3);
    assert_eq!(fixture.usage(&pro, &priced.metric).as_deref(), Some("2"));
}

#[test]
fn a_footprint_that_is_gone_costs_calls_and_nothing_else() {
    let priced = credited_with("100");
    serve_somebody(&priced.fixture, &priced.plan);
    priced.use_now("first", "1");
    assert!(forget(&priced.fixture.store) > 0);
    let calls = Cold::on(&priced.fixture, 2).ingest("ada", "a");
    assert!(calls > 3, "{calls}");
    assert_eq!(priced.balance().as_deref(), Some("98"));
    assert_eq!(Cold::on(&priced.fixture, 3).ingest("ada", "b"), 3);
}
