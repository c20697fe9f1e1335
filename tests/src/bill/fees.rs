//! When fees fall due, and how much they are.

use accrue::PricingUnit;
use bigdecimal::{BigDecimal, RoundingMode, Zero as _};

use super::{Amounts, At, Biller, Charge, Enrolled, Instant, Price, Span, days, instant, span};

/// What falls due at an instant.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) at: Instant,
    /// With the end of a period, which it belongs to, and not with the begin of one.
    with_end: bool,
    pub(super) amounts: Amounts,
}

impl Due {
    pub(super) fn is_within(&self, (from, until): Span) -> bool {
        match self.with_end {
            true => from < self.at && self.at <= until,
            false => from <= self.at && self.at < until,
        }
    }
}

impl Biller {
    /// What a price makes fall due in a span, without regard to usage.
    pub(super) fn fees(&self, of: &Enrolled, index: At, within: Span) -> Vec<Due> {
        let price = &self.plans[of.plan][index];
        let Charge::Fee { quantity, model, in_advance } = &price.charge else { return Vec::new() };
        let quantity = of.quantities[index].as_ref().unwrap_or(quantity);
        let amount = model.rate(std::slice::from_ref(quantity));
        let mut found = Vec::new();
        for (period, subtotal) in periods_with_amounts(of, price, &amount, within) {
            let total = price.adjustments.cut(subtotal.clone());
            let top_up = price.adjustments.top_up(&total);
            let (from, until) = period;
            found.push(Due {
                at: if *in_advance { from } else { until },
                with_end: !in_advance,
                amounts: Amounts { quantity: quantity.clone(), subtotal, total },
            });
            if !top_up.is_zero() {
                let amounts = Amounts { total: top_up, ..Amounts::default() };
                found.push(Due { at: until, with_end: true, amounts });
            }
        }
        found.retain(|due| due.is_within(within));
        found
    }
}

/// The periods of a fee that touch a span, and what it is in each.
fn periods_with_amounts(
    of: &Enrolled,
    price: &Price,
    amount: &BigDecimal,
    (from, until): Span,
) -> Vec<(Span, BigDecimal)> {
    let Some(cycle) = price.cadence.cycle() else {
        let first = of.core.periods().first().map(span);
        return first.into_iter().map(|first| (first, amount.clone())).collect();
    };
    let around = accrue::Timeframe::new(instant((from - 1).max(0)), instant(until + 1)).unwrap();
    let periods = of.core.periods_of(cycle);
    let prorated = |period: Span| match days::days(&of.core, cycle, period) {
        (part, whole) if part == whole => amount.clone(),
        (part, whole) => {
            let places = PricingUnit::parse(price.currency).unwrap().places();
            let exact = amount * BigDecimal::from(part) / BigDecimal::from(whole);
            exact.with_scale_round(places.into(), RoundingMode::HalfUp)
        }
    };
    periods.overlapping(around).map(|period| (span(period), prorated(span(period)))).collect()
}
