//! Backfills: events that are added to a timeframe, or replace those that it has, and count all at
//! once (wire 3.2, 3.3).

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
/// Its events are stored apart, and count once it is reflected. It is an overlay: the events that
/// it replaces are hidden and not rewritten, so that all of it can be reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Backfill {
    /// Its id, with which its events are ingested.
    pub id: BackfillId,
    /// Its status.
    pub status: BackfillStatus,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Timeframe in which its events lie: from the start, up to the end and without it.
    pub timeframe: Timeframe,
    /// Number of events that were ingested into it.
    pub events_ingested: u64,
    /// Instant at which it closes by itself, or was closed; `None` where it was reverted before.
    pub close_time: Option<Timestamp>,
    /// Instant at which it was reverted.
    pub reverted_at: Option<Timestamp>,
    /// Customer whose events it has; `None` where it is for all customers.
    pub customer_id: Option<CustomerId>,
    /// True if the existing events of the timeframe stop counting once it is reflected.
    pub replace_existing_events: bool,
    /// Filter of the existing events that stop counting; all do where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecation_filter: Option<Expression>,
}

/// Status of a backfill (wire 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BackfillStatus {
    /// Pending: it takes events, or was closed and is about to count.
    Pending,
    /// Reflected: its events count.
    Reflected,
    /// Pending revert: its events are about to count no longer.
    PendingRevert,
    /// Reverted: its events count no longer, or never did.
    Reverted,
}

impl Backfill {
    /// Tells whether it keeps others out of its timeframe.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.status, BackfillStatus::Pending | BackfillStatus::PendingRevert)
    }
}

/// Filter of the list of backfills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackfillFilter {
    /// Customer that they are for, also a deleted one that is named by its id. Backfills for all
    /// customers are not among them. A customer that does not exist has none.
    pub customer: Option<IdOr<CustomerId>>,
    /// Status that they have.
    pub status: Option<BackfillStatus>,
}
