//! When fees fall due, and how much they are.

use accrue::PricingUnit;
use bigdecimal::{BigDecimal, RoundingMode, Zero as _};

use super::{
    ActiveSubscriptions, Amounts, At, Biller, Charge, Instant, Price, Share, Span, days, instant,
    span,
};

/// What falls due at an instant.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) at: Instant,
    /// With the end of a period, which it belongs to, and not with the begin of one.
    with_end: bool,
    pub(super) amounts: Amounts,
    /// What a minimum adds, which is no spend.
    pub(super) is_top_up: bool,
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
    pub(super) fn fees(&self, of: &ActiveSubscriptions, index: At, within: Span) -> Vec<Due> {
        let price = &self.plans[of.plan][index];
        let Charge::Fee { in_advance, .. } = price.charge else { return Vec::new() };
        let mut found = Vec::new();
        for (from, until) in periods_of_fee(of, price, within) {
            let mut instants = vec![from];
            instants.extend(of.changes[index].range(from + 1..until).map(|(at, _)| *at));
            let share = share(of, price, (from, until));
            let (mut charged, mut seats) = (Amounts::default(), Seats::default());
            for at in instants {
                let (mut as_of, level) = self.as_of(of, index, (from, until), at);
                if in_advance {
                    seats.go_on(price, as_of.subtotal.clone(), level, share);
                    as_of.total = price.adjustments.most(seats.discounted.clone(), share);
                    let amounts = as_of.clone() - charged;
                    found.push(Due { at, with_end: false, amounts, is_top_up: false });
                }
                charged = as_of;
            }
            let left = match in_advance {
                true => seats.discounted,
                false => price.adjustments.discounted(charged.subtotal.clone()),
            };
            // A minimum that the plan has over a fee alone adds nothing.
            let top_up = match price.adjustments.are_of_plan {
                true => BigDecimal::zero(),
                false => price.adjustments.top_up(left, share),
            };
            if !in_advance {
                let amounts = charged;
                found.push(Due { at: until, with_end: true, amounts, is_top_up: false });
            }
            if !top_up.is_zero() {
                let amounts = Amounts { total: top_up, ..Amounts::default() };
                found.push(Due { at: until, with_end: true, amounts, is_top_up: true });
            }
        }
        found.retain(|due| due.is_within(within));
        found
    }

    /// What a fee comes to in a period, as one knows at an instant of it: day by day, each with the
    /// quantity that it ends with; and what a whole cycle would come to with the last one.
    fn as_of(
        &self,
        of: &ActiveSubscriptions,
        index: At,
        period: Span,
        at: Instant,
    ) -> (Amounts, BigDecimal) {
        let price = &self.plans[of.plan][index];
        let Charge::Fee { quantity: own, model, .. } = &price.charge else {
            return (Amounts::default(), BigDecimal::zero());
        };
        let quantity =
            |until: Instant| of.quantity_before(index, until.min(at + 1)).unwrap_or(own).clone();
        let amount = |until: Instant| model.rate(&[quantity(until)]);
        let subtotal = match price.cadence.cycle() {
            None => amount(period.1),
            Some(cycle) => {
                let (days, whole) = days::days(&of.core, cycle, period);
                let each: Vec<_> = days.iter().map(|(_, until)| amount(*until)).collect();
                let is_alike = each.iter().all(|amount| *amount == each[0]);
                match u32::try_from(days.len()).unwrap() == whole && is_alike {
                    true => each[0].clone(),
                    false => {
                        let places = PricingUnit::parse(price.currency).unwrap().places();
                        let exact = each.iter().sum::<BigDecimal>() / BigDecimal::from(whole);
                        exact.with_scale_round(places.into(), RoundingMode::HalfUp)
                    }
                }
            }
        };
        let total = price.adjustments.cut(subtotal.clone(), share(of, price, period));
        (Amounts { quantity: quantity(period.1), subtotal, total }, amount(period.1))
    }
}

/// Seats of a fee in advance: those that were charged and not given back, oldest first.
#[derive(Default)]
struct Seats {
    added: Vec<Added>,
    subtotal: BigDecimal,
    level: BigDecimal,
    /// What was charged for them with discounts, less what was given back.
    discounted: BigDecimal,
}

/// What one instant has added: its price for a whole cycle, what was charged for it, and what each discount
/// added to that.
struct Added {
    level: BigDecimal,
    charged: BigDecimal,
    off: Vec<BigDecimal>,
}

impl Seats {
    /// Charges more, or gives the latest back: with the share of its discounts.
    fn go_on(&mut self, price: &Price, subtotal: BigDecimal, level: BigDecimal, share: Share) {
        let amount = &subtotal - &self.subtotal;
        let fall = &self.level - &level;
        let off = if &fall * &self.level > BigDecimal::zero() {
            self.give_back(fall, &amount, share)
        } else {
            let [from, to] =
                [&self.subtotal, &subtotal].map(|of| price.adjustments.stages(of.clone()));
            let moved = |at: usize| &to[at] - &from[at];
            let off: Vec<_> = (1..to.len()).map(|at| moved(at) - moved(at - 1)).collect();
            self.added.push(Added { level: -fall, charged: amount.clone(), off: off.clone() });
            off
        };
        self.discounted += amount + off.iter().sum::<BigDecimal>();
        (self.subtotal, self.level) = (subtotal, level);
    }

    fn give_back(
        &mut self,
        fall: BigDecimal,
        amount: &BigDecimal,
        share: Share,
    ) -> Vec<BigDecimal> {
        let places = |of: &BigDecimal| of.normalized().fractional_digit_count().max(share.places);
        let mut left = fall.clone();
        // What each discount gives back, with the digits that it is rounded to, once.
        let mut off: Vec<(BigDecimal, i64)> = Vec::new();
        while !left.is_zero() {
            let Some(mut last) = self.added.pop() else { break };
            let part =
                if left.abs() < last.level.abs() { left.clone() } else { last.level.clone() };
            let whole = &fall * &last.charged;
            off.resize(off.len().max(last.off.len()), (BigDecimal::zero(), places(amount)));
            let owns = last.off.iter().zip(&mut off);
            for (own, (sum, digits)) in owns.filter(|_| whole > BigDecimal::zero()) {
                *sum += amount * &part * own / &whole;
                *digits = places(own).max(*digits);
            }
            last.level -= &part;
            left -= part;
            if !last.level.is_zero() {
                self.added.push(last);
            }
        }
        let round =
            |(sum, digits): (BigDecimal, i64)| sum.with_scale_round(digits, RoundingMode::HalfUp);
        off.into_iter().map(round).collect()
    }
}

/// The share of its cycle that a period of a price is.
pub(super) fn share(of: &ActiveSubscriptions, price: &Price, period: Span) -> Share {
    let places = PricingUnit::parse(price.currency).unwrap().places().into();
    let Some(cycle) = price.cadence.cycle() else { return Share { days: 1, of: 1, places } };
    let (days, whole) = days::days(&of.core, cycle, period);
    Share { days: days.len(), of: whole, places }
}

/// The periods of a fee that touch a span.
fn periods_of_fee(of: &ActiveSubscriptions, price: &Price, (from, until): Span) -> Vec<Span> {
    let Some(cycle) = price.cadence.cycle() else {
        return of.core.periods().first().map(span).into_iter().collect();
    };
    let around = accrue::Timeframe::new(instant((from - 1).max(0)), instant(until + 1)).unwrap();
    of.core.periods_of(cycle).overlapping(around).map(span).collect()
}
