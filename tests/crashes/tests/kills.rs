//! Processes that are killed at random, under load.

use std::path::Path;

use accrue_crash_tests::{Ending, Figures, Kind, Life, kills};

/// How many processes work in one folder, one after another.
const PROCESSES: u64 = 10;

fn check(kind: Kind) {
    let mut figures = Figures::default();
    let mut left = kills(5);
    for seed in 1.. {
        if left == 0 {
            break;
        }
        let mut life = Life::new(kind, Path::new(env!("CARGO_BIN_EXE_crash-worker")), seed);
        for _ in 0..left.min(PROCESSES) {
            life.end_one(Ending::Killed);
        }
        left -= left.min(PROCESSES);
        life.check();
        figures += life.figures;
    }
    assert!(figures.acknowledged > 0, "{figures}");
    eprintln!("{}: {figures}", kind.name());
}

#[test]
fn a_process_on_fjall_that_is_killed_loses_and_doubles_nothing() {
    check(Kind::Fjall);
}

#[test]
fn a_process_on_sled_that_is_killed_loses_and_doubles_nothing() {
    check(Kind::Sled);
}
