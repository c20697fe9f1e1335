//! Credits that price intervals give with their periods (subscriptions 9.3).

use serde::{Deserialize, Serialize};

use super::{PriceInterval, Subscription, SubscriptionEntry};
use crate::{Timeframe, Timestamp, price::Price};

/// How far an interval has given the credits of its periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    /// Begin of the last period whose credits were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
}

impl Given {
    /// Returns what an interval of a price begins with; none where that gives no credits.
    pub(super) fn of(price: &Price) -> Option<Self> {
        price.credit_allocation.as_ref().map(|_| Self::default())
    }
}

impl Subscription {
    /// Returns the next period of an interval whose credits are to be given.
    pub(crate) fn next_to_give(&self, interval: &PriceInterval) -> Option<Timeframe> {
        let Given { until } = interval.given?;
        let periods = self.periods_of_interval(interval);
        let Some(until) = until else { return periods.first() };
        if interval.is_charged_once() {
            return None;
        }
        match periods.containing(until) {
            Some(last) => periods.containing(last.end()),
            None => periods.first().filter(|first| until < first.start()),
        }
    }

    /// Returns until when credits last that an interval has given at an instant for a price: up to the end of the
    /// interval. What has none any more lasts no longer than it was given.
    pub(crate) fn lasts_until(&self, of: (crate::PriceId, Timestamp)) -> Option<Timestamp> {
        let (price, given) = of;
        let mut own = self.price_intervals.iter().filter(|own| own.price_id == price);
        let lives = |own: &&PriceInterval| {
            own.start_date <= given && self.end_of(own).is_none_or(|end| given < end)
        };
        match own.find(lives) {
            Some(own) => self.end_of(own),
            None => Some(given),
        }
    }
}

impl SubscriptionEntry {
    /// Returns the next instant at which it gives credits.
    pub(crate) fn next_given(&self) -> Option<Timestamp> {
        let of = &self.subscription;
        let next = of.price_intervals.iter().filter_map(|own| of.next_to_give(own));
        next.map(Timeframe::start).min()
    }
}
