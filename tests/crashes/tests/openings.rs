//! Processes that end while they open a store: the next one opens it, and every row is as it was.

use std::path::Path;

#[cfg(target_os = "linux")]
use accrue_crash_tests::{Ending, power::UNCOVERED};
use accrue_crash_tests::{Kind, Openings, kills};

/// From how many kills on they are more than a few, on a store that is more than a small one.
const MANY: u64 = 100;

fn worker() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_crash-worker"))
}

fn check(kind: Kind) {
    let kills = kills(6);
    let events = if kills < MANY { 5_000 } else { 100_000 };
    let mut openings = Openings::of_filled(kind, worker(), events);
    let within = (0..kills).filter(|_| openings.kill_at_random()).count();
    let (name, usual) = (kind.name(), openings.usual());
    eprintln!("{name}: {events} events, {kills} kills, {within} within an opening of {usual:?}");
    assert!(within > 0);
}

#[test]
fn a_store_on_fjall_whose_opening_is_killed_opens() {
    check(Kind::Fjall);
}

#[test]
fn a_store_on_sled_whose_opening_is_killed_opens() {
    check(Kind::Sled);
}

/// Ends processes after each change of a file or a name that they make while they open a folder: in one
/// way after each, or in all of them.
#[cfg(target_os = "linux")]
fn check_each_change(mut openings: Openings, name: &str) {
    let cuts = UNCOVERED.iter().map(|uncovered| Ending::PowerCut(*uncovered));
    let endings: Vec<Ending> = [Ending::Killed].into_iter().chain(cuts).collect();
    let at_once = if kills(6) < MANY { 1 } else { endings.len() };
    let mut endings = endings.iter().cycle();
    let changes = (0..).take_while(|changes| {
        let mut endings = endings.by_ref().take(at_once);
        endings.all(|ending| openings.end_after(*changes, *ending))
    });
    let changes = changes.count();
    eprintln!("{name}: {changes} changes");
    assert!(changes > 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_filled_store_opens_after_whatever_change_its_opening_ends() {
    for kind in [Kind::Fjall, Kind::Sled] {
        check_each_change(Openings::of_filled(kind, worker(), 2_000), kind.name());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_new_store_opens_after_whatever_change_its_opening_ends() {
    for kind in [Kind::Fjall, Kind::Sled] {
        check_each_change(Openings::of_new(kind, worker()), kind.name());
    }
}
