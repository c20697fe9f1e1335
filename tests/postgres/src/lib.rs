//! Servers of PostgreSQL of a test's own, in folders that go with them.
//!
//! Their programs are in `POSTGRES_BIN`, or where Debian has them. They refuse to run as root: root runs them as the
//! user `postgres`.

#![allow(
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on says so"
)]

mod disk;
mod processes;
mod programs;
mod server;
mod sql;

pub use self::{
    disk::SmallDisk,
    programs::is_installed,
    server::Server,
    sql::{execute, number},
};

/// Says what a test leaves out.
pub fn left_out(what: &str, why: &str) {
    println!("left out: {what}, {why}");
}
