use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::shares::{self, Rank};
use crate::{CreditBlockId, Decimal, Timestamp, limits, subscription::InForce};

/// Amounts that the usage of one billing period of a subscription has drawn from one ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drawn {
    /// Amounts block by block, and of each price by price: the block that was drawn last stands last.
    #[serde(rename = "drawn")]
    shares: Vec<(CreditBlockId, OfPrices)>,
    /// Amount that the usage has come to cost less with nothing to give back: it was there before
    /// the ledger, or what it drew was given back already. As much draws nothing when it comes
    /// back, so that what is taken back and done again ends where it began.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    spared: Decimal,
    /// Amounts that prices drew from the overdraft, and that invoices have billed, with the dates of these: the oldest
    /// stands first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    billed: Vec<(InForce, Timestamp, Decimal)>,
}

/// Amounts by price; none is zero.
type OfPrices = Vec<(InForce, Decimal)>;

impl Drawn {
    /// Returns the amount that was drawn from each block, but for what was billed since.
    pub(crate) fn shares(&self) -> Vec<(CreditBlockId, Decimal)> {
        self.shares.iter().map(|(id, prices)| (*id, sum(prices))).collect()
    }

    /// Returns the amount that each price has drawn, but for what was billed since.
    pub(super) fn by_price(&self) -> BTreeMap<InForce, Decimal> {
        let mut sums = BTreeMap::new();
        for (price, share) in self.shares.iter().flat_map(|(_, prices)| prices) {
            *sums.entry(*price).or_default() += share;
        }
        sums
    }

    /// Returns the amount that a price has drawn, but for what was billed since.
    pub(crate) fn of(&self, price: InForce) -> Decimal {
        self.shares.iter().map(|(_, prices)| of(prices, price)).sum()
    }

    /// Returns the amount that a price has drawn from a block.
    pub(crate) fn taken_from(&self, id: CreditBlockId, price: InForce) -> Decimal {
        let found = self.shares.iter().find(|(block, _)| *block == id);
        found.map(|(_, prices)| of(prices, price)).unwrap_or_default()
    }

    /// Returns the amount that invoices dated up to an instant have billed of what a price has drawn.
    pub(crate) fn billed_by(&self, price: InForce, date: Timestamp) -> Decimal {
        let own = self.billed.iter().filter(|(of, at, _)| *of == price && *at <= date);
        own.map(|(_, _, amount)| amount).sum()
    }

    /// Adds an amount that a price has drawn from a block, which is the last one from now on.
    pub(super) fn add(&mut self, id: CreditBlockId, price: InForce, amount: &Decimal) {
        let place = self.shares.iter().rposition(|(drawn, _)| *drawn == id);
        let mut prices = place.map(|place| self.shares.remove(place).1).unwrap_or_default();
        add(&mut prices, price, amount);
        self.shares.push((id, prices));
        let too_many = |shares: &[(CreditBlockId, OfPrices)]| {
            let amounts: usize = shares.iter().map(|(_, prices)| prices.len()).sum();
            shares.len() > limits::DRAWN_BLOCKS || amounts > limits::DRAWN_AMOUNTS
        };
        while self.shares.len() > 1 && too_many(&self.shares) {
            let (_, oldest) = self.shares.remove(0);
            let Some((_, next)) = self.shares.first_mut() else { return };
            oldest.iter().for_each(|(price, share)| add(next, *price, share));
        }
    }

    /// Returns the part of an amount that is to be drawn: what was spared is not.
    pub(super) fn due(&mut self, amount: &Decimal) -> Decimal {
        let spared = self.spared.clone().min(amount.clone());
        self.spared -= &spared;
        amount - spared
    }

    /// Tells whether some usage is to draw nothing.
    pub(crate) fn has_spared(&self) -> bool {
        !self.spared.is_zero()
    }

    /// Hands an amount back, at most what was drawn: see [`shares::hand_back`]. Of each block what the prices
    /// that cost less have drawn goes first. The rest is spared.
    pub(super) fn hand_back(
        &mut self,
        amount: &Decimal,
        costs_less: impl Fn(InForce) -> bool,
        rank: impl Fn(CreditBlockId) -> Rank,
        give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
    ) {
        let mut left = self.shares();
        let given = shares::hand_back(&mut left, amount, rank, give);
        let left: BTreeMap<_, _> = left.into_iter().collect();
        for (id, prices) in &mut self.shares {
            let mut less = sum(prices) - left.get(id).cloned().unwrap_or_default();
            for is_first in [true, false] {
                let own = prices.iter_mut().filter(|(price, _)| costs_less(*price) == is_first);
                for (_, share) in own {
                    let off = share.clone().min(less.clone());
                    *share -= &off;
                    less -= off;
                }
            }
        }
        self.drop_zeros();
        self.spared += amount - given;
    }

    /// Hands an amount back that a price has drawn, at most so much: what it drew last goes first. `give`
    /// tells how much of what it is handed a block has taken.
    pub(super) fn hand_back_of(
        &mut self,
        price: InForce,
        amount: &Decimal,
        mut give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
    ) {
        let mut rest = amount.clone();
        for (id, prices) in self.shares.iter_mut().rev() {
            for (_, share) in prices.iter_mut().filter(|(of, _)| *of == price) {
                let given = give(*id, share.clone().min(rest.clone()));
                *share -= &given;
                rest -= given;
            }
        }
        self.drop_zeros();
    }

    /// Takes an amount off what a price has drawn from a block.
    pub(super) fn reduce(&mut self, id: CreditBlockId, price: InForce, amount: &Decimal) {
        let own = self.shares.iter_mut().filter(|(block, _)| *block == id);
        for (_, share) in own.flat_map(|(_, prices)| prices).filter(|(of, _)| *of == price) {
            *share -= amount;
        }
        self.drop_zeros();
    }

    /// Counts an amount that a price has drawn as billed by an invoice of a date.
    pub(super) fn bill(&mut self, price: InForce, date: Timestamp, amount: &Decimal) {
        if amount.is_zero() {
            return;
        }
        self.billed.push((price, date, amount.clone()));
        if self.billed.len() > limits::BILLED_AMOUNTS {
            // The two oldest of the price count as one.
            let mut own = self.billed.iter_mut().filter(|(of, ..)| *of == price);
            if let (Some(first), Some(second)) = (own.next(), own.next()) {
                second.2 += std::mem::take(&mut first.2);
            }
            self.billed.retain(|(.., amount)| !amount.is_zero());
        }
    }

    /// Counts what a price has drawn from blocks that pay for another one with that: at most so much. Returns
    /// how much.
    pub(super) fn move_over(
        &mut self,
        [from, to]: [InForce; 2],
        amount: &Decimal,
        pays: impl Fn(CreditBlockId) -> bool,
    ) -> Decimal {
        let mut rest = amount.clone();
        for (_, prices) in self.shares.iter_mut().filter(|(id, _)| pays(*id)) {
            let moved = of(prices, from).min(rest.clone());
            add(prices, from, &-&moved);
            add(prices, to, &moved);
            rest -= moved;
        }
        amount - rest
    }

    fn drop_zeros(&mut self) {
        for (_, prices) in &mut self.shares {
            prices.retain(|(_, share)| !share.is_zero());
        }
        self.shares.retain(|(_, prices)| !prices.is_empty());
    }
}

fn sum(prices: &OfPrices) -> Decimal {
    prices.iter().map(|(_, share)| share).sum()
}

fn of(prices: &OfPrices, price: InForce) -> Decimal {
    prices.iter().filter(|(of, _)| *of == price).map(|(_, share)| share).sum()
}

fn add(prices: &mut OfPrices, price: InForce, amount: &Decimal) {
    if amount.is_zero() {
        return;
    }
    match prices.iter_mut().find(|(of, _)| *of == price) {
        Some((_, share)) => *share += amount,
        None => prices.push((price, amount.clone())),
    }
    prices.retain(|(_, share)| !share.is_zero());
}
