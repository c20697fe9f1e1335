use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Decimal, Timeframe, Timestamp,
    expression::Expression,
    meter::Source,
    price::{BillingMode, Cycle, GroupRater, LicensePools, Price, Share},
    subscription::{BillingPeriods, Days, InForce, PriceInterval, Subscription},
    usage::Figures,
};

/// A price while it is in force, with the figures that its usage is rated by.
#[derive(Clone, Debug)]
pub(crate) struct RatedInterval {
    pub(crate) price: Arc<Price>,
    /// What its usage is known by.
    pub(crate) in_force: InForce,
    pub(crate) figures: Figures,
    /// Quantities of a fee, from each instant on.
    pub(super) quantities: BTreeMap<Timestamp, Decimal>,
    pub(super) periods: BillingPeriods,
    /// Its last period, where usage of that is invoiced later than it ends, and when that is (subscriptions 2.6).
    pub(super) deferred: Option<(Timeframe, Timestamp)>,
    /// True where only the first of the periods is charged.
    pub(super) is_once: bool,
    /// True where a part of a cycle is charged as all of it.
    is_whole: bool,
    /// True where its usage is on trial.
    pub(super) is_trial: bool,
    /// Cycle in which usage is invoiced within its periods.
    invoicing: Option<Cycle>,
    /// Condition on the events that count.
    pub(crate) filter: Option<Expression>,
    /// Whose usage counts.
    pub(crate) source: Source,
    /// What licenses may use before it is charged, where they have allocations.
    pub(super) pools: Option<Arc<LicensePools>>,
}

impl RatedInterval {
    pub(super) fn new(
        subscription: &Subscription,
        interval: &PriceInterval,
        price: Arc<Price>,
        pools: Option<LicensePools>,
    ) -> Self {
        let quantities = interval.quantities.clone();
        let periods = subscription.periods_of_interval(interval);
        let deferred = subscription.deferred(interval).filter(|_| price.charge.is_usage());
        let (is_once, is_trial) = (interval.is_charged_once(), interval.is_trial());
        let invoicing = price.invoicing_cycle().filter(|_| !is_trial);
        let is_whole = is_once || price.credit_allocation.is_some();
        let (filter, source) = (interval.filter.clone(), subscription.source_of(interval));
        let of_licenses = pools
            .as_ref()
            .and_then(|pools| Figures::of_licenses(&price, filter.as_ref(), pools.key()));
        let figures = of_licenses.unwrap_or_else(|| Figures::of(&price, filter.as_ref()));
        let figures = figures.of_source(&source);
        Self {
            figures,
            in_force: interval.in_force(),
            price,
            quantities,
            periods,
            deferred,
            is_once,
            is_whole,
            is_trial,
            invoicing,
            filter,
            source,
            pools: pools.map(Arc::new),
        }
    }

    /// Returns what rates groups in one of its periods, where its usage is in such.
    pub(super) fn group_rater(&self, period: Timeframe) -> Option<GroupRater<'_>> {
        let share = self.share(period);
        match &self.pools {
            Some(pools) => Some(pools.of(period).rater(share)),
            None => self.price.charge.model().group_rater(share),
        }
    }

    pub(super) fn is_fee(&self) -> bool {
        self.price.charge.is_fixed()
    }

    pub(super) fn is_usage(&self) -> bool {
        self.price.charge.is_usage()
    }

    pub(super) fn is_composite(&self) -> bool {
        self.price.charge.is_composite()
    }

    pub(super) fn billing_mode(&self) -> BillingMode {
        self.price.charge.billing_mode()
    }

    /// Tells whether one adjustment may be spread over both: they fall due alike, in one unit.
    pub(super) fn is_billed_with(&self, other: &Self) -> bool {
        let cadence = |of: &Self| Some(of.price.cadence).filter(|_| !of.is_trial);
        let terms = |of: &Self| (cadence(of), of.billing_mode());
        terms(self) == terms(other)
            && self.price.currency == other.price.currency
            && self.periods.has_grid_of(&other.periods)
    }

    /// Returns the instants within one of its periods at which usage is invoiced (invoicing 6.1).
    pub(super) fn inner_boundaries(&self, period: Timeframe) -> Vec<Timestamp> {
        self.invoicing.map(|cycle| self.periods.ends_within(period, cycle)).unwrap_or_default()
    }

    /// Tells whether its price is in force at an instant.
    pub(crate) fn is_in_force(&self, at: Timestamp) -> bool {
        self.periods.containing(at).is_some()
    }

    /// Returns its periods that share an instant with a timeframe.
    pub(crate) fn periods_in(&self, timeframe: Timeframe) -> Vec<Timeframe> {
        if !self.is_once {
            return self.periods.overlapping(timeframe).collect();
        }
        self.periods.first().into_iter().filter(|first| first.overlaps(timeframe)).collect()
    }

    /// Returns the share of a whole cycle that one of its periods is. One that is charged as a whole has no days.
    pub(super) fn share(&self, period: Timeframe) -> Share {
        let Days { part, whole } = self.days(period);
        Share { part, whole, places: self.price.currency.places() }
    }

    pub(super) fn days(&self, stretch: Timeframe) -> Days {
        // A trial is no part of a cycle.
        if self.is_whole || self.is_trial {
            Days { part: 1, whole: 1 }
        } else {
            self.periods.days(stretch)
        }
    }
}
