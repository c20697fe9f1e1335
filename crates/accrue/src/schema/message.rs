//! Documents of messages.

use serde::{Deserialize, Serialize};

use crate::{
    MessageId, Timestamp,
    webhook::{Body, Place},
};

/// What the instant decided of a message. The resources in it are rendered when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutboxEntry {
    pub(crate) id: MessageId,
    #[serde(flatten)]
    pub(crate) place: Place,
    pub(crate) created_at: Timestamp,
    pub(crate) body: Body,
}
