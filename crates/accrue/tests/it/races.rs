use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use accrue::{
    Account, AccountId, Billing, Decimal, SeededEntropy,
    cost::PriceEvaluation,
    credit::{CreditBlockFilter, LedgerEntry, LedgerFilter, NewLedgerEntry},
    expression::Expression,
    plan::{DefaultVersion, NewPlan, NewPlanVersion, PlanPrice, PlanVersion},
    price::Cadence,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
    subscription::{Cancellation, NewSubscription},
};
use async_trait::async_trait;

use crate::support::{
    credited::{self, CREDITS, decrement, dropped, expiring, increment},
    fixture::{
        COUNT, Fixture, SUM, at, block_on, event, external, name, run, thresholds, usage_alert, usd,
    },
    priced::{between, cost_alert, unit},
};

/// A store on which somebody else acts right before the n-th call.
struct Interrupted {
    store: Arc<MemoryStore>,
    calls: AtomicUsize,
    at: usize,
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Interrupted {
    fn count(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.at
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupted")
    }
}

#[async_trait]
impl Store for Interrupted {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.count();
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.count();
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.count();
        self.store.commit(batch).await
    }
}

/// Lets another process act before every call that an operation makes, in turn.
pub(crate) fn at_every_call(
    set_up: impl Fn(&Fixture),
    operation: impl Fn(&Account),
    other: impl Fn(&Account) + Clone + Send + 'static,
    check: impl Fn(&Fixture),
) {
    for at in 0.. {
        let fixture = Fixture::new();
        set_up(&fixture);
        let [theirs] = handles(&fixture, 1).try_into().unwrap();
        let other = other.clone();
        let store = Arc::new(Interrupted {
            store: Arc::clone(&fixture.store),
            calls: AtomicUsize::new(0),
            at,
            act: Mutex::new(Some(Box::new(move || other(&theirs)))),
        });
        let ours = Billing::new(Arc::clone(&store), fixture.clock.clone(), SeededEntropy::new(7));
        operation(&ours.account(AccountId::parse("acme").unwrap()));
        let has_acted = store.act.lock().unwrap().is_none();
        if !has_acted {
            assert!(at > 3, "the operation makes {at} calls");
            return;
        }
        check(&fixture);
    }
}

#[test]
fn a_duplicate_that_gets_in_between_is_a_success() {
    let ingest = |account: &Account| {
        let now = at("2026-03-10T12:00:00Z");
        let batch = ["a", "b"].map(|key| event(key, key, now, "1"));
        let ingestion = run(account.ingest(batch)).unwrap();
        assert_eq!(ingestion.ingested + ingestion.duplicates, 2);
    };
    at_every_call(
        |_| {},
        ingest,
        ingest,
        |fixture| {
            let rows = fixture.dump();
            assert_eq!(rows.iter().filter(|row| row.contains("event:")).count(), 2);
        },
    );
}

#[test]
fn usage_that_gets_in_between_is_counted_by_a_subscription_in_the_past() {
    let now = || at("2026-03-10T12:00:00Z");
    let set_up = |fixture: &Fixture| {
        fixture.metric("SELECT count(DISTINCT n) FROM events");
        fixture.customer("ada");
        fixture.plan();
        fixture.use_now("ada", "a", "1");
    };
    let subscribe = |account: &Account| {
        let customer = block_on(account.fetch_customer(external("ada"))).unwrap();
        let plans = block_on(account.list_plans(&Default::default(), &Default::default())).unwrap();
        let mut new = NewSubscription::new(customer.id, plans.data[0].id);
        new.start_date = Some(at("2026-03-01T00:00:00Z"));
        run(account.create_subscription(new)).unwrap();
    };
    let ingest = move |account: &Account| {
        run(account.ingest([event("ada", "b", now(), "2")])).unwrap();
    };
    at_every_call(set_up, subscribe, ingest, |fixture| {
        let account = &fixture.account;
        let page = Default::default();
        let all = block_on(account.list_subscriptions(&Default::default(), &page)).unwrap();
        let usage = block_on(account.subscription_usage(all.data[0].id)).unwrap();
        assert_eq!(usage.metrics[0].quantity, Some(2.into()));
    });
}

#[test]
fn an_alert_fires_once_whatever_gets_in_between() {
    let set_up = |fixture: &Fixture| {
        let metric = fixture.metric(SUM);
        let plan = fixture.plan();
        fixture.subscribe(fixture.customer("ada").id, &plan);
        fixture.use_now("ada", "a", "5");
        run(fixture.account.create_plan_alert(plan.id, usage_alert(metric.id, &["5", "10"])))
            .unwrap();
    };
    let ingest = |account: &Account| {
        run(account.ingest([event("ada", "b", at("2026-03-10T12:00:00Z"), "5")])).unwrap();
    };
    let apply = {
        move |account: &Account| {
            let page = Default::default();
            let all = block_on(account.list_subscriptions(&Default::default(), &page)).unwrap();
            let date = Cancellation::RequestedDate(at("2026-03-20T00:00:00Z"));
            run(account.cancel_subscription(all.data[0].id, date)).unwrap();
        }
    };
    at_every_call(set_up, ingest, apply, |fixture| {
        while block_on(fixture.billing.tick(10)).unwrap().more {}
        assert_eq!(fixture.fired(), ["5: 5 -> 5", "10: 5 -> 10"]);
    });
}

#[test]
fn a_turn_is_told_once_whatever_gets_in_between() {
    let set_up = |fixture: &Fixture| {
        let metric = fixture.metric(SUM);
        let prices = [fixture.usage_at("1", &metric), fixture.advance_fee("5")];
        let plan = fixture.priced_plan(prices.map(PlanPrice::from));
        fixture.subscribe(fixture.customer("ada").id, &plan);
        run(fixture.account.create_plan_alert(plan.id, cost_alert(&["5", "6"]))).unwrap();
        fixture.tick();
        fixture.drain();
        fixture.set("2026-04-11T00:00:00Z");
    };
    let ingest = |account: &Account| {
        run(account.ingest([event("ada", "a", at("2026-04-11T00:00:00Z"), "1")])).unwrap();
    };
    let tick = |account: &Account| while block_on(account.billing().tick(10)).unwrap().more {};
    let change = |account: &Account| {
        let (page, any) = (Default::default(), accrue::ListFilter::default());
        let all = block_on(account.list_subscriptions(&Default::default(), &page)).unwrap();
        let alerts = account.list_subscription_alerts(all.data[0].id, &any, &page);
        let alert = block_on(alerts).unwrap().data[0].id;
        run(account.update_alert(alert, thresholds(&["6", "5"]))).unwrap();
    };
    let check = |fixture: &Fixture| {
        ingest(&fixture.account);
        tick(&fixture.account);
        let expect =
            ["cost 5: none -> 5 by period 2026-04-10T12:00:00Z", "cost 6: 5 -> 6 by event a"];
        assert_eq!(fixture.told(), expect);
    };
    at_every_call(set_up, ingest, tick, check);
    at_every_call(set_up, tick, ingest, check);
    at_every_call(set_up, ingest, change, check);
    at_every_call(set_up, tick, change, check);
}

/// A customer `ada` whose use costs one credit each, with two blocks of 5, and an alert at 3.
fn with_credits(fixture: &Fixture) {
    let metric = fixture.metric(SUM);
    let mut price = fixture.usage_at("1", &metric);
    price.currency = unit(CREDITS);
    let plan = fixture.priced_plan([price.into()]);
    let ada = fixture.customer("ada").id;
    fixture.subscribe(ada, &plan);
    for new in [expiring("5", "2026-03-12T00:00:00Z"), increment("5")] {
        run(fixture.account.create_ledger_entry(ada, new)).unwrap();
    }
    run(fixture.account.create_customer_alert(ada, dropped(&["3"]))).unwrap();
    fixture.tick();
    fixture.drain();
}

/// Makes sure that the entries of `ada` form a chain, and that its blocks add up to the balance.
fn chain(fixture: &Fixture) -> Vec<LedgerEntry> {
    let ada = block_on(fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let entries = fixture.entries(ada, LedgerFilter::default());
    let (mut balance, mut number) = (Decimal::zero(), 0);
    for entry in &entries {
        number += 1;
        assert_eq!((entry.ledger_sequence_number, &entry.starting_balance), (number, &balance));
        balance += entry.amount.clone();
        assert_eq!(entry.ending_balance, balance);
    }
    let all = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
    let blocks = fixture.blocks(ada, all);
    assert_eq!(blocks.into_iter().map(|block| block.balance).sum::<Decimal>(), balance);
    let found = block_on(fixture.account.credit_balance(ada, &unit(CREDITS))).unwrap();
    assert_eq!(found.balance, Some(balance));
    entries
}

fn book(new: NewLedgerEntry) -> impl Fn(&Account) + Clone + Send + 'static {
    move |account: &Account| {
        run(account.create_ledger_entry(external("ada"), new.clone())).unwrap();
    }
}

#[test]
fn a_ledger_is_one_chain_whatever_gets_in_between() {
    fn ingest(account: &Account) {
        run(account.ingest([event("ada", "a", at("2026-03-10T12:00:00Z"), "4")])).unwrap();
    }
    let check = |entries: usize, told: &'static [&'static str]| {
        move |fixture: &Fixture| {
            assert_eq!(chain(fixture).len(), entries);
            assert_eq!(fixture.told(), told);
        }
    };
    let (more, less) = (book(increment("2")), book(decrement("4")));
    at_every_call(with_credits, more.clone(), more.clone(), check(4, &[]));
    at_every_call(with_credits, less.clone(), more.clone(), check(4, &[]));
    at_every_call(with_credits, ingest, more.clone(), check(4, &[]));
    at_every_call(with_credits, more, ingest, check(4, &[]));
    let by_credit = check(5, &["dropped 3: 6 -> 2 by credit"]);
    at_every_call(with_credits, less.clone(), less.clone(), by_credit);
    at_every_call(with_credits, less.clone(), ingest, by_credit);
    at_every_call(with_credits, ingest, less, check(5, &["dropped 3: 6 -> 2 by event a"]));
}

#[test]
fn a_block_expires_once_whatever_gets_in_between() {
    let set_up = |fixture: &Fixture| {
        with_credits(fixture);
        fixture.set("2026-03-12T00:00:00Z");
    };
    fn ingest(account: &Account) {
        run(account.ingest([event("ada", "a", at("2026-03-12T00:00:00Z"), "3")])).unwrap();
    }
    fn tick(account: &Account) {
        while block_on(account.billing().tick(10)).unwrap().more {}
    }
    let check = |fixture: &Fixture| {
        ingest(&fixture.account);
        tick(&fixture.account);
        let shown: Vec<_> = chain(fixture)[2..].iter().map(credited::show).collect();
        assert_eq!(shown, ["credit_block_expiry -5 = 5", "decrement -3 = 2"]);
        assert_eq!(fixture.told(), ["dropped 3: 5 -> 2 by event a"]);
    };
    at_every_call(set_up, ingest, tick, check);
    at_every_call(set_up, tick, ingest, check);
    at_every_call(set_up, tick, tick, check);
    at_every_call(set_up, ingest, ingest, check);
}

#[test]
fn a_read_of_a_ledger_agrees_with_itself_whatever_gets_in_between() {
    let set_up = |fixture: &Fixture| {
        with_credits(fixture);
        fixture.set("2026-03-12T00:00:00Z");
    };
    let read = |account: &Account| {
        let credits = unit(CREDITS);
        let (page, any) = (Default::default(), accrue::credit::CreditBlockFilter::default());
        let ada = || external("ada");
        let balance = block_on(account.credit_balance(ada(), &credits)).unwrap();
        let blocks = account.list_credit_blocks(ada(), &credits, &any, &page);
        let left: Decimal =
            block_on(blocks).unwrap().data.into_iter().map(|block| block.balance).sum();
        let any = LedgerFilter::default();
        let entries = account.list_ledger_entries(ada(), &credits, &any, &page);
        let entries = block_on(entries).unwrap().data;
        let links = entries.windows(2);
        assert!(links.into_iter().all(|of| of[0].starting_balance == of[1].ending_balance));
        let numbers = [balance.balance.unwrap(), left, entries[0].ending_balance.clone()];
        let numbers = numbers.map(|number| number.to_string());
        assert!(numbers.iter().all(|number| number == "5" || number == "3"), "{numbers:?}");
    };
    at_every_call(set_up, read, book(decrement("2")), |fixture| {
        assert_eq!(chain(fixture).len(), 4);
    });
}

#[test]
fn an_evaluation_of_a_price_sees_all_of_a_batch_or_nothing() {
    fn set_up(fixture: &Fixture) {
        let metric = fixture.metric(COUNT);
        let mut price = fixture.per_unit(&metric, Cadence::Monthly);
        price.external_price_id = Some(external("price"));
        run(fixture.account.create_price(price)).unwrap();
        fixture.customer("ada");
        fixture.use_now("ada", "first", "1");
    }
    fn ingest(account: &Account) {
        let two = [("a", "2026-03-10T10:00:00Z"), ("b", "2026-03-10T12:00:00Z")];
        let two = two.map(|(key, text)| event("ada", key, at(text), "1"));
        run(account.ingest(two)).unwrap();
    }
    let evaluate = |filter: Option<&str>| {
        let filter = filter.map(|text| Expression::parse(text).unwrap());
        move |account: &Account| {
            let day = between("2026-03-10T09:50:00Z", "2026-03-10T12:10:00Z");
            let mut evaluation = PriceEvaluation::new(external("ada"), day);
            evaluation.filter = filter.clone();
            let groups = block_on(account.evaluate_price(external("price"), &evaluation)).unwrap();
            assert_ne!(groups[0].quantity, Decimal::from(2), "one of the two events");
        }
    };
    at_every_call(set_up, evaluate(None), ingest, |_| {});
    at_every_call(set_up, evaluate(Some("n > 0")), ingest, |_| {});
}

#[test]
fn processes_that_write_to_one_ledger_at_once_lose_nothing() {
    let fixture = Fixture::new();
    with_credits(&fixture);
    std::thread::scope(|scope| {
        for (caller, account) in handles(&fixture, 4).into_iter().enumerate() {
            scope.spawn(move || {
                for n in 0..25 {
                    if caller % 2 == 0 {
                        let now = at("2026-03-10T12:00:00Z");
                        let event = event("ada", &format!("{caller}-{n}"), now, "2");
                        run(account.ingest([event])).unwrap();
                    } else {
                        let new = if n % 2 == 0 { increment("3") } else { decrement("1") };
                        run(account.create_ledger_entry(external("ada"), new)).unwrap();
                    }
                }
            });
        }
    });
    let entries = chain(&fixture);
    assert_eq!(entries.last().unwrap().ending_balance.to_string(), "-36");
}

#[test]
fn a_tick_that_gets_in_between_is_no_corruption() {
    let set_up = |fixture: &Fixture| {
        let metric = fixture.metric(SUM);
        let plan = fixture.plan();
        fixture.subscribe(fixture.customer("ada").id, &plan);
        let new = usage_alert(metric.id, &["10"]);
        run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    };
    let ingest = |account: &Account| {
        run(account.ingest([event("ada", "b", at("2026-03-10T12:00:00Z"), "10")])).unwrap();
    };
    let tick = |account: &Account| while block_on(account.billing().tick(10)).unwrap().more {};
    at_every_call(set_up, ingest, tick, |fixture| {
        assert_eq!(fixture.fired(), ["10: none -> 10"]);
    });
}

#[test]
fn versions_of_a_plan_that_are_created_at_once_get_two_numbers() {
    let set_up = |fixture: &Fixture| {
        let mut new = NewPlan::new(name("plan"), usd());
        new.external_plan_id = Some(external("pro"));
        run(fixture.account.create_plan(new)).unwrap();
        let mut seats = fixture.fee(Cadence::Monthly);
        seats.external_price_id = Some(external("seats"));
        run(fixture.account.create_price(seats)).unwrap();
    };
    let create = |default| {
        move |account: &Account| {
            let mut new = NewPlanVersion::new([external("seats").into()]);
            new.default = default;
            run(account.create_plan_version(external("pro"), new)).unwrap();
        }
    };
    let (ours, theirs) = (create(DefaultVersion::Keep), create(DefaultVersion::Replace));
    at_every_call(set_up, ours, theirs, |fixture| {
        let fetch = |number| {
            let version = PlanVersion::new(number);
            block_on(fixture.account.fetch_plan_version(external("pro"), version))
        };
        assert!(fetch(2).is_ok() && fetch(3).is_ok());
        assert!(fetch(4).unwrap_err().is_not_found());
        let default = block_on(fixture.account.fetch_plan(external("pro"))).unwrap().version;
        assert_eq!(default, PlanVersion::new(2), "theirs was first, and is not forgotten");
    });
}

/// Several processes are several handles on one store.
pub(crate) fn handles(fixture: &Fixture, count: u64) -> Vec<Account> {
    let handle = |seed| {
        let (store, clock) = (Arc::clone(&fixture.store), fixture.clock.clone());
        let billing = Billing::new(store, clock, SeededEntropy::new(100 + seed));
        billing.account(AccountId::parse("acme").unwrap())
    };
    (0..count).map(handle).collect()
}

#[test]
fn duplicates_are_successes_also_where_they_race_for_new_external_ids() {
    for one_process in [true, false] {
        let fixture = Fixture::new();
        let accounts = match one_process {
            true => vec![fixture.account.clone(); 4],
            false => handles(&fixture, 4),
        };
        for round in 0..20 {
            let now = at("2026-03-10T12:00:00Z");
            let keys = (0..30).map(|n| format!("{round}-{n}"));
            let batch: Vec<_> = keys.map(|key| event(&key, &key, now, "1")).collect();
            let ingested: usize = std::thread::scope(|scope| {
                let callers: Vec<_> = accounts
                    .iter()
                    .map(|account| scope.spawn(|| run(account.ingest(batch.clone())).unwrap()))
                    .collect();
                callers.into_iter().map(|caller| caller.join().unwrap().ingested).sum()
            });
            assert_eq!(ingested, batch.len());
        }
    }
}

#[test]
fn batches_that_share_a_new_external_id_and_have_others_of_their_own_all_get_in() {
    let fixture = Fixture::new();
    let accounts = handles(&fixture, 4);
    for round in 0..20 {
        std::thread::scope(|scope| {
            for (caller, account) in accounts.iter().enumerate() {
                scope.spawn(move || {
                    let now = at("2026-03-10T12:00:00Z");
                    let own = (0..10).map(|n| format!("{round}-{caller}-{n}"));
                    let shared = (format!("shared-{round}"), format!("{round}-{caller}"));
                    let named = own.map(|name| (name.clone(), name)).chain([shared]);
                    let batch: Vec<_> =
                        named.map(|(customer, key)| event(&customer, &key, now, "")).collect();
                    assert_eq!(run(account.ingest(batch)).unwrap().ingested, 11);
                });
            }
        });
    }
}

#[test]
fn two_processes_that_ingest_for_one_customer_lose_no_event() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &fixture.plan());
    std::thread::scope(|scope| {
        for (caller, account) in handles(&fixture, 4).into_iter().enumerate() {
            scope.spawn(move || {
                for n in 0..50 {
                    let now = at("2026-03-10T12:00:00Z");
                    let event = event("ada", &format!("{caller}-{n}"), now, "");
                    run(account.ingest([event])).unwrap();
                }
            });
        }
    });
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "200");
    assert!(fixture.waiting(10).len() >= 3);
}
