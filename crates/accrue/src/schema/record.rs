//! Documents of idempotency (§4.5).

use serde::{Deserialize, Serialize};

/// A piece of a stored answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordPart {
    pub(crate) text: String,
}
