//! Works on a store until it is killed, and prints what it asks and what it is answered.
//!
//! ```text
//! crash-worker STORE FOLDER SEED PROCESS [NOTES flushes|none]
//! crash-worker script FOLDER NOTES flushes|none STEP...
//! ```

#![allow(clippy::expect_used, clippy::panic, reason = "whoever started it reads it")]

#[cfg(target_os = "linux")]
mod hooks;
#[cfg(target_os = "linux")]
mod script;

use std::{
    env,
    io::{Write, stdout},
    path::Path,
};

use accrue_crash_tests::{Host, Kind, work};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    #[cfg(target_os = "linux")]
    if let ["script", folder, notes, flushes, steps @ ..] = arguments.as_slice() {
        let watched = hooks::watch(Path::new(folder), Path::new(notes), *flushes == "flushes");
        watched.expect("the folder can be watched");
        return script::run(Path::new(folder), steps).expect("the steps can be taken");
    }
    let [store, folder, seed, process, rest @ ..] = arguments.as_slice() else {
        panic!("crash-worker STORE FOLDER SEED PROCESS [NOTES flushes|none]")
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    #[cfg(target_os = "linux")]
    if let [notes, flushes] = rest {
        let watched = hooks::watch(Path::new(folder), Path::new(notes), *flushes == "flushes");
        watched.expect("the folder can be watched");
    }
    let kind: Kind = store.parse().expect("a store");
    let host = Host::on(kind.open(Path::new(folder)), number(seed), number(process));
    work(&host, number(seed), number(process), |line| {
        let mut out = stdout().lock();
        let printed = writeln!(out, "{line}").and_then(|()| out.flush());
        printed.expect("somebody reads this");
    });
}
