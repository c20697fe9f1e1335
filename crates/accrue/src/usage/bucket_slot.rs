use serde::{Deserialize, Serialize};

/// Slot of the buckets and distinct values of a day, which has two sets of them: one counts, and a
/// correction builds the other beside it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BucketSlot {
    /// Slot that events are added to at first.
    #[default]
    A,
    /// Slot that the first correction builds.
    B,
}

impl BucketSlot {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Returns the byte that represents it in a key.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}
