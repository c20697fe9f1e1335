//! A ledger that is spent credit by credit: a list of blocks, a list of lines, and the rules.

use super::*;
use crate::{credit::EntryStatus, limits};

#[derive(Clone, Debug, Default)]
pub(super) struct Oracle {
    pub(super) lines: Vec<Line>,
    pub(super) blocks: Vec<Pile>,
    pub(super) payers: Vec<(u64, i64)>,
    /// What each billing period has drawn.
    pub(super) drawn: [Vec<(u64, i64)>; 2],
    /// How much less each costs for which nothing was given back.
    spared: [i64; 2],
}

/// An entry without its balances.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) kind: EntryKind,
    pub(super) amount: i64,
    pub(super) block: u64,
    pub(super) at: Timestamp,
    /// The price that it is for, where it is usage.
    pub(super) price: Option<usize>,
}

/// What is paid for.
#[derive(Clone, Copy, Debug)]
enum Payee {
    Price(usize),
    /// What the caller takes.
    Anything,
    /// What a deleted block has paid for, of one price where it paid for that only.
    OfDeleted(Option<usize>),
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pile {
    pub(super) number: u64,
    pub(super) left: i64,
    pub(super) drawn: i64,
    pub(super) given: Option<i64>,
    pub(super) effective: Option<Timestamp>,
    pub(super) expiry: Option<Timestamp>,
    pub(super) basis: Option<i64>,
    /// The only price that it pays for.
    pub(super) only: Option<usize>,
    /// Of one that is deleted: what was drawn from others instead.
    pub(super) instead: Option<Vec<(u64, i64)>>,
}

/// What an expiration change asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The number of a block, or one that no block has.
    pub(super) block: Option<u64>,
    pub(super) expiry: Option<Timestamp>,
    pub(super) amount: Option<i64>,
    pub(super) target: Timestamp,
}

/// The number of the entry that is answered, or why there is none.
pub(super) type Answer = Result<u64, ErrorKind>;

const BROKEN: Answer = Err(ErrorKind::ConstraintViolation);

impl Pile {
    fn is_overdraft(&self) -> bool {
        self.given.is_none()
    }

    pub(super) fn is_open(&self) -> bool {
        self.left > 0
    }

    fn has_expired(&self, at: Timestamp) -> bool {
        self.expiry.is_some_and(|expiry| expiry <= at)
    }

    pub(super) fn is_spendable(&self, at: Timestamp) -> bool {
        self.is_open() && !self.has_expired(at) && self.effective.is_some_and(|date| date <= at)
    }

    fn order(&self) -> (Timestamp, i64, Option<Timestamp>, u64) {
        let expiry = self.expiry.unwrap_or(Timestamp::MAX);
        (expiry, self.basis.unwrap_or(0), self.effective, self.number)
    }
}

impl Oracle {
    pub(super) fn instant(&self, now: Timestamp) -> Timestamp {
        self.lines.last().map_or(now, |line| line.at.max(now))
    }

    /// Returns the number of the last line.
    fn last(&self) -> u64 {
        self.lines.len().try_into().unwrap()
    }

    fn next(&self) -> u64 {
        self.last() + 1
    }

    fn block(&mut self, number: u64) -> &mut Pile {
        self.blocks.iter_mut().find(|block| block.number == number).unwrap()
    }

    pub(super) fn overdraft(&self) -> Option<u64> {
        self.blocks.iter().find(|block| block.is_overdraft()).map(|block| block.number)
    }

    fn line(&mut self, kind: EntryKind, amount: i64, block: u64, at: Timestamp) -> u64 {
        self.lines.push(Line { kind, amount, block, at, price: None });
        self.last()
    }

    fn add(&mut self, pile: Pile) -> u64 {
        let number = pile.number;
        self.blocks.push(pile);
        number
    }

    /// Books what expires until an instant, one block at a time.
    pub(super) fn apply_transitions(&mut self, now: Timestamp) {
        let due = |block: &&mut Pile| block.is_open() && block.has_expired(now);
        while let Some(block) = self.blocks.iter_mut().filter(due).min_by_key(|pile| pile.order()) {
            let (number, left, expiry) = (block.number, block.left, block.expiry.unwrap());
            block.left = 0;
            self.line(EntryKind::CreditBlockExpiry, -left, number, self.instant(expiry));
        }
    }

    /// Takes one credit from the block that is next.
    fn take_one(&mut self, payee: Payee, at: Timestamp) -> u64 {
        let pays = |block: &&Pile| match (payee, block.only) {
            (Payee::Anything, _) | (_, None) => true,
            (Payee::Price(price), Some(only)) => price == only,
            (Payee::OfDeleted(of), Some(only)) => of == Some(only),
        };
        let spendable = self.blocks.iter().filter(|block| block.is_spendable(at));
        let mut spendable: Vec<_> = spendable.filter(pays).collect();
        let is_special = |block: &Pile| block.only.is_some() && !matches!(payee, Payee::Anything);
        spendable.sort_by_key(|block| (!is_special(block), block.order()));
        let next = spendable.first().map(|block| block.number).or(self.overdraft());
        let number = next.unwrap_or_else(|| {
            let number = self.next();
            self.add(Pile { number, ..Pile::default() })
        });
        let block = self.block(number);
        block.left -= 1;
        block.drawn += 1;
        number
    }

    pub(super) fn draw(&mut self, period: usize, amounts: [i64; 2], now: Timestamp) {
        let amount: i64 = amounts.iter().sum();
        if self.lines.is_empty() || amount <= 0 {
            return;
        }
        let at = self.instant(now);
        let spared = self.spared[period].min(amount);
        self.spared[period] -= spared;
        for done in 0..amount - spared {
            let price = usize::from(done >= amounts[0]);
            let block = self.take_one(Payee::Price(price), at);
            let drawn = &mut self.drawn[period];
            let earlier = drawn.iter().position(|(number, _)| *number == block);
            let earlier = earlier.map_or(0, |place| drawn.remove(place).1);
            drawn.push((block, earlier + 1));
            let growing = self.lines.iter_mut().rev().take_while(|line| line.price.is_some());
            let mut own = growing.filter(|of| of.block == block && of.price == Some(price));
            match own.find(|of| date(of.at) == date(at)) {
                Some(line) => line.amount -= 1,
                None => {
                    let (kind, price) = (EntryKind::Decrement, Some(price));
                    self.lines.push(Line { kind, amount: -1, block, at, price });
                }
            }
        }
    }

    pub(super) fn decrement(&mut self, amount: i64, now: Timestamp) -> Answer {
        let (at, before) = (self.instant(now), self.lines.len());
        for _ in 0..amount {
            let block = self.take_one(Payee::Anything, at);
            match self.lines[before..].last_mut().filter(|line| line.block == block) {
                Some(line) => line.amount -= 1,
                None => drop(self.line(EntryKind::Decrement, -1, block, at)),
            }
        }
        Ok(self.last())
    }

    /// Gives a block, of which all is known but the number and the amounts.
    pub(super) fn increment(&mut self, amount: i64, new: Pile, now: Timestamp) -> Answer {
        let at = self.instant(now);
        let (effective, expiry) = (new.effective.unwrap_or(at), new.expiry);
        if expiry.is_some_and(|expiry| expiry <= at || expiry <= effective) {
            return BROKEN;
        }
        let overdraft = self.overdraft().filter(|_| new.only.is_none());
        let paid = overdraft.map_or(0, |number| self.block(number).drawn.min(amount));
        if let Some(number) = overdraft.filter(|_| paid > 0) {
            self.block(number).left += paid;
            self.block(number).drawn -= paid;
            self.payers.push((self.next(), paid));
            if self.payers.len() > limits::PAYERS {
                self.payers[1].1 += self.payers[0].1;
                self.payers.remove(0);
            }
        }
        let (number, effective, given) = (self.next(), Some(effective), Some(amount));
        let (left, drawn) = (amount - paid, paid);
        self.add(Pile { number, left, drawn, given, effective, ..new });
        Ok(self.line(EntryKind::Increment, amount, number, at))
    }

    /// Finds a block that has not expired.
    fn find(&self, number: u64, at: Timestamp) -> Result<Pile, ErrorKind> {
        let found = self.blocks.iter().find(|block| block.number == number);
        let found = found.filter(|block| block.instead.is_none());
        let found = found.ok_or(ErrorKind::ResourceNotFound)?;
        if found.has_expired(at) { Err(ErrorKind::ConstraintViolation) } else { Ok(found.clone()) }
    }

    pub(super) fn void(&mut self, number: u64, amount: i64, now: Timestamp) -> Answer {
        let at = self.instant(now);
        let block = self.find(number, at)?;
        if block.is_overdraft() || block.left < amount {
            return BROKEN;
        }
        self.block(number).left -= amount;
        let initiated = self.line(EntryKind::VoidInitiated, 0, number, at);
        self.line(EntryKind::Void, -amount, number, at);
        Ok(initiated)
    }

    pub(super) fn amend(&mut self, number: u64, amount: i64, now: Timestamp) -> Answer {
        let at = self.instant(now);
        if self.find(number, at)?.drawn < amount {
            return BROKEN;
        }
        self.block(number).left += amount;
        self.block(number).drawn -= amount;
        Ok(self.line(EntryKind::Amendment, amount, number, at))
    }

    pub(super) fn change(&mut self, change: Change, now: Timestamp) -> Answer {
        let at = self.instant(now);
        if let Some(number) = change.block {
            self.find(number, at)?;
        }
        let is_meant = |block: &&Pile| {
            block.is_open()
                && !block.has_expired(at)
                && change.block.is_none_or(|number| number == block.number)
                && change.expiry.is_none_or(|expiry| Some(expiry) == block.expiry)
        };
        let meant: Vec<_> = self.blocks.iter().filter(is_meant).cloned().collect();
        let [source] = meant.as_slice() else { return BROKEN };
        let moved = change.amount.unwrap_or(source.left);
        if moved > source.left || change.target <= at || Some(change.target) <= source.effective {
            return BROKEN;
        }
        self.block(source.number).left -= moved;
        let (number, given, expiry) = (self.next(), Some(moved), Some(change.target));
        self.add(Pile { number, left: moved, drawn: 0, given, expiry, ..source.clone() });
        Ok(self.line(EntryKind::ExpirationChange, 0, source.number, at))
    }

    /// Gives back credit by credit: to the last block drawn that can take one.
    pub(super) fn give_back(&mut self, period: usize, price: usize, amount: i64, now: Timestamp) {
        if self.lines.is_empty() {
            return;
        }
        let at = self.instant(now);
        let mut given: Vec<(u64, i64)> = Vec::new();
        for done in 0..amount {
            let drawn = self.drawn[period].clone();
            let last_first = drawn.iter().rev().filter(|(_, share)| *share > 0);
            let mut last_first: Vec<_> = last_first.map(|(from, _)| *from).collect();
            // Those that pay for the price only, then those that pay for all, then the others.
            last_first.sort_by_key(|from| match self.block(*from).only {
                Some(only) if only == price => 0,
                None => 1,
                Some(_) => 2,
            });
            let mut last_first = last_first.into_iter();
            let found = last_first.find_map(|from| Some((from, self.give_one(from, &mut vec![])?)));
            let Some((from, to)) = found else {
                self.spared[period] += amount - done;
                break;
            };
            let share = self.drawn[period].iter_mut().find(|(number, _)| *number == from);
            share.unwrap().1 -= 1;
            match given.iter_mut().find(|(block, _)| *block == to) {
                Some((_, credits)) => *credits += 1,
                None => given.push((to, 1)),
            }
        }
        self.drawn[period].retain(|(_, share)| *share > 0);
        self.payers.retain(|(_, paid)| *paid > 0);
        for block in &mut self.blocks {
            block.instead.iter_mut().for_each(|list| list.retain(|(_, share)| *share > 0));
        }
        for (to, credits) in given {
            self.line(EntryKind::Amendment, credits, to, at);
            if self.block(to).has_expired(at) {
                self.line(EntryKind::CreditBlockExpiry, -credits, to, at);
            } else {
                self.block(to).left += credits;
            }
        }
    }

    /// Gives back a credit that was drawn from a block, and returns the one that takes it: itself, or
    /// one that has paid it off or was drawn from instead. `behind` are those that it stands for.
    fn give_one(&mut self, from: u64, behind: &mut Vec<u64>) -> Option<u64> {
        if self.block(from).drawn > 0 {
            self.block(from).drawn -= 1;
            return Some(from);
        }
        if behind.contains(&from) {
            return None;
        }
        let is_overdraft = self.overdraft() == Some(from);
        let instead = self.block(from).instead.clone().unwrap_or_default();
        let shares = if is_overdraft { self.payers.clone() } else { instead };
        behind.push(from);
        let owing = (0..shares.len()).rev().filter(|place| shares[*place].1 > 0);
        let found = owing
            .into_iter()
            .find_map(|place| Some((place, self.give_one(shares[place].0, behind)?)));
        behind.pop();
        let (place, to) = found?;
        if is_overdraft {
            self.payers[place].1 -= 1;
        } else {
            self.block(from).instead.as_mut().unwrap()[place].1 -= 1;
        }
        Some(to)
    }

    /// Deletes a block, and draws credit by credit what was drawn from it.
    pub(super) fn delete(&mut self, number: u64, now: Timestamp) -> Result<(), ErrorKind> {
        let at = self.instant(now);
        let found = self.blocks.iter().find(|block| block.number == number);
        let found = found.filter(|block| block.instead.is_none());
        let Pile { left, drawn, only, .. } = found.cloned().ok_or(ErrorKind::ResourceNotFound)?;
        if self.overdraft() == Some(number) {
            return Err(ErrorKind::ConstraintViolation);
        }
        if drawn > 0 {
            self.line(EntryKind::Amendment, drawn, number, at);
        }
        if left + drawn > 0 {
            self.line(EntryKind::VoidInitiated, 0, number, at);
            self.line(EntryKind::Void, -left - drawn, number, at);
        }
        let block = self.block(number);
        (block.left, block.drawn) = (0, 0);
        let mut instead: Vec<(u64, i64)> = Vec::new();
        for _ in 0..drawn {
            let from = self.take_one(Payee::OfDeleted(only), at);
            match instead.last_mut().filter(|(block, _)| *block == from) {
                Some((_, share)) => {
                    *share += 1;
                    self.lines.last_mut().unwrap().amount -= 1;
                }
                None => {
                    instead.push((from, 1));
                    self.line(EntryKind::Decrement, -1, from, at);
                }
            }
        }
        while instead.len() > limits::INSTEAD_BLOCKS {
            instead[1].1 += instead[0].1;
            instead.remove(0);
        }
        self.block(number).instead = Some(instead);
        Ok(())
    }

    /// Tells how an entry stands at an instant.
    pub(super) fn status(&self, index: usize, now: Timestamp) -> EntryStatus {
        let is_last = self.lines[index..].iter().all(|line| line.price.is_some());
        let is_today = date(self.lines[index].at) == date(now);
        if is_last && is_today { EntryStatus::Pending } else { EntryStatus::Committed }
    }
}

fn date(at: Timestamp) -> jiff::civil::Date {
    zone().civil(at.to_jiff()).date()
}
