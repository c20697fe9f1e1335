//! Processes that lose their power under load, in the model of `accrue_crash_tests::power`.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use accrue_crash_tests::{
    Ending, Figures, Kind, Life, kills,
    power::{UNCOVERED, Uncovered},
};

/// How many processes work in one folder, one after another.
const PROCESSES: u64 = 10;

fn life(kind: Kind, seed: u64) -> Life {
    Life::new(kind, Path::new(env!("CARGO_BIN_EXE_crash-worker")), seed)
}

/// Cuts the power of processes that work in one folder, one after another.
fn cut(kind: Kind, seed: u64, endings: &[Uncovered]) -> Figures {
    let mut life = life(kind, seed);
    for uncovered in endings {
        life.end_one(Ending::PowerCut(*uncovered));
    }
    life.check();
    life.figures
}

/// Cuts the power of so many processes, in each way in turn.
fn check(kind: Kind) {
    let mut figures = Figures::default();
    let endings: Vec<Uncovered> = (0..kills(6))
        .zip(UNCOVERED.iter().copied().cycle())
        .map(|(_, uncovered)| uncovered)
        .collect();
    for (seed, endings) in (1_000..).zip(endings.chunks(usize::try_from(PROCESSES).expect("few"))) {
        figures += cut(kind, seed, endings);
    }
    // Whether a cut falls between a change and its flush is chance: where none has, there are more cuts.
    for seed in 3_000..3_010 {
        if figures.uncovered == 0 {
            figures += cut(kind, seed, &UNCOVERED);
        }
    }
    assert!(figures.acknowledged > 0 && figures.uncovered > 0, "{figures}");
    eprintln!("{}: {figures}", kind.name());
}

#[test]
fn a_process_on_fjall_without_power_loses_and_doubles_nothing() {
    check(Kind::Fjall);
}

#[test]
fn a_process_on_sled_without_power_loses_and_doubles_nothing() {
    check(Kind::Sled);
}

/// A power cut while the store is made, and while it is opened again: it opens.
#[test]
fn a_store_that_was_being_opened_opens() {
    for kind in [Kind::Fjall, Kind::Sled] {
        for (seed, uncovered) in (0..kills(4)).zip(UNCOVERED.iter().cycle()) {
            let mut life = life(kind, 2_000 + seed);
            (0..3).for_each(|_| life.end_one_that_opens(Ending::PowerCut(*uncovered)));
        }
    }
}

/// Where flushes cover nothing, a power cut takes what was acknowledged, and the check says so: a
/// store that answers before it flushes would be found out.
#[test]
fn a_store_that_does_not_flush_is_found_out() {
    for kind in [Kind::Fjall, Kind::Sled] {
        let mut life = life(kind, 1);
        life.end_one(Ending::Killed);
        let before = life.figures.acknowledged;
        let found_out = (0..5).any(|_| {
            let end_one = || life.end_one(Ending::PowerCutWithoutFlushes);
            catch_unwind(AssertUnwindSafe(end_one)).is_err_and(|panic| {
                let said = panic.downcast_ref::<String>().expect("a panic that says why");
                assert!(said.contains("lost"), "{said}");
                true
            })
        });
        assert!(found_out && life.figures.acknowledged > before, "{}", kind.name());
    }
}
