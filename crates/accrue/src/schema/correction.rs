//! Documents of corrections, and which figures count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    CustomerId, SubscriptionId, Timestamp,
    backfill::Correction,
    usage::{BucketSlot, EventPlace},
};

/// The backfills for all customers that are pending, or about to be reverted: when each begins for
/// every customer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountCorrections {
    pub(crate) corrections: Vec<AccountCorrection>,
}

/// What corrects the figures of all customers, one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountCorrection {
    pub(crate) correction: Correction,
    /// Whether it has begun: then it is due, whatever the time is here.
    pub(crate) has_begun: bool,
}

/// What corrects the figures of a customer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Corrections {
    /// Those for it alone, in order.
    pub(crate) scheduled: Vec<Correction>,
    /// What of that for all customers is done for it.
    pub(crate) done: Vec<Correction>,
    /// What is under way: nobody else writes for the customer before it is through.
    pub(crate) progress: Option<Progress>,
    /// When others are corrected next whose usage counts for its subscriptions: that comes before its own transitions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) of_others: BTreeMap<CustomerId, Timestamp>,
}

impl Corrections {
    /// Returns when it is corrected next. What is under way is due, whatever the time is.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        let under_way = self.progress.as_ref().map(|_| Timestamp::MIN);
        under_way.or_else(|| self.scheduled.first().map(|of| of.at))
    }
}

/// How far a correction has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    /// Its events are measured by metrics that came after them, up to a revision of those: all up
    /// to a place are.
    Measuring { revision: u64, behind: Option<EventPlace> },
    /// All are; the billing periods of its subscriptions are summed by those metrics too: all up to a
    /// subscription are.
    Totalling { revision: u64, behind: Option<SubscriptionId> },
    /// The days of a backfill are added up beside what counts: all up to a place are.
    Building { correction: Correction, behind: Option<EventPlace> },
    /// All are; what follows makes them count: all up to an instant do.
    Built { correction: Correction, until: Option<Timestamp> },
    /// What counted before is removed: all up to a place is.
    CleaningUp { correction: Correction, behind: CleanUpPlace },
}

impl Progress {
    /// Returns the correction that is under way, where it is one of a backfill.
    pub(crate) const fn correction(&self) -> Option<Correction> {
        match self {
            Self::Measuring { .. } | Self::Totalling { .. } => None,
            Self::Building { correction, .. }
            | Self::Built { correction, .. }
            | Self::CleaningUp { correction, .. } => Some(*correction),
        }
    }

    /// Tells whether it is a backfill that is under way.
    pub(crate) const fn is_correcting(&self) -> bool {
        self.correction().is_some()
    }
}

/// How far the removal of what counted before has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CleanUpPlace {
    /// In which pass over the rows.
    pub(crate) pass: u8,
    /// At which cell, by its place in their order.
    pub(crate) cell: usize,
    /// The last row of it that was looked at.
    pub(crate) row: Option<Vec<u8>>,
}

/// A backfill that is reflected for a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OverlayEntry {
    /// How many events of the customer had been accepted: it hides none that came later.
    pub(crate) accepted: u64,
}

/// Which figures of a day count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CalendarDay {
    /// The slot of the buckets and distinct values that count.
    pub(crate) bucket_slot: BucketSlot,
    /// While the other one is built: how many events it has so far in each hour of the day that there
    /// are any of, hidden ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) building: Option<BTreeMap<u8, u64>>,
}
