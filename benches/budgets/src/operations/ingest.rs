//! Events that come in.

use std::sync::Arc;

use accrue::{
    Account, IdempotencyKey,
    store::Store,
    usage::{Event, Ingestion},
};
use accrue_benches::{BATCH, Outcome, Shape, Watch, Workload};
use pollster::block_on;

use super::{Call, Prepared, expect};

/// How many callers send single events, each those of a customer of its own.
const CALLERS: u64 = 64;

/// Batches of 500 events of 8 customers.
pub(super) fn batch(store: Arc<dyn Store>, watch: Watch) -> Outcome<Prepared> {
    let mut workload = Workload::new(store, Shape::new(watch))?;
    let calls = (0..6).map(|_| next_batch(&mut workload)).collect::<Outcome<_>>()?;
    Prepared::warm(workload, calls, 2)
}

/// Single events of customers in turn, each of whom was served before.
pub(super) fn keyed(store: Arc<dyn Store>, watch: Watch) -> Outcome<Prepared> {
    let mut workload = Workload::new(store, Shape { customers: CALLERS, ..Shape::new(watch) })?;
    let calls = (0..CALLERS * 2).map(|number| keyed_event(&mut workload, number));
    let calls = calls.collect::<Outcome<_>>()?;
    Prepared::warm(workload, calls, usize::try_from(CALLERS)?)
}

/// Single events of customers who have some, in a process that has served others, and never them.
pub(super) fn cold(store: Arc<dyn Store>, watch: Watch) -> Outcome<Prepared> {
    const CUSTOMERS: u64 = 24;
    const SERVED: u64 = 8;
    let shape = Shape { customers: CUSTOMERS, ..Shape::new(watch) };
    let mut workload = Workload::new(Arc::clone(&store), shape)?;
    for number in 0..CUSTOMERS {
        keyed_event(&mut workload, number)?()?;
    }
    workload.move_to(store)?;
    let calls = (CUSTOMERS..CUSTOMERS * 2).map(|number| keyed_event(&mut workload, number));
    let calls = calls.collect::<Outcome<_>>()?;
    Prepared::warm(workload, calls, usize::try_from(SERVED)?)
}

/// Batches of 500 events of as many customers, who have some, in a process that has served others, and never them.
pub(super) fn cold_batch(store: Arc<dyn Store>, watch: Watch) -> Outcome<Prepared> {
    const BATCHES: u64 = 3;
    let shape = Shape { customers: BATCHES * BATCH, ..Shape::new(watch) };
    let mut workload = Workload::new(Arc::clone(&store), shape)?;
    for number in 0..BATCHES {
        batch_of_each(&mut workload, number)?()?;
    }
    workload.move_to(store)?;
    let calls = (0..BATCHES).map(|number| batch_of_each(&mut workload, number));
    let calls = calls.collect::<Outcome<_>>()?;
    Prepared::warm(workload, calls, 1)
}

/// Single events that are there already, under request keys that are new.
pub(super) fn duplicate(store: Arc<dyn Store>) -> Outcome<Prepared> {
    again(
        store,
        |number| number + 1_000,
        |found, is_replayed| {
            expect("duplicates", found.duplicates, 1)?;
            expect("replays", usize::from(is_replayed), 0)
        },
    )
}

/// Single events whose requests were answered already.
pub(super) fn replayed(store: Arc<dyn Store>) -> Outcome<Prepared> {
    again(store, |number| number, |_, is_replayed| expect("replays", usize::from(is_replayed), 1))
}

/// Requests of 100 events of 8 customers, as [`super::http::ingest`] has them.
pub(super) fn hundred(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let mut workload = Workload::new(store, Shape::new(Watch::Usage))?;
    let calls = (0..10).map(|number| {
        let (account, events) = (workload.account().clone(), workload.next_hundred()?);
        let key = key(number)?;
        Ok(call(move || {
            let found = block_on(account.ingest(events).keyed(key).into_future())?;
            expect("new events", found.outcome.ingested, 100)
        }))
    });
    let calls = calls.collect::<Outcome<_>>()?;
    Prepared::warm(workload, calls, 2)
}

fn next_batch(workload: &mut Workload) -> Outcome<Call> {
    let events = workload.next_batch()?;
    Ok(batch_call(workload, events))
}

/// A batch of one event of each of 500 customers: the first of them, those that follow, and so on.
fn batch_of_each(workload: &mut Workload, number: u64) -> Outcome<Call> {
    let customers = number * BATCH..(number + 1) * BATCH;
    let events = customers.map(|customer| workload.next_of(customer, 1));
    let events = events.collect::<Outcome<Vec<_>>>()?.concat();
    Ok(batch_call(workload, events))
}

fn batch_call(workload: &Workload, events: Vec<Event>) -> Call {
    let account = workload.account().clone();
    call(move || {
        let found = block_on(account.ingest(events).into_future())?;
        expect("new events", found.ingested, 500)
    })
}

fn keyed_event(workload: &mut Workload, number: u64) -> Outcome<Call> {
    let customer = number % u64::try_from(workload.customers().len())?;
    let events = workload.next_of(customer, 1)?;
    let (account, key) = (workload.account().clone(), key(number)?);
    Ok(call(move || {
        let found = send(&account, key, events)?;
        expect("new events", found.0.ingested, 1)
    }))
}

/// Sends single events, and then the same events once more, some of them before what is measured.
fn again(
    store: Arc<dyn Store>,
    key_of_second: fn(u64) -> u64,
    check: fn(Ingestion, bool) -> Outcome<()>,
) -> Outcome<Prepared> {
    const SENT: u64 = 24;
    let mut workload = Workload::new(store, Shape::new(Watch::Usage))?;
    let mut calls = Vec::new();
    for number in 0..SENT {
        let events = workload.next_of(number % 8, 1)?;
        let account = workload.account().clone();
        send(&account, key(number)?, events.clone())?;
        let key = key(key_of_second(number))?;
        calls.push(call(move || {
            let (found, is_replayed) = send(&account, key, events)?;
            check(found, is_replayed)
        }));
    }
    Prepared::warm(workload, calls, 8)
}

fn send(account: &Account, key: IdempotencyKey, events: Vec<Event>) -> Outcome<(Ingestion, bool)> {
    let answer = block_on(account.ingest(events).keyed(key).into_future())?;
    Ok((answer.outcome, answer.is_replayed()))
}

fn key(number: u64) -> Outcome<IdempotencyKey> {
    Ok(IdempotencyKey::parse(format!("call-{number:032}"))?)
}

fn call(call: impl FnOnce() -> Outcome<()> + 'static) -> Call {
    Box::new(call)
}
