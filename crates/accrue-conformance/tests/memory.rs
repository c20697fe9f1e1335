//! The suite on the store in memory, bare and behind the decorators, which must forward every call.

use std::sync::Arc;

use accrue::store::{MemoryStore, Store};
use accrue_conformance::{Durability, FaultyStore, Harness, Odds, RecordingStore};

struct InMemory(fn() -> Arc<dyn Store>);

impl Harness for InMemory {
    fn open(&self) -> Arc<dyn Store> {
        (self.0)()
    }

    fn durability(&self) -> Durability {
        Durability::Volatile
    }
}

accrue_conformance::suite!(bare, InMemory(|| Arc::new(MemoryStore::new())));
accrue_conformance::suite!(faultless, InMemory(|| Arc::new(FaultyStore::new(MemoryStore::new()))));
accrue_conformance::suite!(
    recorded,
    InMemory(|| Arc::new(RecordingStore::new(MemoryStore::new())))
);

/// A place whose store fails when the suite asks it to.
struct Failing {
    store: Arc<FaultyStore<MemoryStore>>,
}

impl Failing {
    fn new() -> Self {
        Self { store: Arc::new(FaultyStore::seeded(MemoryStore::new(), 1, Odds::NONE)) }
    }
}

impl Harness for Failing {
    fn open(&self) -> Arc<dyn Store> {
        Arc::<FaultyStore<_>>::clone(&self.store)
    }

    fn durability(&self) -> Durability {
        Durability::Volatile
    }

    fn begin_failing(&self) {
        self.store.set_odds(Odds { refused: 300, lost: 200, dropped: 200, corrupt: 0 });
    }

    fn end_failing(&self) {
        self.store.set_odds(Odds::NONE);
    }
}

accrue_conformance::suite!(failing, Failing::new());

/// A place whose store notes the calls.
struct Noting {
    store: Arc<RecordingStore<MemoryStore>>,
}

impl Harness for Noting {
    fn open(&self) -> Arc<dyn Store> {
        Arc::<RecordingStore<_>>::clone(&self.store)
    }

    fn durability(&self) -> Durability {
        Durability::Volatile
    }
}

#[test]
fn random_calls_are_the_same_in_every_run() {
    let name = "random_calls_agree_with_a_store_in_memory";
    let case = accrue_conformance::cases().iter().find(|case| case.name == name).unwrap();
    let calls = || {
        let noting = Noting { store: Arc::new(RecordingStore::new(MemoryStore::new())) };
        (case.run)(&noting);
        noting.store.log()
    };
    let first = calls();
    assert!(first.len() > 1_000);
    assert!(first == calls(), "other calls in another run");
}
