use serde::Serialize;

use super::{Subscription, SubscriptionStatus};
use crate::{Error, Timestamp};

/// When a subscription is to end (wire 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cancellation {
    /// Now; one that has not begun never does.
    Immediate,
    /// When the current billing period ends.
    EndOfSubscriptionTerm,
    /// At a date that has not passed.
    RequestedDate(Timestamp),
}

impl Cancellation {
    /// Decides when the subscription ends.
    pub(crate) fn decide(
        self,
        subscription: &Subscription,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        if subscription.status(now) == SubscriptionStatus::Ended {
            return Err(Error::constraint("the subscription has ended already"));
        }
        match self {
            Self::Immediate => Ok(now.max(subscription.start_date)),
            Self::EndOfSubscriptionTerm => {
                let current = subscription.periods().containing(now.max(subscription.start_date));
                current
                    .map(crate::Timeframe::end)
                    .ok_or_else(|| Error::constraint("the subscription has no term left"))
            }
            Self::RequestedDate(date) if date < now => {
                Err(Error::constraint(format!("the cancellation date {date} has passed")))
            }
            Self::RequestedDate(date) if date < subscription.start_date => Err(Error::constraint(
                format!("the cancellation date {date} is before the start of the subscription"),
            )),
            Self::RequestedDate(date) => Ok(date),
        }
    }
}

/// Decides which end of a subscription is taken back: any that lies in the future, whoever gave it.
pub(crate) fn unscheduled_end(
    subscription: &Subscription,
    now: Timestamp,
) -> Result<Timestamp, Error> {
    match subscription.end_date {
        None => Err(Error::constraint("no cancellation of the subscription is scheduled")),
        Some(end) if end <= now => Err(Error::constraint("the subscription has ended already")),
        Some(end) => Ok(end),
    }
}
