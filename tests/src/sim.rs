//! A simulation of clients, processes and time on one store: single-threaded, seeded, on a virtual
//! clock, and judged by a naive model after every step.
//!
//! An episode is a plain list of [`Step`]s on a fresh store. Whatever a step needs (which numbers are
//! drawn while it runs) is in the step, so that a list which fails can be shortened by leaving steps
//! out. Requests go through the HTTP adapter of one of several processes, whose futures are polled in
//! a drawn order; the store that they share is late, fails as it is told, and notes each commit, so
//! that the model knows in which order what was accepted, also where no client ever heard of it.

mod asks;
mod checks;
mod clients;
mod commits;
mod gateway;
mod invoice_asks;
mod messages;
mod model;
mod money;
mod pause;
mod plan;
mod random;
mod shorten;
mod store;
mod transitions;
mod world;

use std::collections::BTreeMap;

pub use self::{
    plan::{Ask, Step, plan},
    random::Trace,
    shorten::shortened,
    store::{Fault, Flaw},
};

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub seed: u64,
    /// How many steps in all.
    pub steps: usize,
    /// How many steps an episode has at most: the next one begins on a store of its own.
    pub episode: usize,
}

/// How many steps an episode has where nothing is said.
pub const EPISODE: usize = 400;

impl Options {
    #[must_use]
    pub const fn new(seed: u64, steps: usize) -> Self {
        Self { seed, steps, episode: EPISODE }
    }

    /// The seed of an episode.
    #[must_use]
    pub fn seed_of(&self, episode: usize) -> u64 {
        // The first one has that which was asked for, so that a failure can be run alone.
        if episode == 0 { self.seed } else { random::numbered(episode, self.seed) }
    }
}

/// What has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub steps: usize,
    pub episodes: usize,
    pub trace: Trace,
    /// How often each operation was asked for, retries not counted.
    pub asked: BTreeMap<&'static str, u64>,
    /// How often each operation was accepted, as the model saw it committed.
    pub accepted: BTreeMap<&'static str, u64>,
    /// How often each fault befell a call.
    pub faults: BTreeMap<Fault, u64>,
    /// How often each status was answered.
    pub answers: BTreeMap<u16, u64>,
    /// How often other things happened.
    pub others: BTreeMap<&'static str, u64>,
    /// How many calls of the store there were.
    pub calls: u64,
}

/// What else happens in a run that is long enough.
pub const OTHERS: &[&str] = &[
    "alert fired",
    "balance depleted",
    "balance dropped",
    "balance recovered",
    "charge",
    "collect",
    "crash",
    "credit note",
    "credit note void",
    "deliver",
    "draft removed",
    "duplicate request",
    "error kept",
    "invoice collected",
    "invoice credited",
    "invoice issued",
    "invoice marked as paid",
    "invoice paid as it is issued",
    "invoice void",
    "key used again",
    "key used anew after 48 hours",
    "mark taken back",
    "message delivered twice",
    "migration",
    "migration canceled",
    "money returned",
    "payment declined",
    "payment not told",
    "payment told late",
    "record removed",
    "request goes on",
    "reflected",
    "retry",
    "reverted",
    "moved by a migration",
    "plan changed",
    "stale head",
    "apply",
    "tick",
];

impl Report {
    /// Adds what has happened in another run.
    pub fn add(&mut self, other: &Self) {
        fn add<K: Copy + Ord>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
            from.iter().for_each(|(key, count)| *to.entry(*key).or_default() += count);
        }
        self.steps += other.steps;
        self.episodes += other.episodes;
        self.calls += other.calls;
        self.trace.add(&other.trace.0.to_be_bytes());
        add(&mut self.asked, &other.asked);
        add(&mut self.accepted, &other.accepted);
        add(&mut self.faults, &other.faults);
        add(&mut self.answers, &other.answers);
        add(&mut self.others, &other.others);
    }
}

/// What was found wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed of the episode.
    pub seed: u64,
    /// The step after which it was found, of all steps of the episode.
    pub step: usize,
    pub violation: String,
    /// How many steps the episode was to have.
    pub planned: usize,
    /// The steps of the episode up to it.
    pub steps: Vec<Step>,
}

/// Runs episodes until there were so many steps. `watch` is told after each.
///
/// # Errors
///
/// What is wrong with the first episode that is not right.
pub fn run(options: Options, mut watch: impl FnMut(&Report)) -> Result<Report, Box<Failure>> {
    let mut report = Report::default();
    while report.steps < options.steps {
        let seed = options.seed_of(report.episodes);
        let steps = plan(seed, options.episode.min(options.steps - report.steps).max(1));
        match run_steps(&steps) {
            Ok(episode) => report.add(&episode),
            Err((step, violation)) => {
                let planned = steps.len();
                let steps = steps[..=step.min(planned - 1)].to_vec();
                return Err(Box::new(Failure { seed, step, violation, planned, steps }));
            }
        }
        watch(&report);
    }
    Ok(report)
}

/// Runs an episode.
///
/// # Errors
///
/// What is wrong, and after which step.
pub fn run_steps(steps: &[Step]) -> Result<Report, (usize, String)> {
    run_on(None, steps)
}

/// Runs an episode on a store that is wrong on purpose.
///
/// # Errors
///
/// What is wrong, and after which step.
pub fn run_flawed(flaw: Flaw, steps: &[Step]) -> Result<Report, (usize, String)> {
    run_on(Some(flaw), steps)
}

fn run_on(flaw: Option<Flaw>, steps: &[Step]) -> Result<Report, (usize, String)> {
    let mut at = 0;
    let world = std::panic::AssertUnwindSafe(|| {
        let mut world = world::World::new(flaw).map_err(|violation| (0, violation))?;
        for (index, step) in steps.iter().enumerate() {
            at = index;
            world.step(index, step).map_err(|violation| (index, violation))?;
        }
        Ok(world.report())
    });
    let answer = std::panic::catch_unwind(world);
    answer.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err((at, format!("a panic: {}", text.unwrap_or("without a text"))))
    })
}
