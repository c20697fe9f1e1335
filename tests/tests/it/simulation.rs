//! The simulation, as long as CI has time for it. `simulate` runs it for longer.

use accrue_tests::sim::{self, Ask, Failure, Fault, Flaw, Options, Report};

/// How many steps each seed has.
const STEPS: usize = 2_000;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

fn simulated(options: Options) -> Report {
    sim::run(options, |_| {}).unwrap_or_else(|failure| {
        let Failure { seed, step, violation, planned, steps } = *failure;
        let (left, with_them) = sim::shortened(&steps, 300);
        panic!(
            "seed {seed}, step {step}: {violation}\nagain: cargo run --release -p accrue-tests \
             --bin simulate -- --seed {seed} --steps {planned} --episode {planned}\nsteps that are \
             left: {left:#?}\nwith them: {with_them}"
        )
    })
}

#[test]
fn nothing_is_found_wrong_and_everything_happens() {
    let mut all = Report::default();
    for seed in SEEDS {
        all.add(&simulated(Options::new(seed, STEPS)));
    }
    for name in Ask::NAMES {
        assert!(all.asked.contains_key(name), "nobody asks to {name}");
    }
    for name in Ask::NAMES.iter().filter(|name| !["fetch usage", "walk a list"].contains(name)) {
        assert!(all.accepted.contains_key(name), "nothing comes of: {name}");
    }
    for fault in Fault::ALL {
        assert!(all.faults.contains_key(fault), "{fault:?} never happens");
    }
    for status in [200, 201, 204, 400, 409, 429, 500] {
        assert!(all.answers.contains_key(&status), "{status} is never answered");
    }
    for other in sim::OTHERS {
        assert!(all.others.get(other).is_some_and(|count| *count > 0), "no: {other}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| simulated(Options::new(seed, 300));
    assert_eq!(run(11), run(11));
    assert_ne!(run(11).trace, run(12).trace);
}

#[test]
fn what_fails_is_shortened_to_what_it_needs() {
    let steps = sim::plan(5, 60);
    assert_eq!(sim::plan(5, 60), steps);
    // Nothing is wrong with them, so that nothing is left out of them.
    let (left, violation) = sim::shortened(&steps, 10);
    assert_eq!((left, violation.as_str()), (steps, ""));
}

#[test]
fn a_store_that_is_wrong_is_found_out() {
    for flaw in Flaw::ALL {
        let mut seeds = 1..=60;
        let found = seeds.find_map(|seed| sim::run_flawed(*flaw, &sim::plan(seed, 400)).err());
        let (_, violation) = found.unwrap_or_else(|| panic!("{flaw:?} is not found"));
        let expected: &[&str] = match flaw {
            Flaw::ForgetsKeys => &["has a second effect"],
            // The process goes on with copies of what nobody keeps.
            Flaw::AcknowledgesWhatItDrops => {
                &["nothing is kept", "has a second effect", "and not done"]
            }
            // Those of plans are not due in the same commit.
            Flaw::LosesAlerts => &["does not fire", "is owed"],
            Flaw::TellsTwice => &["is used twice"],
            Flaw::LosesTotals => &["expected"],
            Flaw::LosesEntries => &["entr"],
            Flaw::LosesFalls | Flaw::ForgetsFalls => &["alerts on balances"],
            Flaw::LosesNames => &["nobody is named that"],
            Flaw::LosesMetrics => &["metrics, expected"],
            Flaw::DisablesPlanAlerts => &["is owed"],
            // What changes an end or a plan then misses an invoice that is to be there.
            Flaw::LosesInvoices => {
                &["and not done", "invoices of", "of subscription", "nothing is kept"]
            }
            Flaw::BooksTwice => &["is not number"],
            Flaw::LosesPlans => &["is on", "is left behind"],
        };
        let is_expected = expected.iter().any(|text| violation.contains(text));
        assert!(is_expected, "{flaw:?}: {violation}");
    }
}
