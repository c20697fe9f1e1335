//! The engine and the bank side by side: each step is done by both.

use std::collections::BTreeMap;

use accrue::{AlertId, CreditBlockId, LedgerEntryId, credit::LedgerEntry};

use super::{Bank, Place, Step, UNITS};
use crate::{
    bill::{self, Opening, Slice, Step as BillStep, midnights},
    model::{At, Instant, MICROS_PER_DAY},
    script::Manner,
    world::nth,
};

/// The engine, the biller and the bank.
#[derive(Debug)]
pub struct Bench {
    pub bill: bill::Bench,
    pub bank: Bank,
    /// The blocks of each ledger.
    pub(super) blocks: BTreeMap<Place, Vec<CreditBlockId>>,
    pub(super) alerts: Vec<AlertId>,
    /// The entries that were seen committed.
    pub(super) committed: BTreeMap<LedgerEntryId, LedgerEntry>,
}

/// Runs a script. All ledgers are compared after each step, and all messages at the end, and
/// wherever time is applied.
pub fn run(beginning: &str, opening: &Opening, steps: &[Step], manner: &Manner) -> Bench {
    let bill = bill::Bench::at(beginning, opening);
    let bank = Bank { now: bill.biller.now, zones: bill.zones.clone(), ..Bank::default() };
    let (blocks, alerts, committed) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    let mut bench = Bench { bill, bank, blocks, alerts, committed };
    let mut sizes: Slice<'_> = manner.batches.iter().copied().cycle();
    let mut ticks = manner.ticks.iter().copied().cycle();
    for step in steps {
        bench.step(step, &mut sizes);
        bench.check_ledgers();
        if ticks.next().unwrap_or(false) {
            bench.bill.host.tick();
            bench.check_ledgers();
        }
    }
    bench.bill.host.tick();
    bench.check_ledgers();
    bench.check_messages();
    bench
}

impl Bench {
    fn step(&mut self, step: &Step, sizes: &mut Slice<'_>) {
        match step {
            Step::Bill(step) => self.bill(step, sizes),
            Step::Change { customer, unit, change } => {
                let place = self.place(*customer, *unit);
                self.change(place, change);
            }
            Step::DeleteBlock { customer, unit, block } => {
                let place = self.place(*customer, *unit);
                self.delete_block(place, *block);
            }
            Step::CreateAlert { customer, unit, kind, thresholds } => {
                let place = self.place(*customer, *unit);
                self.create_alert(place, *kind, thresholds);
            }
            Step::ToExpiry { customer, unit, block, by } => {
                let place = self.place(*customer, *unit);
                if let Some(at) = self.expiry(place, *block) {
                    self.set(at + by);
                }
            }
            Step::ToMidnight { customer, by } => {
                let zone = self.bill.zones[customer % self.bill.zones.len()];
                let now = self.bank.now;
                let days = midnights(zone, (now, now + 3 * MICROS_PER_DAY));
                self.set(days[0] + by);
            }
            Step::SetThresholds { alert, .. }
            | Step::Enable(alert)
            | Step::Disable(alert)
            | Step::DeleteAlert(alert) => {
                if let Some(alert) = nth(*alert, self.alerts.len()) {
                    self.change_alert(alert, step);
                }
            }
        }
    }

    /// Does a step of the biller, and what it is to the ledgers: event by event.
    fn bill(&mut self, step: &BillStep, sizes: &mut Slice<'_>) {
        if matches!(step, BillStep::Subscribe(_)) {
            self.tell_apart();
        }
        let mut before = self.bill.biller.clone();
        self.bill.step(step, sizes);
        let after = self.bill.biller.clone();
        self.bank.advance_to(after.now);
        match step {
            BillStep::Use(_) => {
                for event in &after.events[before.events.len()..] {
                    before.events.push(event.clone());
                    self.bank.accept(&before);
                }
            }
            BillStep::Subscribe(_) => {
                self.bank.reconcile(None, &after, after.lives.len() - 1);
            }
            BillStep::Cancel { .. } => {
                let lives = before.lives.iter().zip(&after.lives);
                let mut lives = lives.map(|(before, after)| before.core != after.core);
                if let Some(life) = lives.position(|is_moved| is_moved) {
                    self.bank.reconcile(Some(&before), &after, life);
                }
            }
            _ => {}
        }
    }

    /// Ids of one millisecond have no order: lets one pass.
    pub(super) fn tell_apart(&mut self) {
        self.set(self.bank.now + 1_000);
    }

    fn set(&mut self, to: Instant) {
        let to = to.clamp(self.bank.now, self.bank.now + 100 * MICROS_PER_DAY);
        self.bill.set(to);
        self.bank.advance_to(to);
    }

    pub(super) fn place(&self, customer: usize, unit: usize) -> Place {
        (customer % self.bill.customers.len(), UNITS[unit % UNITS.len()])
    }

    /// When a block expires, if that is to come.
    pub(super) fn expiry(&self, place: Place, block: usize) -> Option<Instant> {
        let blocks = &self.bank.ledgers.get(&place)?.blocks;
        let coming: Vec<_> = blocks
            .iter()
            .filter_map(|block| block.expiry.filter(|expiry| *expiry > self.bank.now))
            .collect();
        nth(block, coming.len()).map(|index| coming[index])
    }

    /// The engine's id of a block.
    pub(super) fn block(&self, place: Place, block: At) -> CreditBlockId {
        self.blocks[&place][block]
    }
}
