use serde::Serialize;

use super::{Subscription, SubscriptionStatus};
use crate::{Error, Timeframe, Timestamp, limits};

/// End that a cancellation gives a subscription (wire 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cancellation {
    /// Now; a subscription that has not begun never begins.
    Immediate,
    /// End of the current term (subscriptions 0.2). Not for one that has not begun.
    EndOfSubscriptionTerm,
    /// Date within its life, also one that has passed: what was billed from then on is taken back
    /// (invoicing 6.2). Not for one that has not begun.
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
            (Self::RequestedDate(date), _) => {
                subscription.check_rewound(date, now)?;
                Ok(date)
            }
        }
    }
}

impl Subscription {
    /// Refuses an end before its start, or with more billing periods behind it than are cut off at once.
    fn check_rewound(&self, end: Timestamp, now: Timestamp) -> Result<(), Error> {
        let (start, most) = (self.start_date, limits::REWOUND);
        if end < start {
            let detail = format!("the cancellation date {end} lies before the start {start}");
            return Err(Error::constraint(detail));
        }
        let after = Timeframe::nothing_at(end).until(now);
        if self.periods().overlapping(after).nth(most).is_some() {
            let detail = format!("more than {most} billing periods lie behind {end}");
            return Err(Error::constraint(detail));
        }
        Ok(())
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
        Some(end) if now < end => Ok(end),
        end => {
            let what = end.map_or_else(
                || "of which no end is scheduled".to_owned(),
                |end| format!("which has ended at {end}"),
            );
            let message = format!("found {}, {what}", subscription.id);
            Err(Error::invalid("subscription_id", message))
        }
    }
}
