//! The suite of backends, on a store with each isolation, with a thread of its own and on a runtime of the host.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use std::sync::{Arc, LazyLock};

use accrue::store::{MemoryStore, Store};
use accrue_conformance::{Durability, Harness};
use accrue_postgres::{Isolation, PostgresOptions};
use pollster::block_on;
use tokio::runtime::Runtime;

/// A database of its own; without a server a store in memory stands in, so that what is left out passes.
struct Database(Option<PostgresOptions>);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

impl Database {
    fn new(configure: impl FnOnce(PostgresOptions) -> PostgresOptions) -> Self {
        let server = support::shared_server();
        Self(server.map(|server| configure(support::new_store(&server))))
    }

    fn with(isolation: Isolation) -> Self {
        Self::new(|options| options.isolation(isolation))
    }

    fn on_a_runtime_of_the_host() -> Self {
        Self::new(|options| options.on(RUNTIME.handle().clone()))
    }
}

impl Harness for Database {
    fn open(&self) -> Arc<dyn Store> {
        match &self.0 {
            Some(options) => Arc::new(block_on(options.clone().open()).unwrap()),
            None => Arc::new(MemoryStore::new()),
        }
    }

    fn durability(&self) -> Durability {
        self.0.as_ref().map_or(Durability::Volatile, |_| Durability::Durable)
    }
}

accrue_conformance::suite!(locks, Database::with(Isolation::Locks));
accrue_conformance::suite!(serializable, Database::with(Isolation::Serializable));
accrue_conformance::suite!(on_a_runtime, Database::on_a_runtime_of_the_host());
