use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Subscription, SubscriptionStatus};
use crate::{AlertId, Timeframe, Timestamp, price::Cycle};

/// A subscription, and what the engine keeps beside it in the same row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionEntry {
    pub(crate) subscription: Subscription,
    /// Its own alerts.
    pub(crate) alerts: Vec<AlertId>,
    /// The alerts of its plan version that are disabled for it alone.
    pub(crate) muted: BTreeSet<AlertId>,
    /// The last revision of its plan version's alerts that it has applied.
    pub(crate) revision: u64,
    /// How much of its life was notified of.
    pub(crate) notified: Notified,
    /// When its prices charge something.
    pub(crate) turns: Turns,
    /// The last turn that it has applied.
    pub(crate) rated_until: Option<Timestamp>,
    /// How many rows its intervals are in: here they are joined with it.
    #[serde(default)]
    pub(crate) terms_parts: u16,
}

/// When the prices of a subscription charge something: a fee, or what a minimum adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// With the periods of these cycles, without one twice.
    cycles: Vec<Cycle>,
    /// With the first billing period.
    pub(crate) once: bool,
}

impl Turns {
    pub(crate) fn add(&mut self, cycle: Cycle) {
        if !self.cycles.contains(&cycle) {
            self.cycles.push(cycle);
        }
    }
}

/// How much of a life was notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notified {
    Created,
    Started,
    Ended,
}

impl SubscriptionEntry {
    /// Returns when time brings the next thing.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let notified = self.next_notified().map(|(at, _)| at);
        notified.into_iter().chain(self.next_turn()).min()
    }

    /// Returns when something is charged next: with the begin or the end of a billing period, or with
    /// another quantity of a fee.
    pub(crate) fn next_turn(&self) -> Option<Timestamp> {
        let Subscription { start_date, end_date, .. } = self.subscription;
        let Some(rated_until) = self.rated_until else {
            let is_lived = end_date.is_none_or(|end| start_date < end);
            let is_charged = self.turns.once || !self.turns.cycles.is_empty();
            return (is_lived && is_charged).then_some(start_date);
        };
        let periods = self.turns.cycles.iter().map(|cycle| self.subscription.periods_of(*cycle));
        let next = periods.filter_map(|periods| periods.containing(rated_until));
        let first = self.subscription.periods().first().filter(|_| self.turns.once);
        let ends = next.chain(first).map(Timeframe::end).filter(|end| rated_until < *end);
        ends.chain(self.subscription.next_fee_change(rated_until)).min()
    }

    /// Returns where it stood when messages last told of it.
    pub(crate) const fn status_notified(&self) -> SubscriptionStatus {
        match self.notified {
            Notified::Created => SubscriptionStatus::Upcoming,
            Notified::Started => SubscriptionStatus::Active,
            Notified::Ended => SubscriptionStatus::Ended,
        }
    }

    /// Returns what of its life comes next, and when: its start or its end.
    pub(crate) fn next_notified(&self) -> Option<(Timestamp, Notified)> {
        let Subscription { start_date, end_date, .. } = self.subscription;
        match self.notified {
            Notified::Created => match end_date {
                Some(end) if end <= start_date => Some((end, Notified::Ended)),
                _ => Some((start_date, Notified::Started)),
            },
            Notified::Started => end_date.map(|end| (end, Notified::Ended)),
            Notified::Ended => None,
        }
    }

    /// Tells whether no event that is still taken can be its own.
    pub(crate) fn is_past(&self, oldest_open: Timestamp) -> bool {
        self.subscription.end_date.is_some_and(|end| end <= oldest_open)
            && self.notified == Notified::Ended
    }
}
