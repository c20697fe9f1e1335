//! A ledger: every block and every entry that there ever was.

use std::collections::BTreeMap;

use bigdecimal::{BigDecimal, Zero as _};

use crate::model::{At, Instant};

/// What was given at once, or the overdraft.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub balance: BigDecimal,
    /// What was given; none of the overdraft.
    pub given: Option<BigDecimal>,
    pub effective: Instant,
    pub expiry: Option<Instant>,
    pub basis: Option<BigDecimal>,
    pub created: Instant,
    /// What was taken from it, and not given back.
    pub drawn: BigDecimal,
    /// Of one that is deleted: what was taken from others instead.
    pub instead: Option<Vec<(At, BigDecimal)>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub kind: EntryKind,
    pub amount: BigDecimal,
    pub block: At,
    pub at: Instant,
    pub is_pending: bool,
    /// The price of the usage that it is for.
    pub price: Option<Priced>,
}

/// A price, by its plan and its place there.
pub type Priced = (At, At);

#[derive(Clone, Debug, PartialEq)]
pub enum EntryKind {
    Increment,
    Decrement,
    ExpirationChange { moved: BigDecimal, to: At },
    Expiry,
    VoidInitiated(BigDecimal),
    Void(BigDecimal),
    Amendment,
}

/// What a caller asks for.
#[derive(Clone, Debug)]
pub enum Change {
    Increment {
        amount: BigDecimal,
        effective: Option<Instant>,
        expiry: Option<Instant>,
        basis: Option<BigDecimal>,
    },
    Decrement(BigDecimal),
    ExpirationChange {
        target: Instant,
        amount: Option<BigDecimal>,
        block: Option<At>,
        expiry: Option<Instant>,
    },
    Void(BigDecimal, At),
    Amendment(BigDecimal, At),
}

/// What a caller asks for cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Usage of a subscription in the billing period that begins at an instant.
type Usage = (At, Instant);

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// In the order in which they were made, the overdraft among them.
    pub blocks: Vec<Block>,
    pub entries: Vec<Entry>,
    pub overdraft: Option<At>,
    /// Which blocks paid the overdraft off, and how much of it; the last one stands last.
    payers: Vec<(At, BigDecimal)>,
    /// What usage took from which block; the one that was drawn last stands last.
    drawn: BTreeMap<Usage, Vec<(At, BigDecimal)>>,
    /// What usage cost less without getting anything back: as much more draws nothing.
    spared: BTreeMap<Usage, BigDecimal>,
    /// When the day of the pending entries ends.
    day_end: Instant,
}

impl Block {
    #[must_use]
    pub fn is_expired(&self, now: Instant) -> bool {
        self.expiry.is_some_and(|expiry| expiry <= now)
    }

    #[must_use]
    pub fn is_effective(&self, now: Instant) -> bool {
        self.effective <= now && !self.is_expired(now)
    }
}

// What there is.

impl Ledger {
    #[must_use]
    pub fn balance(&self) -> BigDecimal {
        self.entries.iter().map(|entry| &entry.amount).sum()
    }

    /// What usage can draw now.
    #[must_use]
    pub fn available(&self, now: Instant) -> BigDecimal {
        self.spendable(now).into_iter().map(|block| &self.blocks[block].balance).sum()
    }

    #[must_use]
    pub fn overdrawn(&self) -> BigDecimal {
        self.overdraft.map(|block| -&self.blocks[block].balance).unwrap_or_default()
    }

    /// The blocks that have something left and have not expired.
    #[must_use]
    pub fn open(&self, now: Instant) -> Vec<At> {
        let all = 0..self.blocks.len();
        all.filter(|block| self.has_left(*block) && !self.blocks[*block].is_expired(now)).collect()
    }

    fn has_left(&self, block: At) -> bool {
        self.blocks[block].given.is_some() && self.blocks[block].balance > BigDecimal::zero()
    }

    /// The blocks that can be drawn on, in the order in which they are.
    fn spendable(&self, now: Instant) -> Vec<At> {
        let mut found = self.open(now);
        found.retain(|block| self.blocks[*block].is_effective(now));
        found.sort_by_key(|block| self.rank(*block));
        found
    }

    fn rank(&self, block: At) -> (Instant, BigDecimal, Instant, At) {
        let of = &self.blocks[block];
        let expiry = of.expiry.unwrap_or(i64::MAX);
        (expiry, of.basis.clone().unwrap_or_default(), of.effective, block)
    }
}

// Time.

impl Ledger {
    /// The next block that has expired with something left, and when it did.
    #[must_use]
    pub fn next_expiry(&self, now: Instant) -> Option<(Instant, At)> {
        let all = 0..self.blocks.len();
        let expired =
            all.filter(|block| self.has_left(*block) && self.blocks[*block].is_expired(now));
        let first = expired.min_by_key(|block| self.rank(*block))?;
        Some((self.blocks[first].expiry?, first))
    }

    /// Loses what a block has left.
    pub fn expire(&mut self, block: At, at: Instant) {
        let left = std::mem::take(&mut self.blocks[block].balance);
        self.enter(EntryKind::Expiry, -left, block, at);
    }

    pub fn end_day(&mut self, now: Instant) {
        if self.day_end <= now {
            self.commit();
        }
    }

    fn commit(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.is_pending = false);
    }

    /// Adds an entry that is not usage.
    fn enter(&mut self, kind: EntryKind, amount: BigDecimal, block: At, at: Instant) {
        self.commit();
        self.entries.push(Entry { kind, amount, block, at, is_pending: false, price: None });
    }
}

// What callers do.

impl Ledger {
    /// Says which entry is the answer.
    pub fn book(&mut self, change: &Change, now: Instant) -> Result<At, Refused> {
        match change {
            Change::Increment { amount, effective, expiry, basis } => {
                let given = Some(amount.clone());
                let effective = effective.unwrap_or(now);
                let (expiry, basis) = (*expiry, basis.clone());
                self.increment(Block {
                    balance: amount.clone(),
                    given,
                    effective,
                    expiry,
                    basis,
                    created: now,
                    drawn: BigDecimal::zero(),
                    instead: None,
                });
            }
            Change::Decrement(amount) => {
                for (block, part) in self.spend(amount, now) {
                    self.enter(EntryKind::Decrement, -part, block, now);
                }
            }
            Change::ExpirationChange { target, amount, block, expiry } => {
                let block = self.source(*block, *expiry, now)?;
                let moved = amount.clone().unwrap_or_else(|| self.blocks[block].balance.clone());
                self.take_left(&moved, block, now)?;
                let source = self.blocks[block].clone();
                self.blocks.push(Block {
                    balance: moved.clone(),
                    given: Some(moved.clone()),
                    expiry: Some(*target),
                    created: now,
                    drawn: BigDecimal::zero(),
                    ..source
                });
                let to = self.blocks.len() - 1;
                let kind = EntryKind::ExpirationChange { moved, to };
                self.enter(kind, BigDecimal::zero(), block, now);
            }
            Change::Void(amount, block) => {
                self.take_left(amount, *block, now)?;
                let initiated = EntryKind::VoidInitiated(amount.clone());
                self.enter(initiated, BigDecimal::zero(), *block, now);
                self.enter(EntryKind::Void(amount.clone()), -amount, *block, now);
                return Ok(self.entries.len() - 2);
            }
            Change::Amendment(amount, block) => {
                let of = self.blocks.get(*block).ok_or(Refused)?;
                if of.is_expired(now) || *amount > of.drawn {
                    return Err(Refused);
                }
                self.amend(*block, amount, now);
            }
        }
        Ok(self.entries.len() - 1)
    }

    /// Empties a block, and takes from others what was taken from it; says which entry is the last.
    pub fn delete(&mut self, block: At, now: Instant) -> Result<Option<At>, Refused> {
        let of = &mut self.blocks[block];
        if of.given.is_none() || of.instead.is_some() {
            return Err(Refused);
        }
        let drawn = std::mem::take(&mut of.drawn);
        let void = std::mem::take(&mut of.balance) + &drawn;
        if !drawn.is_zero() {
            self.enter(EntryKind::Amendment, drawn.clone(), block, now);
        }
        if !void.is_zero() {
            self.enter(EntryKind::VoidInitiated(void.clone()), BigDecimal::zero(), block, now);
            self.enter(EntryKind::Void(void.clone()), -&void, block, now);
        }
        let parts = self.spend(&drawn, now);
        for (from, part) in &parts {
            self.enter(EntryKind::Decrement, -part, *from, now);
        }
        self.blocks[block].instead = Some(parts);
        Ok((!void.is_zero()).then(|| self.entries.len() - 1))
    }

    /// Pays off the overdraft first.
    fn increment(&mut self, mut new: Block) {
        let (block, at, amount) = (self.blocks.len(), new.created, new.balance.clone());
        let paid = self.overdrawn().min(amount.clone());
        if let Some(overdraft) = self.overdraft.filter(|_| !paid.is_zero()) {
            self.blocks[overdraft].balance += &paid;
            self.blocks[overdraft].drawn -= &paid;
            self.payers.push((block, paid.clone()));
        }
        new.balance -= &paid;
        new.drawn = paid;
        self.blocks.push(new);
        self.enter(EntryKind::Increment, amount, block, at);
    }

    /// The block whose expiry is to change.
    fn source(
        &self,
        block: Option<At>,
        expiry: Option<Instant>,
        now: Instant,
    ) -> Result<At, Refused> {
        let mut found = self.open(now);
        found.retain(|open| block.is_none_or(|block| block == *open));
        found.retain(|open| expiry.is_none() || self.blocks[*open].expiry == expiry);
        match found[..] {
            [only] => Ok(only),
            _ => Err(Refused),
        }
    }

    /// Takes of what a block has left.
    fn take_left(&mut self, amount: &BigDecimal, block: At, now: Instant) -> Result<(), Refused> {
        if !self.open(now).contains(&block) || *amount > self.blocks[block].balance {
            return Err(Refused);
        }
        self.blocks[block].balance -= amount;
        Ok(())
    }

    /// Takes from the blocks in their order, and the rest from the overdraft.
    fn spend(&mut self, amount: &BigDecimal, now: Instant) -> Vec<(At, BigDecimal)> {
        let (mut rest, mut parts) = (amount.clone(), Vec::new());
        for block in self.spendable(now) {
            let part = rest.clone().min(self.blocks[block].balance.clone());
            if !part.is_zero() {
                self.blocks[block].balance -= &part;
                self.blocks[block].drawn += &part;
                rest -= &part;
                parts.push((block, part));
            }
        }
        if !rest.is_zero() {
            let block = self.overdraft.unwrap_or_else(|| self.open_overdraft(now));
            self.blocks[block].balance -= &rest;
            self.blocks[block].drawn += &rest;
            parts.push((block, rest));
        }
        parts
    }

    fn open_overdraft(&mut self, now: Instant) -> At {
        let block = self.blocks.len();
        self.overdraft = Some(block);
        self.blocks.push(Block {
            balance: BigDecimal::zero(),
            given: None,
            effective: now,
            expiry: None,
            basis: None,
            created: now,
            drawn: BigDecimal::zero(),
            instead: None,
        });
        block
    }
}

// Usage.

/// What was given back to blocks, and is not booked yet.
type Returned = Vec<(At, BigDecimal)>;

impl Ledger {
    /// Gives back what usage costs less, one amendment for each block; then draws what it costs more.
    pub fn follow(
        &mut self,
        moved: &[(Usage, Vec<(Priced, BigDecimal)>)],
        now: Instant,
        day_end: Instant,
    ) {
        let sum = |prices: &[(Priced, BigDecimal)]| -> BigDecimal {
            prices.iter().map(|(_, more)| more).sum()
        };
        let mut returned = Vec::new();
        for (usage, prices) in moved.iter().filter(|(_, of)| sum(of) < BigDecimal::zero()) {
            self.give_back(-sum(prices), *usage, &mut returned);
        }
        for (block, amount) in returned {
            self.enter(EntryKind::Amendment, amount, block, now);
            if self.blocks[block].is_expired(now) {
                self.expire(block, now);
            }
        }
        for (usage, prices) in moved.iter().filter(|(_, of)| sum(of) > BigDecimal::zero()) {
            let spared = self.spared.remove(usage).unwrap_or_default();
            let mut rest = (sum(prices) - &spared).max(BigDecimal::zero());
            self.spared.insert(*usage, (spared - sum(prices)).max(BigDecimal::zero()));
            for (price, more) in prices.iter().filter(|(_, more)| *more > BigDecimal::zero()) {
                let own = more.clone().min(rest.clone());
                rest -= &own;
                self.draw(&own, *usage, *price, now, day_end);
            }
        }
    }

    fn draw(
        &mut self,
        amount: &BigDecimal,
        usage: Usage,
        price: Priced,
        now: Instant,
        day_end: Instant,
    ) {
        for (block, part) in self.spend(amount, now) {
            let drawn = self.drawn.entry(usage).or_default();
            let earlier = drawn.iter().position(|(of, _)| *of == block);
            let earlier = earlier.map(|at| drawn.remove(at).1).unwrap_or_default();
            drawn.push((block, earlier + &part));
            let mut pending = self.entries.iter_mut().filter(|entry| entry.is_pending);
            let is_own = |entry: &&mut Entry| entry.block == block && entry.price == Some(price);
            if let Some(entry) = pending.find(is_own) {
                entry.amount -= part;
                continue;
            }
            self.day_end = day_end;
            self.entries.push(Entry {
                kind: EntryKind::Decrement,
                amount: -part,
                block,
                at: now,
                is_pending: true,
                price: Some(price),
            });
        }
    }

    fn give_back(&mut self, amount: BigDecimal, usage: Usage, returned: &mut Returned) {
        let mut drawn = self.drawn.remove(&usage).unwrap_or_default();
        let given = self.give_back_to_all(&mut drawn, amount.clone(), returned);
        self.drawn.insert(usage, drawn);
        *self.spared.entry(usage).or_default() += amount - given;
    }

    /// Gives back to blocks at most what was taken from each, the last one first.
    fn give_back_to_all(
        &mut self,
        shares: &mut Vec<(At, BigDecimal)>,
        all: BigDecimal,
        returned: &mut Returned,
    ) -> BigDecimal {
        let mut rest = all.clone();
        for (block, share) in shares.iter_mut().rev() {
            let given = self.give_back_for(*block, &rest.clone().min(share.clone()), returned);
            *share -= &given;
            rest -= given;
        }
        shares.retain(|(_, share)| !share.is_zero());
        all - rest
    }

    /// Gives back for a block: to those that were taken from instead where it is deleted, and what
    /// the overdraft does not owe any more to those that paid it off.
    fn give_back_for(
        &mut self,
        block: At,
        most: &BigDecimal,
        returned: &mut Returned,
    ) -> BigDecimal {
        if let Some(instead) = &mut self.blocks[block].instead {
            let mut instead = std::mem::take(instead);
            let given = self.give_back_to_all(&mut instead, most.clone(), returned);
            self.blocks[block].instead = Some(instead);
            return given;
        }
        let mut given = self.give_back_to(block, most, returned);
        if self.overdraft == Some(block) {
            let mut payers = std::mem::take(&mut self.payers);
            given += self.give_back_to_all(&mut payers, most - &given, returned);
            self.payers = payers;
        }
        given
    }

    /// A caller may have given back something already: of that there is no more to give.
    fn give_back_to(
        &mut self,
        block: At,
        most: &BigDecimal,
        returned: &mut Returned,
    ) -> BigDecimal {
        let given = most.clone().min(self.blocks[block].drawn.clone());
        if !given.is_zero() {
            self.blocks[block].balance += &given;
            self.blocks[block].drawn -= &given;
            match returned.iter_mut().find(|(of, _)| *of == block) {
                Some((_, sum)) => *sum += &given,
                None => returned.push((block, given.clone())),
            }
        }
        given
    }

    /// Gives something back to a block; it is lost where that has expired.
    fn amend(&mut self, block: At, amount: &BigDecimal, now: Instant) {
        self.blocks[block].balance += amount;
        self.blocks[block].drawn -= amount;
        self.enter(EntryKind::Amendment, amount.clone(), block, now);
        if self.blocks[block].is_expired(now) {
            self.expire(block, now);
        }
    }
}
