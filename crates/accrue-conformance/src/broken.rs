mod commit;
mod documents;
mod flaw;
mod harness;
mod processes;
mod scan;
mod state;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

use self::state::State;
pub use self::{
    flaw::Flaw,
    harness::BrokenHarness,
    processes::{BrokenProcesses, ProcessesFlaw},
};

/// A store in memory that breaks its contract in one way.
///
/// It shows that a test can fail: the tests of this crate hold every case of the suite against a
/// store that must fail it.
///
/// ```
/// use accrue::store::{Key, Store, Table};
/// use accrue_conformance::{BrokenStore, Flaw};
///
/// let store = BrokenStore::new(Flaw::OmitsAbsentRows);
/// let rows = pollster::block_on(store.get(&[Key::new(Table::new("row"), *b"a")]))?;
/// assert_eq!(rows, []);
/// # Ok::<(), accrue::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct BrokenStore {
    flaw: Flaw,
    state: Arc<Mutex<State>>,
}

impl BrokenStore {
    /// An empty store with this flaw.
    #[must_use]
    pub fn new(flaw: Flaw) -> Self {
        Self::with_state(flaw, Arc::default())
    }

    fn with_state(flaw: Flaw, state: Arc<Mutex<State>>) -> Self {
        Self { flaw, state }
    }

    // A case that fails may panic anywhere; the store goes on for the threads that it leaves.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets other callers in until one of them has called, so that races are lost, or for a short
    /// while, as there may be no other.
    fn let_others_in(&self) {
        let before = self.state().calls;
        for _ in 0..30 {
            if self.state().calls != before {
                return;
            }
            thread::yield_now();
        }
    }
}

#[async_trait]
impl Store for BrokenStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let mut keys = keys.to_vec();
        match self.flaw {
            Flaw::RefusesEmptyGet if keys.is_empty() => {
                return Err(StoreError::unavailable("syntax error near ')'"));
            }
            Flaw::SortsGet => keys.sort(),
            Flaw::DeduplicatesGet => {
                let mut seen = Vec::new();
                keys.retain(|key| !seen.contains(key) && (seen.push(key.clone()), true).1);
            }
            Flaw::BoundsGet => keys.truncate(1_000),
            Flaw::GetsOneByOne => {
                let row = |key| {
                    self.let_others_in();
                    self.state().row(self.flaw, key)
                };
                return Ok(keys.iter().map(row).collect());
            }
            _ => {}
        }
        let mut state = self.state();
        state.calls = state.calls.wrapping_add(1);
        let mut rows: Vec<_> = keys.iter().map(|key| state.row(self.flaw, key)).collect();
        if self.flaw == Flaw::OmitsAbsentRows {
            rows.retain(Option::is_some);
        }
        Ok(rows)
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        scan::scan(self.flaw, &self.state(), scan)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        commit::commit(self, batch)
    }
}
