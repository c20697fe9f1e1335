//! Backfills: events that are added to a timeframe, or put in place of those that it has, and count
//! all at once (wire 3.2, 3.3).

mod correction;
mod keys;
mod new;
mod overlay;
mod states;

use serde::{Deserialize, Serialize};

pub use self::new::NewBackfill;
pub(crate) use self::{
    correction::{Correction, Effect},
    keys::{KeyRules, Verdict},
    overlay::{Overlay, Overlays},
};
use crate::{BackfillId, CustomerId, IdOr, Timeframe, Timestamp, expression::Expression};

/// A backfill (§2.3).
///
/// Its events are stored apart, and count once it is reflected. It is an overlay: what it replaces is
/// hidden and not rewritten, so that all of it can be reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Backfill {
    /// Its id: what its events are ingested with.
    pub id: BackfillId,
    /// Where it stands.
    pub status: BackfillStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// Where its events lie: from the start, up to the end and without it.
    pub timeframe: Timeframe,
    /// How many events were ingested in it.
    pub events_ingested: u64,
    /// When it will close by itself, or when it was closed; `None` where it was reverted before.
    pub close_time: Option<Timestamp>,
    /// When it was reverted.
    pub reverted_at: Option<Timestamp>,
    /// Whose events it has; `None` where it is for all customers.
    pub customer_id: Option<CustomerId>,
    /// Whether the events that are there stop counting.
    pub replace_existing_events: bool,
    /// Which of them do; all where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecation_filter: Option<Expression>,
}

/// Where a backfill stands (wire 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BackfillStatus {
    /// It takes events, or was closed and is about to count.
    Pending,
    /// Its events count.
    Reflected,
    /// It was reverted, and its events are about to count no longer.
    PendingRevert,
    /// Its events count no longer, or never did.
    Reverted,
}

impl Backfill {
    /// Tells whether it keeps others out of its timeframe.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.status, BackfillStatus::Pending | BackfillStatus::PendingRevert)
    }
}

/// Which backfills of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackfillFilter {
    /// For one customer, also a deleted one that is named by its id; one for all customers is not
    /// among them. A customer that is not there has none.
    pub customer: Option<IdOr<CustomerId>>,
    /// Of one status.
    pub status: Option<BackfillStatus>,
}
