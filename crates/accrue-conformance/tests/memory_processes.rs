//! The suite for several processes, on one store in memory that all of them have.

use std::sync::Arc;

use accrue::store::{MemoryStore, MemoryTurns, Turns};
use accrue_conformance::{Opened, Processes};

struct InMemory {
    store: Arc<MemoryStore>,
    turns: Option<Arc<MemoryTurns>>,
}

impl InMemory {
    fn with_turns() -> Self {
        Self { store: Arc::default(), turns: Some(Arc::default()) }
    }

    fn without_turns() -> Self {
        Self { store: Arc::default(), turns: None }
    }
}

impl Processes for InMemory {
    fn open(&self) -> Opened {
        let turns = self.turns.clone();
        Opened {
            store: Arc::<MemoryStore>::clone(&self.store),
            turns: turns.map(|turns| -> Arc<dyn Turns> { turns }),
        }
    }
}

accrue_conformance::processes!(with_turns, InMemory::with_turns());
accrue_conformance::processes!(without_turns, InMemory::without_turns());
