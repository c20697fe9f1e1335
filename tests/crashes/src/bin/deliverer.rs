//! Waits for a store to be free, delivers its webhook messages until it is killed, and makes some when it is told.
//!
//! ```text
//! crash-deliverer STORE FOLDER URL
//! ```
//!
//! The store is `fjall`, `sled`, or `postgres:` with a connection string; the clock of all processes is beside the folder.

#![allow(clippy::expect_used, clippy::panic, reason = "whoever started it reads it")]

use std::{env, path::Path};

use accrue_crash_tests::deliver;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [store, folder, url] = arguments.as_slice() else {
        panic!("crash-deliverer STORE FOLDER URL")
    };
    deliver(&store.parse().expect("a store"), Path::new(folder), url);
}
