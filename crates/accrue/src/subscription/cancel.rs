use serde::Serialize;

use super::{Subscription, SubscriptionStatus};
use crate::{Error, Timeframe, Timestamp};

/// End that a cancellation gives a subscription (wire 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cancellation {
    /// Now; a subscription that has not begun never begins.
    Immediate,
    /// End of the current term (subscriptions 0.2). Not for one that has not begun.
    EndOfSubscriptionTerm,
    /// Date that has not passed. Not for one that has not begun.
    RequestedDate(Timestamp),
}

impl Cancellation {
    /// Decides the end of the subscription.
    pub(crate) fn decide(
        self,
        subscription: &Subscription,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        match (self, subscription.status(now)) {
            (_, SubscriptionStatus::Ended) => {
                Err(Error::constraint("the subscription has ended already"))
            }
            (Self::Immediate, SubscriptionStatus::Upcoming) => Ok(subscription.start_date),
            (_, SubscriptionStatus::Upcoming) => Err(Error::constraint(
                "the subscription has not begun: it can only be canceled immediately",
            )),
            (Self::Immediate, _) => Ok(now),
            (Self::EndOfSubscriptionTerm, _) => {
                let current = subscription.terms().containing(now);
                current
                    .map(Timeframe::end)
                    .ok_or_else(|| Error::constraint("the subscription has no term left"))
            }
            (Self::RequestedDate(date), _) if date < now => {
                Err(Error::constraint(format!("the cancellation date {date} has passed")))
            }
            (Self::RequestedDate(date), _) => Ok(date),
        }
    }
}

/// Decides the end of a subscription that is taken back: any that lies in the future, whoever gave it. One
/// that is the last boundary to have `passed` does not, also for who began before it and lost a race.
pub(crate) fn unscheduled_end(
    subscription: &Subscription,
    passed: Option<Timestamp>,
    now: Timestamp,
) -> Result<Timestamp, Error> {
    let now = passed.map_or(now, |passed| now.max(passed));
    match subscription.end_date {
        None => Err(Error::constraint("no cancellation of the subscription is scheduled")),
        Some(end) if end <= now => Err(Error::constraint("the subscription has ended already")),
        Some(end) => Ok(end),
    }
}
