use serde::{Deserialize, Serialize};

use crate::{BackfillId, Timestamp};

/// Correction of a customer's figures by a backfill, and its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Correction {
    pub(crate) at: Timestamp,
    pub(crate) backfill_id: BackfillId,
    pub(crate) effect: Effect,
}

/// Effect of a correction on the events of a backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// They count from now on.
    Reflect,
    /// They count no longer.
    Revert,
}
