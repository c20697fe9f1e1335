//! Idempotency (§4.5): one effect per key, and the first answer again for every retry.

mod admit;
mod fingerprint;
mod record;

pub use self::fingerprint::{Fingerprint, Fingerprinting};
pub(crate) use self::{
    admit::{Admission, admit},
    record::{Answer as StoredAnswer, Epoch, Mark, Record},
};

/// Freshness of an answer: made now, or that of an earlier action under the same key (§4.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// Answer that was made now.
    Fresh,
    /// Answer of an earlier action: no new effect.
    Replayed,
}

/// Answer to a keyed operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer<T> {
    /// Outcome of the operation: the same, byte for byte, for every retry.
    pub outcome: T,
    /// Freshness of the answer: made now, or replayed.
    pub freshness: Freshness,
}

impl<T> Answer<T> {
    /// Tells whether it is the answer of an earlier action (§4.5.6).
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.freshness == Freshness::Replayed
    }
}
