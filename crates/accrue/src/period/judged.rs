use std::time::Duration;

use crate::{
    Timeframe, Timestamp, limits,
    subscription::{BillingPeriods, Subscription},
    time::INSTANT,
};

/// Returns the billing periods that are judged where no event moves the value: the current one, and one
/// that begins so soon that its events are taken already.
pub(crate) fn judged_at_once(subscription: &Subscription, at: Timestamp) -> Vec<Timeframe> {
    let ahead = Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(INSTANT);
    let soon = Timeframe::nothing_at(at).until(at.saturating_add(ahead));
    subscription.periods().overlapping(soon).collect()
}

/// Returns the start of the billing period before the current one, or before the last one of what has
/// ended: events of older periods fire nothing.
pub(crate) fn oldest_judged(subscription: &Subscription, now: Timestamp) -> Timestamp {
    oldest_judged_on(&subscription.periods(), subscription, now)
}

/// Returns it where the billing periods of the subscription are known.
pub(crate) fn oldest_judged_on(
    periods: &BillingPeriods,
    subscription: &Subscription,
    now: Timestamp,
) -> Timestamp {
    let last = subscription.end_date.map_or(now, |end| end.saturating_sub(INSTANT).min(now));
    let current = periods.containing(last);
    let before = current.and_then(|of| periods.containing(of.start().saturating_sub(INSTANT)));
    before.or(current).map_or(Timestamp::MIN, Timeframe::start)
}
