//! Opening while the process starts others. Alone in its file: a process that is started has all files of
//! this one open, and with them their locks, until it runs its program.

#![cfg(unix)]

use std::{
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use accrue_sled::SledStore;

#[test]
fn a_store_opens_while_processes_are_started() {
    let is_done = AtomicBool::new(false);
    let again = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let mut opened = Vec::new();
        for _ in 0..40 {
            let new = tempfile::tempdir().unwrap();
            opened.push(SledStore::open(new.path()).map(drop));
            opened.push(SledStore::open(again.path()).map(drop));
        }
        is_done.store(true, Ordering::Relaxed);
        opened.into_iter().for_each(|opened| opened.unwrap());
    });
}
