use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Subscription;
use crate::{AlertId, Timestamp};

/// A subscription, and what the engine keeps beside it in the same row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Enrolment {
    pub(crate) subscription: Subscription,
    /// Its own alerts.
    pub(crate) alerts: Vec<AlertId>,
    /// The alerts of its plan version that are disabled for it alone.
    pub(crate) muted: BTreeSet<AlertId>,
    /// The last generation of its plan version's alerts that it has settled.
    pub(crate) generation: u64,
    /// How much of its life messages have told.
    pub(crate) told: Told,
}

/// How much of a subscription's life messages have told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    Created,
    Started,
    Ended,
}

impl Enrolment {
    /// Returns what time brings next, and when: its start or its end.
    pub(crate) fn next_due(&self) -> Option<(Timestamp, Told)> {
        let Subscription { start_date, end_date, .. } = self.subscription;
        match self.told {
            Told::Created => match end_date {
                Some(end) if end <= start_date => Some((end, Told::Ended)),
                _ => Some((start_date, Told::Started)),
            },
            Told::Started => end_date.map(|end| (end, Told::Ended)),
            Told::Ended => None,
        }
    }

    /// Tells whether no event that is still taken can be its own.
    pub(crate) fn is_past(&self, oldest_open: Timestamp) -> bool {
        self.subscription.end_date.is_some_and(|end| end <= oldest_open) && self.told == Told::Ended
    }
}
