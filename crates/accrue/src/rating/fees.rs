use std::collections::BTreeSet;

use super::{Line, discounts::State, interval::RatedInterval, line::Charged, until::Until};
use crate::{
    Decimal, Timeframe, Timestamp,
    price::{BillingMode, Charge, Model, Quantity},
};

/// Amount of a fee in a period as a whole, were its quantity to stay from an instant on.
struct Stage {
    at: Timestamp,
    quantity: Decimal,
    /// Amount before adjustments.
    amount: Decimal,
    /// Amount of a whole cycle with that quantity.
    level: Decimal,
}

impl RatedInterval {
    /// Returns the charge of a fee in one of its periods, from the start on.
    ///
    /// In advance, another quantity within the period is charged at its own instant, with the
    /// difference; in arrears the period is charged as a whole.
    pub(super) fn fee(&self, period: Timeframe, until: Until) -> Charged {
        let Charge::Fixed { model, billing_mode, .. } = &self.price.charge else {
            return Charged::default();
        };
        if self.price.is_free_allocation() {
            return Charged::default();
        }
        let has_ended = until.has_ended(period.end());
        let mut charged = Charged::default();
        for stage in self.stages(model, period) {
            let is_charged = match billing_mode {
                BillingMode::InAdvance => until.has_begun(stage.at),
                BillingMode::InArrear => has_ended,
            };
            if !is_charged {
                continue;
            }
            let due = match billing_mode {
                BillingMode::InAdvance => stage.at,
                BillingMode::InArrear => {
                    charged.due.clear();
                    period.end()
                }
            };
            let state = State { sum: stage.amount.clone(), level: stage.level };
            charged.due.insert(due, state);
            charged.line = Line {
                quantity: stage.quantity,
                subtotal: stage.amount,
                charges: charged.line.charges.saturating_add(1),
                periods: 1,
                ..Line::default()
            };
        }
        charged
    }

    /// Returns the amounts of the fee with the quantity that the period begins with, and with each
    /// other one from its instant on.
    fn stages(&self, model: &Model, period: Timeframe) -> Vec<Stage> {
        let within = self.quantities.keys().copied().filter(|at| period.contains(*at));
        let instants: BTreeSet<_> = within.chain([period.start()]).collect();
        let mut stretches = Stretches::default();
        let stages = instants.into_iter().filter_map(|at| {
            let (_, quantity) = self.quantities.range(..=at).next_back()?;
            let left = self.days(Timeframe::nothing_at(at).until(period.end()));
            let quantity = quantity.clone();
            let level = model.rate(&Quantity::One(quantity.clone())).amount;
            stretches.go_on(level.clone(), left.part);
            let amount = stretches.prorate(left.whole, self.price.currency.places());
            Some(Stage { at, quantity, amount, level })
        });
        stages.collect()
    }
}

/// Days of a billing period, with the fee on each of them. A day on which it changes is one of the
/// later stretch.
#[derive(Default)]
struct Stretches {
    days_over: u32,
    /// Sum of the fee over the days that are over.
    over: Decimal,
    /// Fee of each of those days, where it is the same.
    each_over: Option<Decimal>,
    days_left: u32,
    /// Fee of each of the days that are left.
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

    /// Returns the amount of the fee, where a cycle has so many days: rounded once, and not where it is
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
