//! Servers of PostgreSQL of a test's own, in folders that go with them.
//!
//! Their programs are in `POSTGRES_BIN`, or where Debian has them. They refuse to run as root: root runs them as the
//! user `postgres`.

#![allow(
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says so"
)]

mod disk;
mod processes;
mod programs;
mod server;
mod sql;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::Mutex,
};

pub use self::{
    disk::SmallDisk,
    programs::is_installed,
    server::Server,
    sql::{execute, number, try_execute},
};

/// Says once what tests leave out: past what keeps the words of those that pass from being seen.
pub fn left_out(what: &str, why: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let words = format!("left out: {what}, {why}");
    if SAID.lock().unwrap().insert(words.clone()) {
        writeln!(io::stderr().lock(), "{words}").unwrap();
    }
}
