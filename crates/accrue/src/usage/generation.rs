use serde::{Deserialize, Serialize};

/// Which of the two sets of buckets and distinct values a day has: one counts, and a correction
/// builds the other beside it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Generation {
    /// The one that events are added to at first.
    #[default]
    First,
    /// The one that the first correction builds.
    Second,
}

impl Generation {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Returns what stands for it in a key.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}
