//! What time brings, and what is corrected.

use std::{rc::Rc, sync::Arc};

use accrue::store::Store;
use accrue_benches::{Outcome, Shape, Watch, Workload};
use pollster::block_on;

use super::{Call, Prepared, expect, reads::repeated};

/// How many customers or plans a tick applies at most.
const APPLIED: usize = 100;

/// A look at what is due when nothing is.
pub(super) fn tick(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let mut workload = Workload::new(store, Shape::new(Watch::UsageAndCredits))?;
    workload.ingest_until(1)?;
    let billing = workload.account().billing().clone();
    while block_on(billing.tick(APPLIED))?.applied > 0 {}
    repeated(workload, move || {
        let tick = block_on(billing.tick(APPLIED))?;
        expect("applied", tick.applied + tick.failed, 0)
    })
}

/// A backfill of a day of a customer, with 1,000 events in place of as many, from when it is closed
/// until it counts and nothing of it is left to do.
pub(super) fn backfill(store: Arc<dyn Store>) -> Outcome<Prepared> {
    const EVENTS: u64 = 1_000;
    let mut workload = Workload::new(store, Shape::new(Watch::UsageAndCredits))?;
    workload.ingest_days(2, EVENTS)?;
    let day = workload.ingest_day_of_first(EVENTS)?;
    workload.ingest_days(2, EVENTS)?;
    let first = workload.backfill_day_of_first(day, EVENTS)?;
    workload.reflect(first)?;
    workload.revert(first)?;
    let second = workload.backfill_day_of_first(day, EVENTS)?;
    let workload = Rc::new(workload);
    let one = Rc::clone(&workload);
    let call: Call = Box::new(move || one.reflect(second));
    Prepared::warm(workload, vec![call], 0)
}
