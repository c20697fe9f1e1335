use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    group::{self, Group},
    interval::RatedInterval,
    pools,
};
use crate::{
    AdjustmentIntervalId, Currency, MetricId, PriceId, Timeframe, Timestamp,
    price::{Charge, Price},
    subscription::{InForce, PeriodKey, Subscription},
};

/// Prices in force for a subscription, ready to rate what it used.
#[derive(Clone, Debug)]
pub(crate) struct RateCard {
    pub(crate) invoiced_in: Currency,
    pub(crate) intervals: Vec<RatedInterval>,
    pub(super) groups: Vec<Group>,
    /// What adjusts amounts, in the order in which it applies.
    pub(super) adjustments: Vec<AdjustmentIntervalId>,
}

impl RateCard {
    /// Returns the place of a price that is in force; behind all others where it is none of them.
    pub(crate) fn place_of(&self, of: InForce) -> usize {
        let place = self.intervals.iter().position(|interval| interval.in_force == of);
        place.unwrap_or(self.intervals.len())
    }

    /// Returns the interval of a price in force that holds an instant; any of it where none does.
    pub(crate) fn interval_of(&self, price: InForce, at: Timestamp) -> Option<&RatedInterval> {
        let mut own = self.intervals.iter().filter(|of| of.in_force == price);
        own.clone().find(|of| of.periods.containing(at).is_some()).or_else(|| own.next())
    }

    /// Returns the cycle of a price that holds an instant: the price with the start of that.
    pub(crate) fn cycle_of(&self, price: PriceId, at: Timestamp) -> (PriceId, Timestamp) {
        let interval = self.intervals.iter().find(|of| of.price.id == price);
        (price, interval.map_or(at, |of| of.periods.cycle_start(at)))
    }

    /// Creates the card of a subscription: its intervals with their prices, which are in the same order.
    pub(crate) fn new(subscription: &Subscription, prices: Vec<Arc<Price>>) -> Self {
        let priced: Vec<_> = subscription.price_intervals.iter().zip(&prices).collect();
        let intervals = priced.iter().map(|(of, price)| {
            let pools = pools::drawn_by(price, subscription, &priced);
            let price = subscription.priced(of, Arc::clone(price));
            RatedInterval::new(subscription, of, price, pools)
        });
        let intervals: Vec<_> = intervals.collect();
        let groups = Group::all(&intervals, &subscription.adjustment_intervals);
        let adjustments = group::in_order(&subscription.adjustment_intervals);
        let adjustments = adjustments.into_iter().map(|of| of.id).collect();
        Self { invoiced_in: subscription.currency, intervals, groups, adjustments }
    }

    /// Returns the metrics whose figures it prices.
    pub(crate) fn metrics(&self) -> BTreeSet<MetricId> {
        self.intervals.iter().filter_map(|of| of.price.charge.metric_id()).collect()
    }

    /// Tells whether more usage never costs less. Adjustments may take off more of what is more.
    pub(crate) fn only_rises(&self) -> bool {
        let rises = |of: &RatedInterval| match &of.price.charge {
            Charge::Usage { model, .. } | Charge::Composite { model } => model.only_rises(),
            Charge::Fixed { .. } => true,
        };
        self.intervals.iter().all(rises) && self.groups.iter().all(|of| of.adjustments.is_empty())
    }

    /// Returns the periods of usage prices that a timeframe touches, each once, in order.
    pub(crate) fn usage_periods(&self, timeframe: Timeframe) -> BTreeMap<Timeframe, PeriodKey> {
        let usage = self.intervals.iter().filter(|of| of.is_usage());
        let periods = usage.flat_map(|of| {
            let key = |period| (period, of.periods.key(period));
            of.periods_in(timeframe).into_iter().map(key)
        });
        periods.collect()
    }
}
