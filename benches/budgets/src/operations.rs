//! What is measured: each operation has a name, a set-up on a store of its own, and its calls.

mod http;
mod ingest;
mod reads;
mod time;

use std::{any::Any, sync::Arc};

use accrue::store::Store;
use accrue_benches::{Outcome, Watch};

/// A call that is made ready: what it is given is there, and only the call itself is measured. It fails
/// where the answer is not the expected one.
pub(crate) type Call = Box<dyn FnOnce() -> Outcome<()>>;

/// An operation that is measured, by the mean of some calls.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// How many events a call is about: figures are told per event too, where there are more than one.
    pub(crate) events: u64,
    /// Whether its instructions are counted in a release alone: where nothing is optimized that takes minutes.
    pub(crate) is_long: bool,
    set_up: SetUp,
}

type SetUp = Box<dyn Fn(Arc<dyn Store>) -> Outcome<Prepared> + Send + Sync>;

/// The calls of an operation, after as many were made that none is the first of its kind.
pub(crate) struct Prepared {
    pub(crate) calls: Vec<Call>,
    /// The engine, so that no call is the last to let go of it.
    _engine: Box<dyn Any>,
}

impl Operation {
    fn new(
        name: &'static str,
        events: u64,
        set_up: impl Fn(Arc<dyn Store>) -> Outcome<Prepared> + Send + Sync + 'static,
    ) -> Self {
        Self { name, events, is_long: false, set_up: Box::new(set_up) }
    }

    fn long(self) -> Self {
        Self { is_long: true, ..self }
    }

    /// Sets it up in an empty store.
    pub(crate) fn prepare(&self, store: impl Store) -> Outcome<Prepared> {
        (self.set_up)(Arc::new(store))
    }
}

impl Prepared {
    /// Makes the first of some calls, and leaves the others to be measured.
    fn warm(engine: impl Any, mut calls: Vec<Call>, first: usize) -> Outcome<Self> {
        let others = calls.split_off(first);
        calls.into_iter().try_for_each(|call| call())?;
        Ok(Self { calls: others, _engine: Box::new(engine) })
    }
}

/// Every operation, in the order of the table.
pub(crate) fn all() -> Vec<Operation> {
    use Watch::{Usage, UsageAndCost, UsageAndCredits};

    vec![
        Operation::new("batch of 500", 500, |store| ingest::batch(store, Usage)),
        Operation::new("batch of 500, cost alert", 500, |store| ingest::batch(store, UsageAndCost)),
        Operation::new("batch of 500, draw-down", 500, |store| {
            ingest::batch(store, UsageAndCredits)
        }),
        Operation::new("batch of 500 customers, cold", 500, |store| {
            ingest::cold_batch(store, Usage)
        })
        .long(),
        Operation::new("batch of 500 customers, cold, draw-down", 500, |store| {
            ingest::cold_batch(store, UsageAndCredits)
        })
        .long(),
        Operation::new("keyed event", 1, |store| ingest::keyed(store, Usage)),
        Operation::new("keyed event, cost alert", 1, |store| ingest::keyed(store, UsageAndCost)),
        Operation::new("keyed event, draw-down", 1, |store| ingest::keyed(store, UsageAndCredits)),
        Operation::new("keyed event, cold", 1, |store| ingest::cold(store, Usage)),
        Operation::new("keyed event, cold, draw-down", 1, |store| {
            ingest::cold(store, UsageAndCredits)
        }),
        Operation::new("keyed event, duplicate", 1, ingest::duplicate),
        Operation::new("keyed event, replayed", 1, ingest::replayed),
        Operation::new("ingest of 100", 100, ingest::hundred),
        Operation::new("ingest of 100 over HTTP", 100, http::ingest),
        Operation::new("cost of a subscription", 0, reads::cost),
        Operation::new("balance of credits", 0, reads::balance),
        Operation::new("evaluation of a price", 125, reads::evaluation),
        Operation::new("list of 20 customers", 0, reads::list),
        Operation::new("list of 20 customers over HTTP", 0, http::list),
        Operation::new("the same bytes, bare handler", 0, http::bare_list),
        Operation::new("tick, nothing due", 0, time::tick),
        Operation::new("backfill of 1,000 closed", 1_000, time::backfill),
    ]
}

/// Finds an operation by its name.
pub(crate) fn find(name: &str) -> Outcome<Operation> {
    let found = all().into_iter().find(|operation| operation.name == name);
    Ok(found.ok_or_else(|| format!("found no operation {name:?}"))?)
}

/// Makes sure that a call did what it was to do.
fn expect(what: &str, found: usize, expected: usize) -> Outcome<()> {
    if found == expected {
        return Ok(());
    }
    Err(format!("found {found} {what}, expected {expected}").into())
}
