//! The engine and the model side by side: each step is done by both.

use accrue::{
    BackfillId, Decimal, MetricId, PricingUnit,
    credit::NewLedgerEntry,
    metric::{MetricQuery, NewMetric},
};
use pollster::block_on;

use super::{Again, History, Step};
use crate::{
    bill::{self, Cause, Opening, Slice},
    host::{instant, name},
    model::{Event, Instant, MICROS_PER_DAY, MetricSpec},
    script::{self, EventSpec, Manner, Pause},
    world::nth,
};

/// How much credit there is of each unit: more than is ever drawn, or not, as it turns out.
pub(super) const GRANTED: u64 = 1_000_000;
pub(super) const UNITS: [&str; 2] = ["USD", "credits"];
/// How many customers have ledgers.
pub(super) const IN_CREDIT: usize = 2;

/// The engine, the biller, and what counts for it.
#[derive(Debug)]
pub struct Bench {
    pub bill: bill::Bench,
    pub history: History,
    pub backfills: Vec<BackfillId>,
    /// What is to be told of backfills: whether one was reflected or reverted.
    pub(super) told: Vec<(bool, BackfillId)>,
    /// Whether time is applied and everything compared after each step.
    watches: bool,
    pub(super) keys: usize,
}

/// Runs a script. Where it is watched, everything is compared after each step, and otherwise at its
/// end.
pub fn run(beginning: &str, opening: &Opening, steps: &[Step], manner: Option<&Manner>) -> Bench {
    let mut bench = Bench::at(beginning, opening, manner.is_none());
    let plain = Manner::plain();
    let manner = manner.unwrap_or(&plain);
    let mut sizes: Slice<'_> = manner.batches.iter().copied().cycle();
    let mut ticks = manner.ticks.iter().copied().cycle();
    for step in steps {
        if ticks.next().unwrap_or(false) {
            bench.bill.host.tick();
        }
        bench.step(step, &mut sizes);
        if bench.watches {
            bench.bill.host.tick();
            bench.check();
        }
    }
    bench.bill.host.tick();
    bench.check();
    bench.check_messages();
    bench
}

impl Bench {
    fn at(beginning: &str, opening: &Opening, watches: bool) -> Self {
        let bill = bill::Bench::at(beginning, opening);
        assert_eq!(bill.biller.now, instant(beginning).micros());
        for customer in bill.customers.iter().take(IN_CREDIT) {
            for unit in UNITS {
                let unit = PricingUnit::parse(unit).unwrap();
                let new = NewLedgerEntry::increment(unit, Decimal::from(GRANTED));
                let call = bill.host.account.create_ledger_entry(*customer, new);
                block_on(call.into_future()).unwrap();
            }
        }
        let history = History::of(bill.customers.len());
        let (backfills, told) = (Vec::new(), Vec::new());
        Self { bill, history, backfills, told, watches, keys: 0 }
    }

    pub fn step(&mut self, step: &Step, sizes: &mut Slice<'_>) {
        match step {
            Step::Bill(bill::Step::Ask(ask)) => {
                if self.watches {
                    self.bill.ask(ask);
                }
            }
            Step::Bill(step) => {
                self.pass(1_000);
                self.bill.step(step, sizes);
            }
            Step::Use(specs) => {
                for batch in script::batches(specs, sizes) {
                    self.use_events(batch);
                }
            }
            Step::Pause(Pause::For(micros)) => self.pass(*micros),
            Step::Pause(Pause::PeriodOf(of, by)) => {
                let to = self.bill.resolve(bill::When::End(*of, *by));
                self.pass(to - self.now());
            }
            Step::Metric(spec) => self.create_metric(spec),
            Step::Create(spec) => self.create(spec),
            Step::Fill { backfill, events } => {
                if let Some(backfill) = one(*backfill, self.backfills.len()) {
                    self.fill(backfill, events);
                }
            }
            Step::Close(backfill) => {
                if let Some(backfill) = one(*backfill, self.backfills.len()) {
                    self.close(backfill);
                }
            }
            Step::Revert(backfill) => {
                if let Some(backfill) = one(*backfill, self.backfills.len()) {
                    self.revert(backfill);
                }
            }
            Step::Amend { event, edit, like } => {
                if let Some(event) = nth(*event, self.history.events.len()) {
                    self.amend(event, *edit, like);
                }
            }
            Step::Deprecate(event) => {
                if let Some(event) = nth(*event, self.history.events.len()) {
                    self.deprecate(event);
                }
            }
            Step::Tick(limit) => {
                if self.watches {
                    block_on(self.bill.host.billing.tick(*limit)).unwrap();
                }
            }
        }
    }

    pub(super) const fn now(&self) -> Instant {
        self.bill.biller.now
    }

    /// Lets time pass, and backfills close that are to.
    pub(super) fn pass(&mut self, micros: i64) {
        let to = self.now() + micros.clamp(0, 100 * MICROS_PER_DAY);
        while let Some(backfill) = self.history.next_to_close(to) {
            let at = self.history.backfills[backfill].closes_at;
            self.bill.biller.advance_to(at);
            self.reflect(backfill);
        }
        self.bill.set(to);
    }

    /// Ids of one millisecond have no order: lets one pass. Then a metric is created.
    fn create_metric(&mut self, spec: &MetricSpec) {
        self.pass(1_000);
        let query = MetricQuery::parse(&spec.sql()).unwrap();
        let new = NewMetric::new(name("metric"), self.bill.items[0], query);
        let created = self.bill.host.account.create_metric(new);
        let id: MetricId = block_on(created.into_future()).unwrap().id;
        self.bill.metrics.push(id);
        self.bill.biller.metrics.push(spec.clone());
    }

    /// A backfill counts from now on.
    pub(super) fn reflect(&mut self, backfill: usize) {
        let before = self.bill.biller.clone();
        let at = self.now();
        self.history.reflect(backfill, at);
        self.corrected(&before, backfill);
        self.told.push((true, self.backfills[backfill]));
    }

    /// Judges what a correction has changed by now.
    pub(super) fn corrected(&mut self, before: &bill::Biller, backfill: usize) {
        self.bill.biller.events = self.history.visible();
        let of = &self.history.backfills[backfill];
        let cause = Cause::Backfill(self.backfills[backfill]);
        self.bill.biller.correct(before, |customer| of.is_for(customer), of.within, &cause);
    }

    /// Makes an event of what is asked for, at an instant.
    pub(super) fn event(
        &mut self,
        like: &EventSpec,
        customer: usize,
        at: Instant,
        again: Again,
        batch: &[Event],
    ) -> Event {
        self.keys += 1;
        let key = format!("event-{}", self.keys);
        let known = |index: usize| {
            let stored = self.history.events.iter().map(|stored| stored.first());
            let known: Vec<_> = stored.chain(batch).collect();
            nth(index, known.len()).map(|index| known[index].clone())
        };
        let (named, properties) = (like.name, like.properties.clone());
        let known = match again {
            Again::New => None,
            Again::Same(of) | Again::Place(of) | Again::Key(of) => known(of),
        };
        match (known, again) {
            (Some(known), Again::Same(_)) => known,
            (Some(of), Again::Place(_)) => {
                Event::new(of.customer, of.key, named, of.at, properties)
            }
            (Some(of), _) => Event::new(customer, of.key, named, at, properties),
            (None, _) => Event::new(customer, key, named, at, properties),
        }
    }
}

/// The last one, or one of all.
pub(super) fn one(index: usize, count: usize) -> Option<usize> {
    match index {
        usize::MAX => count.checked_sub(1),
        index => nth(index, count),
    }
}
