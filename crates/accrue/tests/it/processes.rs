//! Processes that share a store wait for their turns after a race that was lost, and share what time brings.

use std::{
    pin::Pin,
    sync::{Arc, atomic::Ordering::SeqCst},
};

use accrue::{
    Account, AccountId, Billing, SeededEntropy,
    price::Cadence,
    store::{Batch, Document, MemoryTurns, Scan, Store},
};
use futures_util::future::join_all;

use crate::support::{
    fixture::{Fixture, block_on, event},
    slow::{Slow, drive},
};

const PROCESSES: u64 = 4;
const CALLERS: usize = 16;
const CALLS: usize = 4;

/// Processes on the store of a fixture.
struct Processes {
    store: Arc<Slow>,
    all: Vec<Billing>,
}

impl Processes {
    fn on(fixture: &Fixture, turns: Option<&Arc<MemoryTurns>>) -> Self {
        let store = Arc::new(Slow::on(&fixture.store));
        let process = |number| {
            let (store, clock) = (Arc::clone(&store), fixture.clock.clone());
            let billing = Billing::new(store, clock, SeededEntropy::new(100 + number));
            match turns {
                Some(turns) => billing.taking_turns(Arc::clone(turns)),
                None => billing,
            }
        };
        let all = (0..PROCESSES).map(process).collect();
        Self { store, all }
    }

    fn accounts(&self) -> Vec<Account> {
        let account = |billing: &Billing| billing.account(AccountId::parse("acme").unwrap());
        self.all.iter().map(account).collect()
    }

    fn conflicts(&self) -> usize {
        self.store.conflicts.load(SeqCst)
    }
}

/// Has callers of all processes use one customer, each for a few calls, and returns how many calls of the store there were
/// until each was done, and how many races were lost.
fn contend(turns: Option<&Arc<MemoryTurns>>) -> (Vec<usize>, usize) {
    let fixture = Fixture::new();
    fixture.metric("SELECT SUM(n) FROM events");
    fixture.customer("ada");
    let processes = Processes::on(&fixture, turns);
    let calls = &processes.store.calls;
    let mut callers: Vec<Pin<Box<dyn Future<Output = usize>>>> = Vec::new();
    for (process, account) in processes.accounts().into_iter().enumerate() {
        for caller in 0..CALLERS {
            let account = account.clone();
            callers.push(Box::pin(async move {
                for call in 0..CALLS {
                    let key = format!("{process} {caller} {call}");
                    let used = event("ada", &key, account.billing().now(), "1");
                    assert_eq!(account.ingest([used]).await.unwrap().ingested, 1);
                }
                calls.load(SeqCst)
            }));
        }
    }
    (drive(join_all(callers)), processes.conflicts())
}

#[test]
fn of_four_processes_with_16_callers_on_one_customer_none_starves() {
    let (took, lost) = contend(Some(&Arc::new(MemoryTurns::new())));
    let (mean, most) = (took.iter().sum::<usize>() / took.len(), took.iter().max().unwrap());
    let (_, lost_without) = contend(None);
    assert!(*most <= 3 * mean, "{most} calls of the store, {mean} in the mean");
    assert!(lost <= 16, "{lost} races were lost");
    assert!(lost_without > 4 * lost, "{lost_without} races were lost without turns");
}

/// Each process holds turns of its own while it waits for those of others.
#[test]
fn processes_that_write_for_several_customers_never_wait_in_a_circle() {
    let fixture = Fixture::new();
    fixture.metric("SELECT SUM(n) FROM events");
    let names = ["ada", "bob", "eve"];
    for name in names {
        fixture.customer(name);
    }
    let turns = Arc::new(MemoryTurns::new());
    let processes = Processes::on(&fixture, Some(&turns));
    let mut callers: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    for (process, account) in processes.accounts().into_iter().enumerate() {
        for caller in 0..CALLERS {
            let account = account.clone();
            callers.push(Box::pin(async move {
                for call in 0..CALLS {
                    let chosen = 1 + (process + caller + call) % 7;
                    let chosen = names.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
                    let now = account.billing().now();
                    let used = chosen.map(|(_, name)| {
                        event(name, &format!("{name} {process} {caller} {call}"), now, "1")
                    });
                    account.ingest(used).await.unwrap();
                }
            }));
        }
    }
    drive(join_all(callers));
    assert!(processes.conflicts() > 0, "they have met");
}

/// Customers, each with a subscription on a monthly fee.
fn with_customers(count: usize) -> Fixture {
    let fixture = Fixture::new();
    let plan = fixture.priced_plan([fixture.fee(Cadence::Monthly).into()]);
    for number in 0..count {
        let customer = fixture.customer(&format!("customer {number}"));
        fixture.subscribe(customer.id, &plan);
    }
    fixture
}

#[test]
fn processes_share_what_time_has_brought() {
    const CUSTOMERS: usize = 200;
    let fixture = with_customers(CUSTOMERS);
    fixture.advance_days(40);
    let processes = Processes::on(&fixture, Some(&Arc::new(MemoryTurns::new())));
    let ticks = processes.all.iter().map(async |billing| {
        let (mut ticks, mut applied) = (0, 0);
        loop {
            let tick = billing.tick(32).await.unwrap();
            assert_eq!(tick.failed, 0);
            (ticks, applied) = (ticks + 1, applied + tick.applied);
            if !tick.more {
                return (ticks, applied);
            }
        }
    });
    let shares = drive(join_all(ticks));
    let next = block_on(fixture.billing.next_deadline()).unwrap().unwrap();
    assert!(next > fixture.billing.now(), "all of it");
    assert!(shares.iter().all(|(_, applied)| *applied >= CUSTOMERS / 8), "{shares:?}");
    assert!(processes.conflicts() <= CUSTOMERS / 10, "{} races were lost", processes.conflicts());
}

#[test]
fn an_owner_that_cannot_be_read_is_counted_once_however_often_a_tick_meets_it() {
    const CUSTOMERS: usize = 64;
    let fixture = with_customers(CUSTOMERS);
    let subscriptions = accrue::schema::TABLES.iter().find(|of| of.name() == "subscription");
    let scan = Scan::prefix(*subscriptions.unwrap(), b"", 1);
    let broken = block_on(fixture.store.scan(&scan)).unwrap().remove(0).key;
    let unreadable = Document::parse(r#"{"v":99}"#).unwrap();
    block_on(fixture.store.commit(Batch::new().put(broken, unreadable))).unwrap();
    fixture.advance_days(40);
    let processes = Processes::on(&fixture, Some(&Arc::new(MemoryTurns::new())));
    let mut applied = 0;
    loop {
        let tick = block_on(processes.all[0].tick(CUSTOMERS)).unwrap();
        assert!(tick.failed <= 1, "{tick:?}");
        applied += tick.applied;
        if !tick.more {
            assert_eq!(tick.failed, 1);
            break;
        }
    }
    assert!(applied >= CUSTOMERS - 1, "{applied}");
}
