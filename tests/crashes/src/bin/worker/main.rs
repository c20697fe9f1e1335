//! Works on a store until it is killed, and prints what it asks and what it is answered.
//!
//! ```text
//! crash-worker STORE FOLDER SEED PROCESS [NOTES flushes|none]
//! crash-worker fill STORE FOLDER EVENTS
//! crash-worker open STORE FOLDER [NOTES CHANGES]
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
    thread,
    time::Instant,
};

use accrue_crash_tests::{Host, Kind, fill, work};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    #[cfg(target_os = "linux")]
    if let ["script", folder, notes, flushes, steps @ ..] = arguments.as_slice() {
        let watched =
            hooks::watch(Path::new(folder), Path::new(notes), *flushes == "flushes", None);
        watched.expect("the folder can be watched");
        return script::run(Path::new(folder), steps).expect("the steps can be taken");
    }
    let number = |text: &str| text.parse::<u64>().expect("a number");
    if let ["fill", store, folder, events] = arguments.as_slice() {
        let kind: Kind = store.parse().expect("a store");
        fill(&Host::on(kind.open(Path::new(folder)), 0, 0), number(events));
        say("filled");
        return wait();
    }
    if let ["open", store, folder, rest @ ..] = arguments.as_slice() {
        let (kind, folder) = (store.parse().expect("a store"), Path::new(folder));
        #[cfg(target_os = "linux")]
        if let [notes, changes] = rest {
            let watched = hooks::watch(folder, Path::new(notes), true, Some(number(changes)));
            watched.expect("the folder can be watched");
        }
        return open(kind, folder);
    }
    let [store, folder, seed, process, rest @ ..] = arguments.as_slice() else {
        panic!("crash-worker STORE FOLDER SEED PROCESS [NOTES flushes|none]")
    };
    #[cfg(target_os = "linux")]
    if let [notes, flushes] = rest {
        let flushes_cover = *flushes == "flushes";
        let watched = hooks::watch(Path::new(folder), Path::new(notes), flushes_cover, None);
        watched.expect("the folder can be watched");
    }
    let kind: Kind = store.parse().expect("a store");
    let host = Host::on(kind.open(Path::new(folder)), number(seed), number(process));
    work(&host, number(seed), number(process), say);
}

/// Opens a store, and tells when it begins to and how many microseconds it took.
#[expect(clippy::disallowed_methods, reason = "how long it takes is measured")]
fn open(kind: Kind, folder: &Path) {
    say("opening");
    let begun = Instant::now();
    let _store = kind.open(folder);
    say(&format!("opened {}", begun.elapsed().as_micros()));
    wait();
}

fn say(line: &str) {
    let mut out = stdout().lock();
    let printed = writeln!(out, "{line}").and_then(|()| out.flush());
    printed.expect("somebody reads this");
}

/// Waits to be killed.
fn wait() {
    loop {
        thread::park();
    }
}
