//! Documents of idempotency (§4.5).

use serde::{Deserialize, Serialize};

use crate::{AccountId, IdempotencyKey};

/// A piece of a stored answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordPart {
    pub(crate) text: String,
}

/// Whose record it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expiry {
    pub(crate) account: AccountId,
    pub(crate) key: IdempotencyKey,
}
