//! The queue of an endpoint: when it is looked at next, who looks at it, and how it fares.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Answer, Plan};
use crate::{Timestamp, limits};

/// Whoever sends the messages of an endpoint: one worker at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Holder(pub(crate) u64);

/// The queue of an endpoint, which guards the messages that wait in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndpointQueue {
    /// Instant at which it is looked at next; `None` where nothing waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<Timestamp>,
    /// Who looks at it until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<Holder>,
    /// Number of failures since the last success.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) failures: u32,
    /// Instant of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failing_since: Option<Timestamp>,
    /// Number of messages in lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lines: u32,
    /// Instant from which on the last message was due that was added to be sent now: those that are added later are
    /// due no earlier, also where their clock is behind by a little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) added_at: Option<Timestamp>,
    /// Instant before which no message is due: what was deleted before it is not gone over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) due_from: Option<Timestamp>,
    /// Instant until which it is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rests_until: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What follows for an endpoint from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on.
    GoesOn,
    /// It says that it is gone.
    IsGone,
    /// It has failed for too long.
    HasFailed,
}

impl EndpointQueue {
    /// Tells whether somebody else looks at it.
    pub(crate) fn is_held(&self, by: Option<Holder>, now: Timestamp) -> bool {
        self.holder.is_some() && self.holder != by && self.next_at.is_some_and(|until| now < until)
    }

    /// Tells whether the endpoint has failed so often that one message at a time is sent to it.
    pub(crate) const fn is_probed(&self) -> bool {
        self.failures >= limits::FAILURES_IN_A_ROW
    }

    /// Returns the first instant from one on at which it is not left alone.
    pub(crate) fn awake_from(&self, at: Timestamp) -> Timestamp {
        self.rests_until.map_or(at, |until| at.max(until))
    }

    /// Notes that a message is added to be sent now, and returns from when on it is due.
    pub(crate) fn add(&mut self, now: Timestamp) -> Timestamp {
        // A clock that was far ahead does not hold up what others add.
        let last = self.added_at.filter(|last| *last <= now.saturating_add(limits::LEASE));
        *self.added_at.insert(last.map_or(now, |last| last.max(now)))
    }

    /// Notes an attempt.
    pub(crate) fn attempted(
        &mut self,
        answer: &Answer,
        retry_after: Option<Duration>,
        Plan { schedule, now, draw }: &Plan<'_>,
    ) -> Verdict {
        let now = *now;
        if answer.is_success() {
            (self.failures, self.failing_since, self.rests_until) = (0, None, None);
            return Verdict::GoesOn;
        }
        self.failures = self.failures.saturating_add(1);
        let since = *self.failing_since.get_or_insert(now);
        let asked = retry_after.map(|asked| asked.min(limits::RETRY_AFTER));
        let rest = self.is_probed().then(|| schedule.rest(self.failures, *draw));
        let until = asked.max(rest).map(|rest| now.saturating_add(rest));
        self.rests_until = self.rests_until.max(until);
        let days = Duration::from_secs(limits::FAILING_DAYS.saturating_mul(24 * 60 * 60));
        match since.saturating_add(days) <= now {
            _ if answer.is_gone() => Verdict::IsGone,
            true => Verdict::HasFailed,
            false => Verdict::GoesOn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhooks_clocks_that_differ_a_little_keep_the_order_and_one_that_is_far_ahead_holds_up_nothing()
     {
        let noon = Timestamp::parse("2026-03-10T12:00:00Z").unwrap();
        let later = |seconds| noon.saturating_add(Duration::from_secs(seconds));
        let mut queue = EndpointQueue::default();
        let due: Vec<_> = [10, 5, 12].map(|at| queue.add(later(at))).into();
        assert_eq!(due, [later(10), later(10), later(12)]);
        assert_eq!(queue.add(later(3_000_000)), later(3_000_000));
        assert_eq!(queue.add(later(20)), later(20));
    }
}
