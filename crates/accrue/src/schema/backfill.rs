//! Documents of backfills.

use serde::{Deserialize, Serialize};

use crate::{BackfillId, CustomerId, Timeframe};

/// The backfills of an account that are pending, or about to be reverted, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenBackfills {
    pub(crate) backfills: Vec<OpenBackfill>,
}

/// Which timeframe a backfill keeps others out of, and of which customer: of all where none is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenBackfill {
    pub(crate) id: BackfillId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) customer_id: Option<CustomerId>,
    pub(crate) timeframe: Timeframe,
}

/// What a customer has of a backfill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackfillShare {
    /// How many events were ingested.
    pub(crate) events: u64,
}
