use super::{
    fees,
    tariff::{Priced, Tariff},
};
use crate::{
    Currency, Decimal, PricingUnit, Timeframe, Timestamp,
    price::Price,
    usage::{MeterId, Total},
};

/// What a billing period of a subscription has come to so far, price by price.
///
/// Usage counts as soon as it is there, a fee from the instant on that it falls due, and what a
/// minimum adds once the period has ended.
#[derive(Clone, Debug)]
pub(crate) struct Accrual {
    invoiced_in: Currency,
    has_ended: bool,
    lines: Vec<Line>,
}

/// What one price has come to.
#[derive(Clone, Debug)]
struct Line {
    priced: Priced,
    /// Whether anything was used or has fallen due.
    has_value: bool,
    subtotal: Decimal,
    total: Decimal,
}

impl Accrual {
    pub(super) fn new(tariff: &Tariff, period: Timeframe, used: &Total, until: Timestamp) -> Self {
        let has_ended = period.end() <= until;
        let invoiced_in = tariff.subscription.currency;
        let lines = tariff.prices.iter().map(|priced| {
            let mut line = Line {
                priced: priced.clone(),
                has_value: false,
                subtotal: Decimal::zero(),
                total: Decimal::zero(),
            };
            if priced.meters.is_empty() {
                let fees = fees(&priced.price, &tariff.subscription, period);
                for fee in fees.into_iter().filter(|fee| fee.at <= until) {
                    line.has_value = true;
                    line.subtotal += fee.subtotal;
                    line.total += fee.total;
                }
            } else {
                line.rate(used, has_ended);
            }
            line
        });
        Self { invoiced_in, has_ended, lines: lines.collect() }
    }

    /// Rates the prices again whose usage has moved.
    pub(crate) fn follow(&mut self, moved: &[MeterId], used: &Total) {
        for line in &mut self.lines {
            if line.priced.meters.iter().any(|meter| moved.contains(meter)) {
                line.rate(used, self.has_ended);
            }
        }
    }

    /// Returns the cost after adjustments, of the prices that count in a unit; none before the first
    /// event or fee of one of them.
    pub(crate) fn total(&self, unit: &PricingUnit) -> Option<Decimal> {
        self.sum(unit, |_| true, |line| &line.total)
    }

    /// Returns the cost before adjustments, of the prices that count in a unit and pass; none before
    /// the first event or fee of one of them.
    pub(crate) fn subtotal(
        &self,
        unit: &PricingUnit,
        passes: impl Fn(&Price) -> bool,
    ) -> Option<Decimal> {
        self.sum(unit, passes, |line| &line.subtotal)
    }

    fn sum(
        &self,
        unit: &PricingUnit,
        passes: impl Fn(&Price) -> bool,
        amount: impl Fn(&Line) -> &Decimal,
    ) -> Option<Decimal> {
        let lines = self.lines.iter().filter(|line| line.has_value && passes(&line.priced.price));
        let amounts = lines.filter_map(|line| {
            let worth = line.priced.price.worth_in(unit, self.invoiced_in)?;
            Some(amount(line).clone() * worth)
        });
        amounts.reduce(|sum, amount| sum + amount)
    }
}

impl Line {
    fn rate(&mut self, used: &Total, has_ended: bool) {
        let rated = self.priced.rate(used);
        let top_up = self.priced.price.adjustments.top_up(&rated.total);
        self.has_value = self.priced.is_used(used) || (has_ended && !top_up.is_zero());
        self.subtotal = rated.subtotal.amount;
        self.total = if has_ended { rated.total + top_up } else { rated.total };
    }
}
