//! The trial of a subscription (subscriptions 1.7).
//!
//! What is agreed on begins with the plan. Where a trial holds it up, it is kept as it is charged: usage is split
//! in two intervals, and fees and adjustments begin later. Whatever changes the terms does so to what was agreed on:
//! [`Subscription::without_trial`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{AdjustmentInterval, BillingAnchor, Cut, Lane, PriceInterval, Subscription, Terms};
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    /// Its first instant: that of the subscription, or of a plan.
    pub start_date: Timestamp,
    /// First instant after it, as it was agreed on. A change of plan ends it before:
    /// [`Subscription::trial_end`].
    pub end_date: Timestamp,
    /// Amount up to which usage is free: all of it where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_amount: Option<Decimal>,
}

/// What would begin and end within the trial, and so is not charged: it comes back where the trial ends earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) price_intervals: Vec<PriceInterval>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) adjustment_intervals: Vec<AdjustmentInterval>,
}

/// Begin of a fee as it was agreed on, where it waits for the end of the trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Delayed {
    from: Timestamp,
    /// Its quantities up to the end of the trial.
    quantities: BTreeMap<Timestamp, Decimal>,
}

/// Time while a trial lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

/// Billing cycle in a stretch of a life: from when, how long, where it is anchored, and whether a period begins with it
/// whatever was before.
pub(super) type StretchGrid = (Timestamp, Cycle, (BillingAnchor, Timestamp), bool);

impl Tried {
    /// Cycle of its only period: longer than any trial, whose end cuts it.
    pub(super) const CYCLE: Cycle = Cycle::Months(u16::MAX);
    /// Anchor of that.
    pub(super) const ANCHOR: BillingAnchor = BillingAnchor::SubscriptionStart;

    pub(super) fn holds(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }
}

impl Subscription {
    /// Returns the end of its trial, also where that has passed: as it was agreed on, or with a change of plan.
    #[must_use]
    pub fn trial_end(&self) -> Option<Timestamp> {
        self.tried().map(|of| of.end)
    }

    pub(crate) fn is_on_trial(&self, at: Timestamp) -> bool {
        self.tried().is_some_and(|of| of.holds(at))
    }

    pub(super) fn tried(&self) -> Option<Tried> {
        let Trial { start_date: start, end_date, .. } = *self.trial.as_ref()?;
        let end = self.changes_plan_after(start).map_or(end_date, |at| at.min(end_date));
        Some(Tried { start, end })
    }

    /// Agrees on the trial of a plan, where it has one.
    pub(super) fn agree_trial(&mut self, cut: &Cut, terms: &Terms<'_>) -> Result<(), Error> {
        let of_plan = terms.trial();
        let days = terms.trial_days.or(of_plan.map(|of| of.days)).unwrap_or_default();
        check_days("trial_duration_days", days)?;
        if days == 0 {
            return Ok(());
        }
        if let Some(end) = self.trial_end() {
            if terms.trial_days.is_none() {
                return Ok(());
            }
            let detail = format!("the subscription has had its only trial, up to {end}");
            return Err(Error::constraint(detail));
        }
        let start_date = cut.start_date;
        let end_date = self.timezone.after(start_date, days, 0);
        let maximum_amount = of_plan.and_then(|of| of.maximum_amount.clone());
        self.trial = Some(Trial { start_date, end_date, maximum_amount });
        self.discount_trial(&terms.prices.prices());
        Ok(())
    }

    /// Changes what was agreed on, as if there were no trial, and lets that hold up what comes of it.
    pub(super) fn without_trial<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> T {
        self.join_trial();
        let done = change(self);
        self.split_trial();
        done
    }

    /// Ends the trial as if it had never been.
    pub(super) fn drop_trial(&mut self) {
        self.trial = None;
        self.adjustment_intervals.retain(|of| !of.is_trial);
    }

    fn join_trial(&mut self) {
        let known: BTreeSet<_> = self.price_intervals.iter().map(|of| of.id).collect();
        let on_trial = self.price_intervals.iter();
        let on_trial = on_trial.filter_map(|of| Some((of.trial_of?, of.start_date)));
        let starts: BTreeMap<_, _> = on_trial.collect();
        let joined = std::mem::take(&mut self.price_intervals).into_iter();
        let joined = joined.filter_map(|mut of| match of.trial_of.take() {
            Some(id) if known.contains(&id) => None,
            Some(id) => Some(PriceInterval { id, ..of }),
            None => {
                starts.get(&of.id).into_iter().for_each(|start| of.begin_at(*start));
                of.begin_as_agreed();
                Some(of)
            }
        });
        self.price_intervals = joined.collect();
        for of in &mut self.adjustment_intervals {
            of.start_date = of.delayed_from.take().unwrap_or(of.start_date);
        }
        if let Some(waiting) = self.waiting.take() {
            self.price_intervals.extend(waiting.price_intervals);
            self.adjustment_intervals.extend(waiting.adjustment_intervals);
        }
    }

    fn split_trial(&mut self) {
        let Some(tried) = self.tried() else { return };
        let mut waiting = Waiting::default();
        let agreed = std::mem::take(&mut self.price_intervals).into_iter();
        for of in agreed {
            if !tried.holds(of.start_date) {
                self.price_intervals.push(of);
                continue;
            }
            let is_behind = of.end_date.is_none_or(|own| tried.end < own);
            if of.is_fee() && !is_behind {
                waiting.price_intervals.push(of);
                continue;
            }
            let on_trial = (!of.is_fee()).then(|| PriceInterval {
                id: PriceIntervalId::part_of(of.id.as_bytes(), &[b"trial"]),
                trial_of: Some(of.id),
                end_date: Some(of.end_date.map_or(tried.end, |own| own.min(tried.end))),
                ..of.clone()
            });
            self.price_intervals.extend(on_trial);
            if is_behind {
                let mut behind = of;
                behind.delay(tried.end);
                self.price_intervals.push(behind);
            }
        }
        let agreed = std::mem::take(&mut self.adjustment_intervals).into_iter();
        for mut of in agreed {
            if of.is_trial {
                (of.start_date, of.end_date) = (tried.start, Some(tried.end));
            } else if of.coupon_id.is_none() && tried.holds(of.start_date) {
                if of.end_date.is_some_and(|own| own <= tried.end) {
                    waiting.adjustment_intervals.push(of);
                    continue;
                }
                of.delayed_from = Some(of.start_date);
                of.start_date = tried.end;
            }
            self.adjustment_intervals.push(of);
        }
        self.waiting = Some(Box::new(waiting)).filter(|of| **of != Waiting::default());
    }

    /// Gives the usage of prices its discount while it is on trial: all of it, or an amount of what is in the currency
    /// that is invoiced.
    pub(super) fn discount_trial(&mut self, prices: &[Price]) {
        let Some(Trial { start_date, end_date, maximum_amount }) = self.trial.clone() else {
            return;
        };
        let invoiced = PricingUnit::from(self.currency);
        for price in prices.iter().filter(|price| !price.charge.is_fixed()) {
            let off = match &maximum_amount {
                Some(amount) if price.currency == invoiced => Discount::Amount(amount.clone()),
                _ => Discount::Percentage(Fraction::one()),
            };
            let adjustment = Adjustment::Discount(off);
            let mut own = self.adjustment_intervals.iter_mut().filter(|of| of.is_trial);
            if let Some(own) = own.find(|of| of.adjustment == adjustment) {
                own.price_ids.insert(price.id);
                continue;
            }
            let names = [self.id.as_bytes().as_slice(), b"trial", &[adjustment.rank()]];
            self.adjustment_intervals.push(AdjustmentInterval {
                id: AdjustmentIntervalId::derived(self.created_at, &names),
                adjustment,
                scope: None,
                price_ids: [price.id].into(),
                lane: Lane::FIRST,
                plan_version: self.plan_version,
                coupon_id: None,
                is_trial: true,
                delayed_from: None,
                start_date,
                end_date: Some(end_date),
            });
        }
    }

    /// Returns the discount of usage on trial of a price.
    #[must_use]
    pub fn trial_discount(&self, price: PriceId) -> Option<&Adjustment> {
        let mut own = self.adjustment_intervals.iter().filter(|of| of.is_trial);
        own.find(|of| of.reaches(price)).map(|of| &of.adjustment)
    }

    /// Puts the grids of its plans aside while the trial lasts: that is one period.
    pub(super) fn in_trial(&self, mut grids: Vec<StretchGrid>) -> Vec<StretchGrid> {
        let Some(tried) = self.tried() else { return grids };
        let behind = grids.partition_point(|(from, ..)| *from <= tried.end);
        let last = behind.checked_sub(1).and_then(|place| grids.get(place).copied());
        if let Some((_, cycle, anchor, _)) = last.filter(|(from, ..)| *from < tried.end) {
            grids.insert(behind, (tried.end, cycle, anchor, false));
        }
        for (_, cycle, anchor, begins) in grids.iter_mut().filter(|(from, ..)| tried.holds(*from)) {
            (*cycle, *anchor, *begins) = (Tried::CYCLE, (Tried::ANCHOR, tried.start), false);
        }
        grids
    }
}

impl PriceInterval {
    /// Tells whether its usage is on trial.
    #[must_use]
    pub const fn is_trial(&self) -> bool {
        self.trial_of.is_some()
    }

    /// Begins it with the end of the trial.
    fn delay(&mut self, end: Timestamp) {
        let quantities: BTreeMap<_, _> =
            self.quantities.range(..end).map(|(at, of)| (*at, of.clone())).collect();
        let from = self.start_date;
        self.delayed = self.is_fee().then(|| Box::new(Delayed { from, quantities }));
        self.begin_at(end);
    }

    /// Begins a fee that waits as it was agreed on.
    fn begin_as_agreed(&mut self) {
        let Some(delayed) = self.delayed.take() else { return };
        let Delayed { from, mut quantities } = *delayed;
        let last = quantities.last_key_value().map(|(_, of)| of.clone());
        let begin = std::mem::replace(&mut self.start_date, from);
        let later = std::mem::take(&mut self.quantities).into_iter();
        // That of the begin is the last one before, unless somebody has changed it.
        quantities.extend(later.filter(|(at, of)| *at != begin || Some(of) != last.as_ref()));
        self.quantities = quantities;
    }

    /// Begins it at another instant, with the quantity that a fee has then.
    pub(super) fn begin_at(&mut self, start: Timestamp) {
        self.start_date = start;
        self.begin_quantities();
    }
}
