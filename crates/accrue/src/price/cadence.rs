use std::fmt;

use serde::{Deserialize, Serialize};

/// Cadence of a price: how often it bills (wire 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cadence {
    /// Once.
    OneTime,
    /// Every month.
    Monthly,
    /// Every three months.
    Quarterly,
    /// Every six months.
    SemiAnnual,
    /// Every year.
    Annual,
    /// Every custom number of days or months.
    Custom(Cycle),
}

/// Billing cycle, by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cycle {
    /// Number of days, 1 to 3,660.
    Days(u16),
    /// Number of months, 1 to 120.
    Months(u16),
}

impl Cycle {
    /// Cycle of one month.
    pub const MONTH: Self = Self::Months(1);

    /// Returns the shortest cycle of some cadences, that of billing periods; a month where there is none.
    pub(crate) fn shortest(cadences: impl Iterator<Item = Cadence>) -> Self {
        cadences.filter_map(Cadence::cycle).min_by_key(Self::length).unwrap_or(Self::MONTH)
    }

    /// Returns the longest, that of terms.
    pub(crate) fn longest(cadences: impl Iterator<Item = Cadence>) -> Self {
        cadences.filter_map(Cadence::cycle).max_by_key(Self::length).unwrap_or(Self::MONTH)
    }

    /// Returns its length, where a month counts 30 days. Days and months of one length are told apart
    /// too, so that the order of prices is nothing.
    fn length(&self) -> (u32, Self) {
        let days = match *self {
            Self::Days(days) => days.into(),
            Self::Months(months) => u32::from(months).saturating_mul(30),
        };
        (days, *self)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Days(1) => f.write_str("day"),
            Self::Months(1) => f.write_str("month"),
            Self::Days(days) => write!(f, "{days} days"),
            Self::Months(months) => write!(f, "{months} months"),
        }
    }
}

impl Cadence {
    /// Returns its billing cycle; `None` for a price that bills once.
    #[must_use]
    pub const fn cycle(self) -> Option<Cycle> {
        match self {
            Self::OneTime => None,
            Self::Monthly => Some(Cycle::Months(1)),
            Self::Quarterly => Some(Cycle::Months(3)),
            Self::SemiAnnual => Some(Cycle::Months(6)),
            Self::Annual => Some(Cycle::Months(12)),
            Self::Custom(cycle) => Some(cycle),
        }
    }
}
