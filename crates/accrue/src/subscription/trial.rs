//! The trial of a subscription (subscriptions 1.7).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{AdjustmentInterval, BillingAnchor, Cut, PriceInterval, Subscription, Terms};
use crate::{
    AdjustmentIntervalId, Decimal, Error, Fraction, PriceId, PriceIntervalId, PricingUnit,
    Timestamp,
    plan::check_days,
    price::{Adjustment, Cycle, Discount, Price},
};

/// Trial that a plan of a subscription begins with: its usage is free, or up to an amount, and its fees wait
/// (subscriptions 1.7).
///
/// It is one billing period. Each price of usage has two intervals, of which the first one is
/// [on trial](PriceInterval::is_trial); those of fees, and the adjustments, begin with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    /// Its first instant: that of the subscription, or of a plan.
    pub start_date: Timestamp,
    /// First instant after it.
    pub end_date: Timestamp,
}

/// Trial that a change of plan has cut, and what was to begin with its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CutTrial {
    /// The end that it had.
    pub(super) end_date: Timestamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) price_intervals: Vec<PriceInterval>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) adjustment_intervals: Vec<AdjustmentInterval>,
}

/// Billing cycle in a stretch of a life: from when, how long, and where it is anchored.
pub(super) type StretchGrid = (Timestamp, Cycle, (BillingAnchor, Timestamp));

impl Trial {
    /// Cycle of its only period: longer than any trial, whose end cuts it.
    pub(super) const CYCLE: Cycle = Cycle::Months(u16::MAX);
    /// Anchor of that.
    pub(super) const ANCHOR: BillingAnchor = BillingAnchor::SubscriptionStart;

    /// Tells whether an instant is within it.
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> bool {
        self.start_date <= at && at < self.end_date
    }
}

impl Subscription {
    /// Begins the trial of a plan, where it has one: what is cut for the plan so far waits for its end, and usage is
    /// split. `had` says how many intervals there were before, of prices and of adjustments.
    pub(super) fn begin_trial(
        &mut self,
        cut: &Cut,
        terms: &Terms<'_>,
        had: (usize, usize),
    ) -> Result<(), Error> {
        let of_plan = terms.plan.trial.as_ref();
        let days = terms.trial_days.or(of_plan.map(|of| of.days)).unwrap_or_default();
        check_days("trial_duration_days", days)?;
        if days == 0 {
            return Ok(());
        }
        if let Some(Trial { end_date, .. }) = self.trial {
            if terms.trial_days.is_none() {
                return Ok(());
            }
            let detail = format!("the subscription has had its only trial, up to {end_date}");
            return Err(Error::constraint(detail));
        }
        let start_date = cut.start_date;
        let end_date = self.timezone.after(start_date, days, 0);
        self.trial = Some(Trial { start_date, end_date });
        let intervals = self.price_intervals.split_off(had.0);
        let intervals = intervals.into_iter().flat_map(|of| of.on_trial(end_date, cut));
        self.price_intervals.extend(intervals);
        let adjustments = self.adjustment_intervals.split_off(had.1);
        self.adjustment_intervals
            .extend(adjustments.into_iter().filter_map(|of| of.from(end_date)));
        let maximum = of_plan.and_then(|of| of.maximum_amount.clone());
        self.discount_trial(&terms.prices.prices(), maximum);
        Ok(())
    }

    /// Gives usage that is on trial its discount: all of it, or an amount of what is in the currency that is invoiced.
    fn discount_trial(&mut self, prices: &[Price], maximum: Option<Decimal>) {
        let Some(Trial { start_date, end_date }) = self.trial else { return };
        self.adjustment_intervals.retain(|of| !of.is_trial);
        let on_trial = self.price_intervals.iter().filter(|of| of.is_trial);
        let on_trial: BTreeSet<_> = on_trial.map(|of| of.price_id).collect();
        let invoiced = PricingUnit::from(self.currency);
        let is_invoiced =
            |id: &PriceId| prices.iter().any(|price| price.id == *id && price.currency == invoiced);
        let (up_to, all): (BTreeSet<_>, BTreeSet<_>) =
            on_trial.into_iter().partition(|id| maximum.is_some() && is_invoiced(id));
        let whole = Adjustment::Discount(Discount::Percentage(Fraction::one()));
        let up_to = maximum.map(|of| (Adjustment::Discount(Discount::Amount(of)), up_to));
        let discounts = [Some((whole, all)), up_to].into_iter().flatten();
        for (adjustment, price_ids) in discounts.filter(|(_, price_ids)| !price_ids.is_empty()) {
            let names = [self.id.as_bytes().as_slice(), b"trial", &[adjustment.rank()]];
            self.adjustment_intervals.push(AdjustmentInterval {
                id: AdjustmentIntervalId::derived(self.created_at, &names),
                adjustment,
                scope: None,
                price_ids,
                plan_version: self.plan_version,
                coupon_id: None,
                is_trial: true,
                start_date,
                end_date: Some(end_date),
            });
        }
    }

    /// Lets the discount of the trial reach prices that have come to be on trial.
    pub(super) fn reach_trial(&mut self, prices: &[Price]) {
        let maximum = self.adjustment_intervals.iter().filter(|of| of.is_trial);
        let maximum = maximum.filter_map(|of| of.adjustment.amount().cloned()).next();
        self.discount_trial(prices, maximum);
    }

    /// Returns the discount of usage on trial of a price.
    #[must_use]
    pub fn trial_discount(&self, price: PriceId) -> Option<&Adjustment> {
        let mut own = self.adjustment_intervals.iter().filter(|of| of.is_trial);
        own.find(|of| of.reaches(price)).map(|of| &of.adjustment)
    }

    /// Puts the grids of its plans aside while the trial lasts: that is one period.
    pub(super) fn in_trial(&self, mut grids: Vec<StretchGrid>) -> Vec<StretchGrid> {
        let Some(trial) = self.trial else { return grids };
        let behind = grids.partition_point(|(from, ..)| *from <= trial.end_date);
        let last = behind.checked_sub(1).and_then(|place| grids.get(place).copied());
        if let Some((from, cycle, anchor)) = last.filter(|(from, ..)| *from < trial.end_date) {
            debug_assert!(from <= trial.end_date, "the one of then");
            grids.insert(behind, (trial.end_date, cycle, anchor));
        }
        for (_, cycle, anchor) in grids.iter_mut().filter(|(from, ..)| trial.holds(*from)) {
            (*cycle, *anchor) = (Trial::CYCLE, (Trial::ANCHOR, trial.start_date));
        }
        grids
    }

    /// Cuts a trial at an instant, where it lasts until then or is still to come. Returns what is left out of it.
    pub(super) fn cut_trial(&mut self, at: Timestamp) -> Option<Box<CutTrial>> {
        let trial = self.trial?;
        if at <= trial.start_date {
            self.trial = None;
            self.adjustment_intervals.retain(|of| !of.is_trial);
            return None;
        }
        let end_date = trial.end_date;
        if end_date <= at {
            return None;
        }
        self.trial = Some(Trial { end_date: at, ..trial });
        let prices = self.price_intervals.iter().filter(|of| of.start_date == end_date);
        let adjustments = self.adjustment_intervals.iter();
        let adjustments =
            adjustments.filter(|of| of.start_date == end_date && of.coupon_id.is_none());
        let (price_intervals, adjustment_intervals) =
            (prices.cloned().collect(), adjustments.cloned().collect());
        Some(Box::new(CutTrial { end_date, price_intervals, adjustment_intervals }))
    }

    /// Goes on with a trial that was cut at an instant.
    pub(super) fn go_on_with_trial(&mut self, at: Timestamp, cut: CutTrial) {
        let Some(trial) = &mut self.trial else { return };
        trial.end_date = cut.end_date;
        let until = Some(cut.end_date);
        let prices = self.price_intervals.iter_mut();
        let prices = prices.filter(|of| of.is_trial && of.end_date == Some(at));
        prices.for_each(|of| of.end_date = until);
        let adjustments = self.adjustment_intervals.iter_mut();
        let adjustments = adjustments.filter(|of| of.is_trial && of.end_date == Some(at));
        adjustments.for_each(|of| of.end_date = until);
        self.price_intervals.extend(cut.price_intervals);
        self.adjustment_intervals.extend(cut.adjustment_intervals);
    }
}

impl PriceInterval {
    /// Splits it where a trial ends: usage is on trial up to then, and a fee begins only then.
    pub(super) fn on_trial(self, end: Timestamp, cut: &Cut) -> Vec<Self> {
        if end <= self.start_date {
            return vec![self];
        }
        let is_behind = self.end_date.is_none_or(|own| end < own);
        let mut behind = Self { start_date: end, ..self.clone() };
        if self.is_fee() {
            behind.begin_quantities();
            return Some(behind).filter(|_| is_behind).into_iter().collect();
        }
        let names = [self.id.as_bytes().as_slice(), b"trial"];
        let id = PriceIntervalId::derived(cut.created_at, &names);
        let own_end = self.end_date.map_or(end, |own| own.min(end));
        let on_trial = Self { id, is_trial: true, end_date: Some(own_end), ..self };
        [Some(on_trial), Some(behind).filter(|_| is_behind)].into_iter().flatten().collect()
    }
}

impl AdjustmentInterval {
    /// Lets it begin with an instant at the earliest; none where it would be over by then.
    fn from(self, at: Timestamp) -> Option<Self> {
        let start_date = self.start_date.max(at);
        let lives = self.end_date.is_none_or(|end| start_date < end);
        lives.then_some(Self { start_date, ..self })
    }
}
