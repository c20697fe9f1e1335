use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of a phase of a plan, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhaseOrder(u32);

impl PhaseOrder {
    /// Number of the phase that a plan begins with.
    pub const FIRST: Self = Self(1);

    /// Creates the number of a phase.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the number of the phase at a place, from 0.
    pub(crate) fn at(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1))
    }
}

impl fmt::Display for PhaseOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "phase {}", self.0)
    }
}
