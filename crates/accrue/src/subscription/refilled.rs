//! Pools of licenses that are full again with each period of their fee (subscriptions 7.4.12).

use serde::{Deserialize, Serialize};

use super::{PriceInterval, Subscription, SubscriptionEntry};
use crate::{Timeframe, Timestamp, price::Price};

/// How far messages have told that pools are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refilled {
    /// Instant from which on they tell: of the period that holds it first.
    pub(crate) since: Timestamp,
    /// Begin of the last period that one has told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
}

impl Refilled {
    /// Returns what an interval of a price begins with; none where its licenses have no pools.
    pub(super) fn of(price: &Price, since: Timestamp) -> Option<Self> {
        let has_pools = !price.license_allocations.is_empty();
        has_pools.then_some(Self { since, until: None })
    }
}

impl Subscription {
    /// Tells whether licenses of one of its fees have pools.
    pub(crate) fn has_license_pools(&self) -> bool {
        self.price_intervals.iter().any(|interval| interval.refilled.is_some())
    }

    /// Returns the next period of an interval that a message is to tell of, and when it does.
    pub(crate) fn next_to_refill(
        &self,
        interval: &PriceInterval,
    ) -> Option<(Timestamp, Timeframe)> {
        let Refilled { since, until } = interval.refilled?;
        let periods = self.periods_of_interval(interval);
        let period = match until.and_then(|until| periods.containing(until)) {
            Some(last) => periods.containing(last.end()),
            None => {
                let first = || periods.first().filter(|of| since <= of.start());
                let next = periods.containing(since).or_else(first);
                next.filter(|next| until.is_none_or(|until| until < next.start()))
            }
        }?;
        Some((period.start().max(since), period))
    }
}

impl SubscriptionEntry {
    /// Returns the next instant at which a message tells that pools are full.
    pub(crate) fn next_refilled(&self) -> Option<Timestamp> {
        let of = &self.subscription;
        let next = of.price_intervals.iter().filter_map(|own| of.next_to_refill(own));
        next.map(|(at, _)| at).min()
    }
}
