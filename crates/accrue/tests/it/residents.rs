//! Copies that a process keeps of customers, where other processes write too: one that is too old is never
//! wrong, only slow (`docs/decisions/resident-copies.md`).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use accrue::{
    Account, AccountId, Billing, Call, Decimal, Email, Error, IdempotencyKey, ManualClock,
    PageRequest, PricingUnit, SeededEntropy, Timeframe,
    backfill::NewBackfill,
    cost::CostQuery,
    credit::NewLedgerEntry,
    customer::NewCustomer,
    metric::{MetricQuery, NewMetric},
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
    subscription::Subscription,
    usage::Event,
    webhook::Body,
};
use async_trait::async_trait;
use proptest::{collection::vec, prelude::*};

use crate::support::{
    counting::Counting,
    fixture::{Fixture, NOON, SUM, at, block_on, event, external, name, number, run, usage_alert},
};

/// Two processes on one store.
struct Two {
    fixture: Fixture,
    store: Arc<Counting>,
    here: Account,
    there: Account,
}

impl Two {
    fn new() -> Self {
        let fixture = Fixture::new();
        let store = Arc::new(Counting::on(Arc::clone(&fixture.store)));
        let here = process(Arc::clone(&store), &fixture.clock, 2);
        let there = process(Arc::clone(&fixture.store), &fixture.clock, 3);
        Self { fixture, store, here, there }
    }

    /// How often the store was asked for it.
    fn calls<T>(&self, what: impl FnOnce() -> T) -> (T, usize) {
        self.store.reset();
        (what(), self.store.calls())
    }
}

fn process(store: impl Store, clock: &ManualClock, seed: u64) -> Account {
    let billing = Billing::new(store, clock.clone(), SeededEntropy::new(seed));
    billing.account(AccountId::parse("acme").unwrap())
}

fn used(of: &str, key: &str, n: &str) -> Event {
    event(of, key, at(NOON), n)
}

/// Ingests under an idempotency key.
fn keyed(account: &Account, event: Event, key: &str) -> usize {
    let call = account.ingest([event]).keyed(IdempotencyKey::parse(key).unwrap());
    block_on(call.into_future()).unwrap().outcome.ingested
}

fn usage(account: &Account, subscription: &Subscription) -> String {
    let usage = block_on(account.subscription_usage(subscription.id)).unwrap();
    usage.metrics[0].quantity.as_ref().map_or("none".to_owned(), Decimal::to_string)
}

#[test]
fn a_customer_that_was_served_before_costs_one_call_of_the_store() {
    let two = Two::new();
    let metric = two.fixture.metric(SUM);
    let ada = two.fixture.customer("ada").id;
    let pro = two.fixture.subscribe(ada, &two.fixture.plan());
    run(two.fixture.account.create_subscription_alert(pro.id, usage_alert(metric.id, &["100"])))
        .unwrap();
    keyed(&two.here, used("ada", "a", "1"), "a");
    // The second is the first that adds to rows.
    keyed(&two.here, used("ada", "b", "1"), "b");
    let (_, calls) = two.calls(|| keyed(&two.here, used("ada", "c", "1"), "c"));
    assert_eq!((calls, two.store.keys()), (1, 0));
    usage(&two.here, &pro);
    let (found, calls) = two.calls(|| usage(&two.here, &pro));
    assert_eq!((found.as_str(), calls), ("3", 1));
    let costs = || block_on(two.here.subscription_costs(pro.id, &CostQuery::default()));
    costs().unwrap();
    assert_eq!(two.calls(|| costs().unwrap()).1, 1);
}

#[test]
fn a_customer_that_another_process_has_served_costs_one_read_more() {
    let two = Two::new();
    two.fixture.metric(SUM);
    let ada = two.fixture.customer("ada").id;
    let pro = two.fixture.subscribe(ada, &two.fixture.plan());
    for key in ["a", "b"] {
        keyed(&two.here, used("ada", key, "1"), key);
    }
    keyed(&two.there, used("ada", "c", "1"), "c");
    // The commit loses, everything is read at once, and the next commit wins.
    let (ingested, calls) = two.calls(|| keyed(&two.here, used("ada", "d", "1"), "d"));
    assert_eq!((ingested, calls), (1, 3));
    assert_eq!(two.calls(|| keyed(&two.here, used("ada", "e", "1"), "e")).1, 1);
    usage(&two.here, &pro);
    keyed(&two.there, used("ada", "f", "1"), "f");
    // A read asks the store whether what it has found holds.
    let (found, calls) = two.calls(|| usage(&two.here, &pro));
    assert_eq!((found.as_str(), calls), ("6", 3));
}

#[test]
fn a_batch_whose_copies_are_all_too_old_is_run_twice() {
    let two = Two::new();
    two.fixture.metric(SUM);
    let names: Vec<_> = (0..20).map(|n| format!("customer-{n}")).collect();
    for name in &names {
        two.fixture.customer(name);
    }
    let batch = |round: &str| {
        let events = names.iter().map(|name| used(name, &format!("{name} {round}"), "1"));
        events.collect::<Vec<_>>()
    };
    for round in ["first", "second"] {
        run(two.here.ingest(batch(round))).unwrap();
    }
    assert_eq!(two.calls(|| run(two.here.ingest(batch("third"))).unwrap()).1, 1);
    run(two.there.ingest(batch("there"))).unwrap();
    let (found, calls) = two.calls(|| run(two.here.ingest(batch("last"))).unwrap());
    assert_eq!((found.ingested, calls), (20, 3));
}

#[test]
fn a_name_that_is_another_customers_now_is_that_ones() {
    let two = Two::new();
    two.fixture.metric(SUM);
    let plan = two.fixture.plan();
    let first = two.fixture.customer("ada").id;
    keyed(&two.here, used("ada", "a", "1"), "a");
    keyed(&two.here, used("ada", "b", "1"), "b");
    run(two.there.delete_customer(first)).unwrap();
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(external("ada"));
    let second = run(two.there.create_customer(new)).unwrap().id;
    let pro = two.fixture.subscribe(second, &plan);
    assert_eq!(keyed(&two.here, used("ada", "c", "5"), "c"), 1);
    assert_eq!(usage(&two.here, &pro), "5");
    assert_eq!(block_on(two.here.fetch_customer(external("ada"))).unwrap().id, second);
    assert!(block_on(two.here.customer_costs(first, &CostQuery::default())).is_err());
}

#[test]
fn a_name_that_goes_from_one_to_the_next_is_followed() {
    let two = Two::new();
    let metric = two.fixture.metric(SUM).id;
    let rename = |of: &Account| {
        let old = block_on(of.fetch_customer(external("ada"))).unwrap().id;
        run(of.delete_customer(old)).unwrap();
        let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
        new.external_customer_id = Some(external("ada"));
        run(of.create_customer(new)).unwrap().id
    };
    let first = two.fixture.customer("ada").id;
    for key in ["a", "b"] {
        keyed(&two.here, used("ada", key, "1"), key);
    }
    // The copy of the first has lost a race since, and so has that of the second.
    let mut ids = vec![first];
    for round in ["c", "d", "e"] {
        ids.push(rename(&two.there));
        keyed(&two.here, used("ada", round, "1"), round);
        ids.push(rename(&two.there));
        let last = *ids.last().unwrap();
        let granted = NewLedgerEntry::increment(credits(), Decimal::from(1));
        run(two.here.create_ledger_entry(last, granted)).unwrap();
        let again = format!("{round} again");
        keyed(&two.here, used("ada", &again, "2"), &again);
        let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
        let figure = block_on(two.here.usage_between(last, metric, day)).unwrap();
        assert_eq!(figure, Some(Decimal::from(2)), "{round}");
    }
}

/// A preview writes in vain: what it would have removed is still there.
#[test]
fn what_a_preview_would_remove_is_still_there() {
    let two = Two::new();
    let metric = two.fixture.metric(SUM).id;
    let ada = two.fixture.customer("ada").id;
    let hour = |start: &str, end: &str| Timeframe::new(at(start), at(end)).unwrap();
    let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    run(two.here.ingest([used("ada", "a", "7")])).unwrap();
    let mut new = NewBackfill::new(hour("2026-03-10T11:00:00Z", "2026-03-10T12:30:00Z"));
    new.replace_existing_events = true;
    let backfill = run(two.here.create_backfill(new)).unwrap().id;
    let close = || two.here.close_backfill(backfill);
    block_on(close().preview()).unwrap();
    run(two.here.ingest([used("ada", "b", "1")])).unwrap();
    for process in [&two.here, &two.there] {
        let figure = block_on(process.usage_between(ada, metric, day)).unwrap();
        assert_eq!(figure, Some(Decimal::from(8)));
    }
}

#[test]
fn what_another_process_has_configured_is_so_here() {
    let two = Two::new();
    two.fixture.metric(SUM);
    let ada = two.fixture.customer("ada").id;
    let pro = two.fixture.subscribe(ada, &two.fixture.plan());
    keyed(&two.here, used("ada", "a", "2"), "a");
    keyed(&two.here, used("ada", "b", "2"), "b");
    let item = two.fixture.item().id;
    let max =
        NewMetric::new(name("max"), item, MetricQuery::parse("SELECT max(n) FROM events").unwrap());
    let max = run(two.there.create_metric(max)).unwrap();
    run(two.there.create_subscription_alert(pro.id, usage_alert(max.id, &["7"]))).unwrap();
    keyed(&two.here, used("ada", "c", "7"), "c");
    let usage = block_on(two.here.subscription_usage(pro.id)).unwrap();
    let figures: Vec<_> = usage.metrics.iter().map(|of| of.quantity.clone().unwrap()).collect();
    assert_eq!(figures, [number("11"), number("7")]);
    assert_eq!(two.fixture.fired(), ["7: 2 -> 7"]);
}

/// What is to become of the next commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is made, and nobody hears of it.
    Lost,
    /// It is not made, and nobody knows.
    Dropped,
    /// It is made later, and nobody knows.
    Late,
}

/// A store that several processes share, which does to commits what it is told.
#[derive(Debug, Default)]
struct Doubtful {
    store: MemoryStore,
    next: Mutex<Option<Fate>>,
    late: Mutex<Vec<Batch>>,
}

impl Doubtful {
    /// Makes the commits that are late.
    fn settle(&self) {
        for batch in std::mem::take(&mut *self.late.lock().unwrap()) {
            block_on(self.store.commit(batch)).unwrap();
        }
    }
}

#[async_trait]
impl Store for Doubtful {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let fate = match batch.changes.is_empty() {
            true => None,
            false => self.next.lock().unwrap().take(),
        };
        match fate {
            None => return self.store.commit(batch).await,
            Some(Fate::Lost) => drop(self.store.commit(batch).await?),
            Some(Fate::Dropped) => {}
            Some(Fate::Late) => self.late.lock().unwrap().push(batch),
        }
        Err(StoreError::indeterminate("on purpose"))
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Use(u64),
    Grant(u64),
    /// An event that was sent before, under another idempotency key.
    Again(usize),
    Read,
    /// Commits that are late are made.
    Settle,
}

/// What a process does with a customer, and what becomes of its commit.
#[derive(Clone, Copy, Debug)]
struct Step {
    process: usize,
    customer: usize,
    act: Act,
    fate: Option<Fate>,
}

const NAMES: [&str; 3] = ["ada", "bob", "eve"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let act = prop_oneof![
        6 => (1_u64..5).prop_map(Act::Use),
        2 => (1_u64..5).prop_map(Act::Grant),
        1 => any::<usize>().prop_map(Act::Again),
        2 => Just(Act::Read),
        1 => Just(Act::Settle),
    ];
    let fates = vec![Fate::Lost, Fate::Dropped, Fate::Late];
    let fate = proptest::option::weighted(0.25, proptest::sample::select(fates));
    let step = (0_usize..3, 0_usize..3, act, fate)
        .prop_map(|(process, customer, act, fate)| Step { process, customer, act, fate });
    vec(step, 1..40)
}

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

/// Asks again, from one process after the other, until it is known what has become of it.
fn settled<T>(processes: &[Account], first: usize, key: &str, call: impl Fn(&Account) -> Call<T>)
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    for process in processes.iter().cycle().skip(first).take(processes.len() + 1) {
        let call = call(process).keyed(IdempotencyKey::parse(key).unwrap());
        match block_on(call.into_future()) {
            Ok(_) => return,
            Err(error) => assert!(error.can_be_retried(), "{error:?}"),
        }
    }
    panic!("{key} is not done");
}

fn balance(process: &Account, customer: &str) -> Decimal {
    let balance = block_on(process.credit_balance(external(customer), &credits())).unwrap();
    balance.balance.unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn several_processes_have_the_figures_of_one(steps in steps()) {
        let store = Arc::new(Doubtful::default());
        let clock = ManualClock::at(at(NOON));
        let processes: Vec<_> =
            (0..3).map(|n| process(Arc::clone(&store), &clock, 10 + n)).collect();
        let fixture = Fixture {
            store: Arc::default(),
            clock: clock.clone(),
            billing: processes[0].billing().clone(),
            account: processes[0].clone(),
        };
        let metric = fixture.metric(SUM);
        let plan = fixture.plan();
        let subscriptions = NAMES.map(|name| {
            let pro = fixture.subscribe(fixture.customer(name).id, &plan);
            let alert = usage_alert(metric.id, &["5", "9", "14"]);
            run(fixture.account.create_subscription_alert(pro.id, alert)).unwrap();
            pro
        });
        fixture.messages();

        let mut sent: Vec<Event> = Vec::new();
        let (mut uses, mut grants) = ([0_u64; 3], [0_u64; 3]);
        for (number, Step { process, customer, act, fate }) in steps.into_iter().enumerate() {
            let key = format!("request-{number}");
            *store.next.lock().unwrap() = fate;
            match act {
                Act::Use(n) => {
                    let event = used(NAMES[customer], &format!("event-{number}"), &n.to_string());
                    settled(&processes, process, &key, |of| of.ingest([event.clone()]));
                    sent.push(event);
                    uses[customer] += n;
                }
                Act::Again(index) => {
                    let Some(event) = index.checked_rem(sent.len()).map(|at| &sent[at]) else {
                        continue;
                    };
                    settled(&processes, process, &key, |of| of.ingest([event.clone()]));
                }
                Act::Grant(n) => {
                    settled(&processes, process, &key, |of| {
                        let entry = NewLedgerEntry::increment(credits(), Decimal::from(n));
                        of.create_ledger_entry(external(NAMES[customer]), entry)
                    });
                    grants[customer] += n;
                }
                Act::Read => {
                    let found = usage(&processes[process], &subscriptions[customer]);
                    prop_assert_eq!(found, uses[customer].to_string());
                    let found = balance(&processes[process], NAMES[customer]);
                    prop_assert_eq!(found, Decimal::from(grants[customer]));
                }
                Act::Settle => store.settle(),
            }
        }
        store.settle();
        let page = PageRequest::first_of_messages(1_000).unwrap();
        let mut fired = BTreeMap::<_, Vec<_>>::new();
        for message in block_on(processes[0].list_messages(&page)).unwrap().data {
            if let Body::UsageExceeded(exceeded) = &message.body {
                let of = exceeded.subscription_id;
                fired.entry(of).or_default().extend(exceeded.thresholds.iter().cloned());
            }
        }
        for (index, pro) in subscriptions.iter().enumerate() {
            for process in &processes {
                prop_assert_eq!(usage(process, pro), uses[index].to_string());
                prop_assert_eq!(balance(process, NAMES[index]), Decimal::from(grants[index]));
            }
            let mut found = fired.remove(&pro.id).unwrap_or_default();
            found.sort();
            let crossed = [5_u64, 9, 14].into_iter().filter(|threshold| *threshold <= uses[index]);
            prop_assert_eq!(found, crossed.map(Decimal::from).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_commit_of_which_nothing_is_known_is_found_out() {
    let store = Arc::new(Doubtful::default());
    let clock = ManualClock::at(at(NOON));
    let account = process(Arc::clone(&store), &clock, 1);
    let fixture =
        Fixture { store: Arc::default(), clock, billing: account.billing().clone(), account };
    fixture.metric(SUM);
    let pro = fixture.subscribe(fixture.customer("ada").id, &fixture.plan());
    fixture.use_now("ada", "a", "1");
    for (fate, key, ingested) in
        [(Fate::Lost, "b", 0), (Fate::Dropped, "c", 1), (Fate::Late, "d", 1)]
    {
        *store.next.lock().unwrap() = Some(fate);
        let ingest = || run(fixture.account.ingest([used("ada", key, "1")]));
        let unknown: Error = ingest().unwrap_err();
        assert!(!unknown.can_be_retried(), "{fate:?}: {unknown:?}");
        assert_eq!(ingest().unwrap().ingested, ingested, "{fate:?}");
        // One that is late comes to nothing: somebody has gone on.
        store.settle();
    }
    assert_eq!(usage(&fixture.account, &pro), "4");
}
