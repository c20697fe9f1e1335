//! Credits that price intervals give with their periods (subscriptions 9.3).

use serde::{Deserialize, Serialize};

use super::{PriceInterval, Subscription, SubscriptionEntry};
use crate::{PriceIntervalId, Timeframe, Timestamp, price::Price};

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

    /// Returns until when credits last that an interval has given at an instant: up to the end of the interval. Where
    /// that does not hold the instant any more, they last no longer than they were given.
    pub(crate) fn lasts_until(
        &self,
        id: PriceIntervalId,
        given_at: Timestamp,
    ) -> Option<Timestamp> {
        let own = self.price_intervals.iter().find(|own| own.id == id);
        let holds = |own: &&PriceInterval| {
            own.start_date <= given_at && self.end_of(own).is_none_or(|end| given_at < end)
        };
        match own.filter(holds) {
            Some(own) => self.end_of(own),
            None => Some(given_at),
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
