//! Servers and databases for tests.
//!
//! `ACCRUE_POSTGRES` leads to a server that the tests may make databases on (`.ci/postgres.sh` starts one). Servers
//! that a test stops or fills are its own.

#![allow(dead_code, unused_imports, reason = "each test program uses a part")]
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says so"
)]

mod worker;

use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use accrue::store::{Document, Key, Table};
use accrue_postgres::{Isolation, PostgresOptions};
pub(crate) use accrue_postgres_server::{
    Server, execute, is_installed, left_out, number, try_execute,
};

pub(crate) use self::worker::{Told, work};

pub(crate) const TABLE: Table = Table::new("item");

static DATABASES: AtomicU32 = AtomicU32::new(0);

/// Connection string of the server that tests share.
pub(crate) fn shared_server() -> Option<String> {
    let server = std::env::var("ACCRUE_POSTGRES").ok();
    if server.is_none() {
        left_out("all that needs a server", "ACCRUE_POSTGRES is not set");
    }
    server
}

/// Makes a database, and returns the connection string that leads to it.
pub(crate) fn new_database(server: &str, how: &str) -> String {
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", process::id());
    let gone = format!("DROP DATABASE IF EXISTS {name}");
    execute(
        &format!("{server} dbname=postgres"),
        &[&gone, &format!("CREATE DATABASE {name} {how}")],
    );
    format!("{server} dbname={name}")
}

/// Makes a database with the tables of a store.
pub(crate) fn new_store(server: &str) -> PostgresOptions {
    let options = PostgresOptions::new(new_database(server, ""));
    pollster::block_on(options.clone().migrate(&[TABLE])).unwrap();
    options
}

/// Makes a database whose user may take no advisory lock, with the tables of a store.
pub(crate) fn new_store_without_locks(server: &str) -> PostgresOptions {
    let connection = new_database(server, "");
    let user = format!("plain_{}_{}", process::id(), DATABASES.fetch_add(1, Ordering::Relaxed));
    let grant = format!(
        "DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO {user}', current_database()); END $$"
    );
    let locks = ["pg_advisory_lock", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared"];
    let revoke = locks.map(|lock| format!("REVOKE EXECUTE ON FUNCTION {lock}(bigint) FROM PUBLIC"));
    execute(&connection, &[&format!("CREATE ROLE {user} LOGIN"), &grant]);
    execute(&connection, &revoke.each_ref().map(String::as_str));
    let options = PostgresOptions::new(format!("{connection} user={user}"));
    let options = options.isolation(Isolation::Serializable);
    pollster::block_on(options.clone().migrate(&[TABLE])).unwrap();
    options
}

pub(crate) fn key(name: impl AsRef<[u8]>) -> Key {
    Key::new(TABLE, name.as_ref())
}

pub(crate) fn document(text: &str) -> Document {
    Document::parse(text.to_owned()).unwrap()
}
