use std::collections::BTreeMap;

use super::{AdjustmentInterval, PriceInterval, Subscription};
use crate::Timestamp;

/// Life of an interval: its first instant, and the first one after it.
pub(super) type Life = (Timestamp, Option<Timestamp>);

impl Subscription {
    /// Returns the first instant from which its plans, prices or adjustments are others than those of other terms of
    /// it; none where they are the same.
    pub(crate) fn terms_differ_since(&self, other: &Self) -> Option<Timestamp> {
        let prices = differing(&self.price_intervals, &other.price_intervals, |of| of.id);
        let prices = prices.map(|(one, other)| PriceInterval::differ_since(one, other));
        let adjustments =
            differing(&self.adjustment_intervals, &other.adjustment_intervals, |of| of.id);
        let adjustments = adjustments.map(|(one, other)| match (one, other) {
            (Some(one), Some(other)) if one.price_ids == other.price_ids => {
                lives_differ_since(one.life(), other.life())
            }
            (one, other) => [one, other].into_iter().flatten().map(|of| of.start_date).min(),
        });
        prices.chain(adjustments).flatten().chain(self.plans_differ_since(other)).min()
    }

    /// Returns the first instant from which it is on another plan, or another version of it, than by other terms of it.
    pub(crate) fn plans_differ_since(&self, other: &Self) -> Option<Timestamp> {
        let (own, others) = (self.plans(), other.plans());
        let plans = own.iter().filter(|of| !others.contains(of));
        let plans = plans.chain(others.iter().filter(|of| !own.contains(of)));
        plans.map(|of| of.start_date).min()
    }

    /// Returns the first instant from which usage is charged by other prices, or in other periods, than by other
    /// terms of it; none where it is charged alike.
    pub(crate) fn usage_differs_since(&self, other: &Self) -> Option<Timestamp> {
        let usage = |of: &Self| -> Vec<PriceInterval> {
            of.price_intervals.iter().filter(|of| !of.is_fee()).cloned().collect()
        };
        let (own, others) = (usage(self), usage(other));
        let found = differing(&own, &others, |of| of.id);
        let found = found.filter_map(|(one, other)| PriceInterval::differ_since(one, other)).min();
        let is_other_grid = !self.periods().has_grid_of(&other.periods());
        let is_other = is_other_grid || self.sources() != other.sources();
        found.or_else(|| is_other.then_some(Timestamp::MAX))
    }
}

/// Pairs what differs of two lists, by id.
fn differing<'a, T: PartialEq, I: Ord>(
    ones: &'a [T],
    others: &'a [T],
    id: impl Fn(&T) -> I,
) -> impl Iterator<Item = (Option<&'a T>, Option<&'a T>)> {
    let mut pairs = BTreeMap::<I, (Option<&T>, Option<&T>)>::new();
    for of in ones {
        pairs.entry(id(of)).or_default().0 = Some(of);
    }
    for of in others {
        pairs.entry(id(of)).or_default().1 = Some(of);
    }
    pairs.into_values().filter(|(one, other)| one != other)
}

fn lives_differ_since((start, end): Life, (other_start, other_end): Life) -> Option<Timestamp> {
    let starts = (start != other_start).then(|| start.min(other_start));
    let last = |end: Option<Timestamp>| end.unwrap_or(Timestamp::MAX);
    let ends = (end != other_end).then(|| last(end).min(last(other_end)));
    starts.into_iter().chain(ends).min()
}

impl AdjustmentInterval {
    pub(super) const fn life(&self) -> Life {
        (self.start_date, self.end_date)
    }
}

impl PriceInterval {
    pub(super) const fn life(&self) -> Life {
        (self.start_date, self.end_date)
    }

    /// Returns the first instant from which an interval charges otherwise than it did: all of it where there is
    /// only one.
    fn differ_since(one: Option<&Self>, other: Option<&Self>) -> Option<Timestamp> {
        let (Some(one), Some(other)) = (one, other) else {
            return one.or(other).map(|of| of.start_date);
        };
        let terms = |of: &'_ Self| (of.price_id, of.anchor, of.cadence);
        let is_other = one.filter != other.filter || one.usage_customers != other.usage_customers;
        if is_other || terms(one) != terms(other) {
            return Some(one.start_date.min(other.start_date));
        }
        let changes = one.quantities.keys().chain(other.quantities.keys());
        let changes = changes.filter(|at| one.quantities.get(at) != other.quantities.get(at));
        let ends = [one.end_date, other.end_date].into_iter().flatten();
        let ends = ends.filter(|_| one.can_defer_billing != other.can_defer_billing);
        changes.copied().chain(ends).chain(lives_differ_since(one.life(), other.life())).min()
    }
}
