//! Processes that are killed at random, under load.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use accrue_crash_tests::{Ending, Figures, Kind, Life, kills};

/// How many processes work in one folder, one after another.
const PROCESSES: u64 = 10;

fn life(kind: Kind, seed: u64) -> Life {
    Life::new(kind, Path::new(env!("CARGO_BIN_EXE_crash-worker")), seed)
}

fn check(kind: Kind) {
    let mut figures = Figures::default();
    let mut left = kills(5);
    for seed in 1.. {
        if left == 0 {
            break;
        }
        let mut life = life(kind, seed);
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

/// Where keys are forgotten when a process ends, what it had done and not answered is done again, and
/// the check says so: an engine that doubles effects would be found out.
#[test]
fn a_store_that_forgets_keys_is_found_out() {
    for kind in [Kind::Fjall, Kind::Sled] {
        let said = (3_000..3_050).map(|seed| {
            let mut life = life(kind, seed).that_forgets_keys();
            let end = || (0..PROCESSES).for_each(|_| life.end_one(Ending::Killed));
            catch_unwind(AssertUnwindSafe(end)).err()?.downcast_ref::<String>().cloned()
        });
        // Some have another end: what a request would create is there, and it is refused.
        let is_doubled = |said: String| said.contains("some are there twice");
        assert!(said.flatten().any(is_doubled), "{}", kind.name());
    }
}
