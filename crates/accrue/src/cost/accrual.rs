use super::{
    fees,
    rate_card::{Priced, RateCard},
};
use crate::{
    Currency, Decimal, PricingUnit, Timeframe, Timestamp,
    price::{Discount, Price},
    subscription::Subscription,
    usage::{MeterId, Total},
};

/// What a billing period of a subscription has come to so far, price by price.
///
/// Usage counts as soon as it is there, a fee from the instant on that it falls due, and what a
/// minimum adds once the period has ended.
#[derive(Clone, Debug)]
pub(crate) struct Accrual {
    pub(crate) invoiced_in: Currency,
    has_ended: bool,
    lines: Vec<Line>,
}

/// What one price has come to: nothing before anything was used or has fallen due.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    priced: Priced,
    /// What was used of each meter, and what that costs.
    cells: Vec<(Decimal, Decimal)>,
    is_used: bool,
    amounts: Amounts,
}

/// What a price has come to, before and after adjustments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub(crate) subtotal: Option<Decimal>,
    pub(crate) total: Option<Decimal>,
}

/// A line that has moved: its place, and by how much.
pub(crate) type Moved = (usize, Amounts);

impl Accrual {
    /// Rates what was used in a billing period, and counts what has fallen due until an instant.
    pub(crate) fn new(card: &RateCard, period: Timeframe, used: &Total, until: Timestamp) -> Self {
        let has_ended = period.end() <= until;
        let lines = card.prices.iter().map(|priced| {
            let mut line = Line::new(priced.clone());
            if priced.meters.is_empty() {
                line.charge(&card.subscription, period, until);
            } else {
                line.follow(None, used, has_ended);
            }
            line
        });
        Self { invoiced_in: card.subscription.currency, has_ended, lines: lines.collect() }
    }

    /// Rates the prices again whose usage has moved, and returns which those are.
    pub(crate) fn follow(&mut self, moved: &[MeterId], used: &Total) -> Vec<Moved> {
        let mut lines = Vec::new();
        for (index, line) in self.lines.iter_mut().enumerate() {
            if line.priced.meters.iter().any(|meter| moved.contains(meter)) {
                let before = line.amounts.clone();
                line.follow(Some(moved), used, self.has_ended);
                lines.push((index, line.amounts.since(before)));
            }
        }
        lines
    }

    /// Returns what credits of a currency or pricing unit pay for of usage lines that have moved: what
    /// they cost more before adjustments.
    pub(crate) fn drawn_in(&self, unit: &PricingUnit, moved: &[Moved]) -> Decimal {
        let moved = moved.iter().filter(|(index, _)| {
            self.lines.get(*index).is_some_and(|line| line.priced.price.currency == *unit)
        });
        moved.filter_map(|(_, amounts)| amounts.subtotal.clone()).sum()
    }

    /// Returns what they pay for of everything that was used.
    pub(crate) fn used_in(&self, unit: &PricingUnit) -> Decimal {
        let used = self.lines.iter().filter(|line| line.is_used);
        let used = used.filter(|line| line.priced.price.currency == *unit);
        used.filter_map(|line| line.amounts.subtotal.clone()).sum()
    }

    /// Returns the prices, in order, with what each has come to.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Price, &Amounts)> {
        self.lines.iter().map(|line| (&*line.priced.price, &line.amounts))
    }
}

impl Amounts {
    /// Returns by how much they have moved.
    fn since(&self, before: Self) -> Self {
        let moved = |after: &Option<Decimal>, before: Option<Decimal>| {
            after.clone().map(|after| after - before.unwrap_or_default())
        };
        Self {
            subtotal: moved(&self.subtotal, before.subtotal),
            total: moved(&self.total, before.total),
        }
    }
}

impl Line {
    fn new(priced: Priced) -> Self {
        let cells = vec![(Decimal::zero(), Decimal::zero()); priced.meters.len()];
        Self { priced, cells, is_used: false, amounts: Amounts::default() }
    }

    /// Counts the fees that have fallen due.
    fn charge(&mut self, subscription: &Subscription, period: Timeframe, until: Timestamp) {
        let fees = fees(&self.priced.price, subscription, period);
        for fee in fees.into_iter().filter(|fee| fee.at <= until) {
            *self.amounts.subtotal.get_or_insert_default() += fee.subtotal;
            *self.amounts.total.get_or_insert_default() += fee.total;
        }
    }

    /// Rates what was used of the meters that have moved, or of all. What a minimum adds is owed at
    /// the end, and is no spend.
    fn follow(&mut self, moved: Option<&[MeterId]>, used: &Total, has_ended: bool) {
        let price = &self.priced.price;
        let (model, adjustments) = (price.charge.model(), &price.adjustments);
        let meters = self.priced.meters.iter().zip(&mut self.cells).enumerate();
        let mut subtotal = self.amounts.subtotal.take().unwrap_or_default();
        for (index, (meter, (quantity, amount))) in meters {
            if moved.is_some_and(|moved| !moved.contains(meter)) {
                continue;
            }
            if let Some(figure) = used.figure(*meter) {
                self.is_used = true;
                let before = std::mem::replace(amount, model.amount(index, &figure));
                subtotal += amount.clone() - before;
                *quantity = figure;
            }
        }
        let rated = match (&adjustments.discount, self.cells.as_slice()) {
            (Some(Discount::Usage(units)), [(quantity, _)]) => {
                model.amount(0, &(quantity.clone() - units.clone()))
            }
            _ => subtotal.clone(),
        };
        let total = adjustments.adjust(rated);
        let top_up = adjustments.top_up(&total);
        let is_topped_up = has_ended && !top_up.is_zero();
        let total = if is_topped_up { total + top_up } else { total };
        self.amounts.subtotal = self.is_used.then_some(subtotal);
        self.amounts.total = (self.is_used || is_topped_up).then_some(total);
    }
}
