use serde::{Deserialize, Serialize};

/// Which of the two sets of buckets and distinct values a day has: one counts, and a correction
/// builds the other beside it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BucketSlot {
    /// The one that events are added to at first.
    #[default]
    A,
    /// The one that the first correction builds.
    B,
}

impl BucketSlot {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Returns what stands for it in a key.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}
