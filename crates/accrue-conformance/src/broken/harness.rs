use std::sync::{Arc, Mutex, PoisonError};

use accrue::store::Store;

use super::{BrokenStore, Flaw, state::State};
use crate::{Durability, Harness};

/// The place of a [`BrokenStore`], whose rows outlive the closing of it as far as its flaw lets
/// them.
#[derive(Debug)]
pub struct BrokenHarness {
    flaw: Flaw,
    state: Arc<Mutex<State>>,
}

impl BrokenHarness {
    /// An empty place.
    #[must_use]
    pub fn new(flaw: Flaw) -> Self {
        Self { flaw, state: Arc::default() }
    }
}

impl Harness for BrokenHarness {
    fn open(&self) -> Arc<dyn Store> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).reopen(self.flaw);
        Arc::new(BrokenStore::with_state(self.flaw, Arc::clone(&self.state)))
    }

    fn durability(&self) -> Durability {
        Durability::Durable
    }
}
