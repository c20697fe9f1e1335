//! The suites of backends, on a store with each isolation, with a thread of its own and on a runtime of the host.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use std::sync::{Arc, LazyLock};

use accrue::store::{MemoryStore, MemoryTurns, Store};
use accrue_conformance::{Durability, Harness, Opened, Processes};
use accrue_postgres::{Isolation, PostgresOptions, PostgresStore};
use pollster::block_on;
use tokio::runtime::Runtime;

/// A database of its own; without a server a store in memory stands in, so that what is left out passes.
struct Database {
    options: Option<PostgresOptions>,
    memory: Arc<MemoryStore>,
    turns: Arc<MemoryTurns>,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

impl Database {
    fn new(configure: impl FnOnce(PostgresOptions) -> PostgresOptions) -> Self {
        let server = support::shared_server();
        let options = server.map(|server| configure(support::new_store(&server)));
        Self { options, memory: Arc::default(), turns: Arc::default() }
    }

    fn with(isolation: Isolation) -> Self {
        Self::new(|options| options.isolation(isolation))
    }

    /// One whose user may take no advisory lock, as in a database that has none.
    fn without_locks() -> Self {
        let server = support::shared_server();
        let options = server.map(|server| support::new_store_without_locks(&server));
        Self { options, memory: Arc::default(), turns: Arc::default() }
    }

    fn on_a_runtime_of_the_host() -> Self {
        Self::new(|options| options.on(RUNTIME.handle().clone()))
    }

    fn opened(options: &PostgresOptions) -> PostgresStore {
        block_on(options.clone().open()).unwrap()
    }
}

impl Harness for Database {
    fn open(&self) -> Arc<dyn Store> {
        match &self.options {
            Some(options) => Arc::new(Self::opened(options)),
            None => Arc::<MemoryStore>::clone(&self.memory),
        }
    }

    fn durability(&self) -> Durability {
        self.options.as_ref().map_or(Durability::Volatile, |_| Durability::Durable)
    }
}

/// Each process has connections of its own, fewer than one that is alone: a server has room for so many.
impl Processes for Database {
    fn open(&self) -> Opened {
        let Some(options) = &self.options else {
            let turns = Arc::<MemoryTurns>::clone(&self.turns);
            return Opened { store: Harness::open(self), turns: Some(turns) };
        };
        let store = Arc::new(Self::opened(&options.clone().connections(8)));
        Opened { turns: Some(Arc::<PostgresStore>::clone(&store)), store }
    }
}

accrue_conformance::suite!(locks, Database::with(Isolation::Locks));
accrue_conformance::suite!(serializable_without_locks, Database::without_locks());
accrue_conformance::suite!(on_a_runtime, Database::on_a_runtime_of_the_host());

accrue_conformance::processes!(processes_with_locks, Database::with(Isolation::Locks));
accrue_conformance::processes!(serializable_processes, Database::with(Isolation::Serializable));
accrue_conformance::processes!(processes_on_a_runtime, Database::on_a_runtime_of_the_host());
