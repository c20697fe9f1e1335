//! Discounts of what falls due together, instant by instant: those in force then are of what is charged, and
//! what is taken back takes its discounts back with it (invoicing 10.6).

use std::collections::BTreeSet;

use super::{joint::Joint, line::Charged, step::EXACT};
use crate::{Decimal, Timestamp};

/// What falls due of a joint's members at one instant.
pub(super) struct Movement {
    pub(super) at: Timestamp,
    /// Amount of each member before discounts.
    amounts: Vec<Decimal>,
    /// What each discount adds to each member; none where there are no discounts.
    pub(super) off: Vec<Vec<Decimal>>,
}

/// What a member has come to: of its period, from an instant on.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// All that has fallen due.
    pub(super) sum: Decimal,
    /// What a whole period would come to with the quantity that goes on.
    pub(super) level: Decimal,
}

/// Charge that goes on: what one instant has added to the level of a member.
struct Lot {
    level: Decimal,
    /// Amount that fell due for it, and what each discount added to that.
    charged: Decimal,
    off: Vec<Decimal>,
}

/// Charges of a member that go on, oldest first.
#[derive(Default)]
struct Lots(Vec<Lot>);

impl Joint {
    /// Returns what movements come to for each member, after discounts.
    pub(super) fn totals(&self, movements: &[Movement]) -> Vec<Decimal> {
        let mut totals = vec![Decimal::zero(); self.members.len()];
        for Movement { amounts, off, .. } in movements {
            for by in off.iter().chain([amounts]) {
                totals.iter_mut().zip(by).for_each(|(total, by)| *total += by);
            }
        }
        totals
    }

    /// Returns what falls due at each instant, in order.
    pub(super) fn movements(&self, charged: &[Charged]) -> Vec<Movement> {
        let instants: BTreeSet<_> = charged.iter().flat_map(|of| of.due.keys().copied()).collect();
        let mut lots: Vec<_> = charged.iter().map(|_| Lots::default()).collect();
        let mut before: Vec<_> = charged.iter().map(|_| State::default()).collect();
        let mut movements = Vec::with_capacity(instants.len());
        for at in instants {
            let after: Vec<_> = charged.iter().map(|of| of.state_at(at)).collect();
            let amounts: Vec<_> =
                after.iter().zip(&before).map(|(to, from)| &to.sum - &from.sum).collect();
            let off = match self.discounts.is_empty() {
                true => Vec::new(),
                false => self.discounts_at(at, &before, &after, &mut lots),
            };
            movements.push(Movement { at, amounts, off });
            before = after;
        }
        movements
    }

    /// Returns what each discount adds to each member between two states of them.
    fn discounts_at(
        &self,
        at: Timestamp,
        before: &[State],
        after: &[State],
        lots: &mut [Lots],
    ) -> Vec<Vec<Decimal>> {
        let mut off = vec![vec![Decimal::zero(); after.len()]; self.discounts.len()];
        // What is taken back has no part in the discounts of now.
        let mut from: Vec<_> = before.iter().map(|of| of.sum.clone()).collect();
        let states = before.iter().zip(after);
        let mut to: Vec<_> = states
            .map(|(before, after)| if before.falls_to(after) { &before.sum } else { &after.sum })
            .cloned()
            .collect();
        for (step, off) in self.discounts.iter().zip(&mut off) {
            if !step.force.holds(at, self.billing_mode) {
                continue;
            }
            let moved = |from: &[Decimal], to: &[Decimal]| -> Vec<_> {
                to.iter().zip(from).map(|(to, from)| to - from).collect()
            };
            let undiscounted = moved(&from, &to);
            step.apply(&mut from);
            step.apply(&mut to);
            *off = moved(&undiscounted, &moved(&from, &to));
        }
        let places = self.discounts.iter().map(|step| step.places).max().unwrap_or_default();
        for (member, ((before, after), lots)) in before.iter().zip(after).zip(lots).enumerate() {
            let amount = &after.sum - &before.sum;
            let mut own: Vec<_> = off.iter_mut().filter_map(|off| off.get_mut(member)).collect();
            let added = own.iter().map(|off| (*off).clone()).collect();
            if before.falls_to(after) {
                lots.shift(added);
                let taken = lots.take_back(&before.level - &after.level, &amount, places);
                own.iter_mut().zip(taken).for_each(|(off, taken)| **off += taken);
            } else if before.level == after.level {
                lots.shift(added);
            } else {
                let level = &after.level - &before.level;
                lots.0.push(Lot { level, charged: amount, off: added });
            }
        }
        off
    }
}

impl Charged {
    fn state_at(&self, at: Timestamp) -> State {
        self.due.range(..=at).next_back().map(|(_, state)| state.clone()).unwrap_or_default()
    }
}

impl State {
    /// Tells whether some of it is taken back.
    fn falls_to(&self, after: &Self) -> bool {
        let fall = &self.level - &after.level;
        !fall.is_zero() && !self.level.is_zero() && fall.is_negative() == self.level.is_negative()
    }
}

impl Lots {
    /// Notes what discounts that are shared move to a member, or from it, since others are charged.
    fn shift(&mut self, off: Vec<Decimal>) {
        if let Some(lot) = self.0.last_mut() {
            lot.off.iter_mut().zip(off).for_each(|(sum, off)| *sum += off);
        }
    }

    /// Takes a part of the level back, of the latest charges first, for which an amount falls due. Returns
    /// what each discount adds to that: the share of what it has added to those charges, rounded once.
    fn take_back(&mut self, fall: Decimal, amount: &Decimal, places: u32) -> Vec<Decimal> {
        let (whole, mut left) = (fall.clone(), fall);
        let least = places.max(amount.places());
        let mut taken: Vec<(Decimal, u32)> = Vec::new();
        while !left.is_zero()
            && let Some(lot) = self.0.last_mut()
        {
            let is_all = (&left - &lot.level).is_negative() == lot.level.is_negative();
            let part = if is_all { lot.level.clone() } else { left.clone() };
            taken.resize(lot.off.len().max(taken.len()), (Decimal::zero(), least));
            let charged = &whole * &lot.charged;
            // What was rounded to nothing has no discount.
            let is_charged = charged > Decimal::zero();
            let shares = taken.iter_mut().zip(&lot.off);
            for ((sum, places), off) in shares.filter(|(_, off)| is_charged && !off.is_zero()) {
                *places = (*places).max(off.places());
                *sum += amount.share(&(&part * off), &charged, places.saturating_add(EXACT));
            }
            lot.level -= &part;
            left -= &part;
            if lot.level.is_zero() {
                self.0.pop();
            }
        }
        taken.into_iter().map(|(sum, places)| sum.round(places)).collect()
    }
}
