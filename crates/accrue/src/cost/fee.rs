use std::collections::BTreeSet;

use crate::{
    Decimal, Timeframe, Timestamp,
    price::{BillingMode, Charge, Model, Price, Quantity},
    subscription::{BillingPeriods, Days, Subscription},
};

/// What time brings to a price: a fee, what another quantity of it changes, or what a minimum adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fee {
    /// When it falls due.
    pub(crate) at: Timestamp,
    /// How many, of a fee; how many more or less, of a change.
    pub(crate) quantity: Decimal,
    /// What they cost before adjustments.
    pub(crate) subtotal: Decimal,
    /// What they cost.
    pub(crate) total: Decimal,
}

/// Returns the fees of a price that fall due in a timeframe: in advance from its first instant on,
/// at the end of a period up to and including its last. So timeframes that adjoin share none and
/// miss none.
///
/// In advance, another quantity within a period falls due at its own instant, with what it changes;
/// in arrears a period falls due as a whole.
pub(crate) fn fees(price: &Price, subscription: &Subscription, within: Timeframe) -> Vec<Fee> {
    let Charge::Fixed { model, billing_mode, .. } = &price.charge else {
        return Vec::new();
    };
    let periods = price.cadence.cycle().map(|cycle| subscription.periods_of(cycle));
    let found: Vec<_> = match &periods {
        Some(periods) => periods.overlapping(within).collect(),
        None => subscription.periods().first().into_iter().collect(),
    };
    let mut fees = Vec::new();
    for period in found {
        let mut charged = Fee::nothing(period.start());
        for fee in stages(price, model, subscription, periods.as_ref(), period) {
            if *billing_mode == BillingMode::InAdvance {
                fees.push((BillingMode::InAdvance, fee.clone().since(charged)));
            }
            charged = fee;
        }
        let top_up = price.adjustments.top_up(&charged.total);
        if *billing_mode == BillingMode::InArrear {
            fees.push((BillingMode::InArrear, Fee { at: period.end(), ..charged }));
        }
        if !top_up.is_zero() {
            let fee = Fee { total: top_up, ..Fee::nothing(period.end()) };
            fees.push((BillingMode::InArrear, fee));
        }
    }
    let due = |(mode, fee): &(BillingMode, Fee)| match mode {
        BillingMode::InAdvance => within.contains(fee.at),
        BillingMode::InArrear => within.start() < fee.at && fee.at <= within.end(),
    };
    fees.into_iter().filter(due).map(|(_, fee)| fee).collect()
}

impl Fee {
    /// What costs nothing.
    fn nothing(at: Timestamp) -> Self {
        let zero = Decimal::zero;
        Self { at, quantity: zero(), subtotal: zero(), total: zero() }
    }

    /// Returns what it is more or less than what was charged before.
    fn since(self, charged: Self) -> Self {
        Self {
            at: self.at,
            quantity: self.quantity - charged.quantity,
            subtotal: self.subtotal - charged.subtotal,
            total: self.total - charged.total,
        }
    }
}

/// Returns what a fee comes to in a billing period as a whole: with the quantity that it begins with,
/// and with each other quantity from its instant on, were it to stay.
fn stages(
    price: &Price,
    model: &Model,
    subscription: &Subscription,
    periods: Option<&BillingPeriods>,
    period: Timeframe,
) -> Vec<Fee> {
    let changes = subscription.fee_changes.get(&price.id);
    let within = changes.into_iter().flat_map(|of| of.keys().copied());
    let within = within.filter(|at| period.contains(*at));
    let instants: BTreeSet<_> = within.chain([period.start()]).collect();
    let mut stretches = Stretches::default();
    let stages = instants.into_iter().filter_map(|at| {
        let quantity = subscription.fee_quantity(price, at)?.clone();
        // What bills once has no days: another quantity counts as a whole.
        let rest = Timeframe::nothing_at(at).until(period.end());
        let left = periods.map_or(Days { part: 1, whole: 1 }, |periods| periods.days(rest));
        stretches.go_on(model.rate(&Quantity::One(quantity.clone())).amount, left.part);
        let subtotal = stretches.prorate(left.whole, price.currency.places());
        let total = price.adjustments.adjust(subtotal.clone());
        Some(Fee { at, quantity, subtotal, total })
    });
    stages.collect()
}

/// The days of a billing period, and what its fee is on each of them. A day on which it changes is
/// one of the later stretch.
#[derive(Default)]
struct Stretches {
    days_over: u32,
    /// What the fee was on days that are over, all in all.
    over: Decimal,
    /// What it was on each of them, where that is the same.
    each_over: Option<Decimal>,
    days_left: u32,
    /// What it is on those that are left.
    amount: Decimal,
}

impl Stretches {
    /// Goes on with another amount for the days that are left.
    fn go_on(&mut self, amount: Decimal, days_left: u32) {
        let days = self.days_left.saturating_sub(days_left);
        let before = std::mem::replace(&mut self.amount, amount);
        self.days_left = days_left;
        if days > 0 {
            self.over += before.clone() * Decimal::from(u64::from(days));
            let is_alike = self.days_over == 0 || self.each_over.as_ref() == Some(&before);
            self.each_over = is_alike.then_some(before);
            self.days_over = self.days_over.saturating_add(days);
        }
    }

    /// Returns what the fee comes to, where a cycle has so many days: rounded once, and not where it is
    /// the same on each day of a whole cycle.
    fn prorate(&self, whole: u32, places: u32) -> Decimal {
        if self.days_over == 0 || self.each_over.as_ref() == Some(&self.amount) {
            return self.amount.prorate(
                self.days_over.saturating_add(self.days_left),
                whole,
                places,
            );
        }
        let left = self.amount.clone() * Decimal::from(u64::from(self.days_left));
        (self.over.clone() + left).prorate(1, whole, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_rounded_once_and_not_where_it_is_the_same_on_each_day() {
        let number = |text: &str| Decimal::parse(text).unwrap();
        let check = |amounts: &[(&str, u32)], expect: &str| {
            let mut stretches = Stretches::default();
            amounts.iter().for_each(|(amount, left)| stretches.go_on(number(amount), *left));
            assert_eq!(stretches.prorate(31, 2), number(expect), "{amounts:?}");
        };
        check(&[("1.0001", 31)], "1.0001");
        check(&[("1.0001", 31), ("1.0001", 20), ("1.0001", 10)], "1.0001");
        check(&[("31", 31), ("62", 20), ("62", 10)], "51");
        check(&[("31", 31), ("62", 20), ("31", 10)], "41");
        check(&[("0.01", 31), ("0.02", 20), ("0.04", 10)], "0.02");
    }
}
