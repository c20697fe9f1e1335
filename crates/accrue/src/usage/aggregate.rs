use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use crate::{Decimal, EventKey, Timestamp};

/// Aggregate of events: exact, and the same in whatever order they come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Aggregate {
    Count(u64),
    Sum(Decimal),
    Min(Decimal),
    Max(Decimal),
    Latest(Latest),
    /// Number of distinct values. Whoever adds one must know that it is new.
    Distinct(u64),
}

/// The value of the greatest (timestamp, event key).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latest {
    pub(crate) at: Timestamp,
    pub(crate) key: EventKey,
    pub(crate) value: Decimal,
}

impl Aggregate {
    /// Adds the events of another aggregate of the same kind.
    ///
    /// Two kinds never meet: the kind is the metric's, and a metric's SQL never changes.
    pub(crate) fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Count(sum), Self::Count(more)) | (Self::Distinct(sum), Self::Distinct(more)) => {
                *sum = sum.saturating_add(*more);
            }
            (Self::Sum(sum), Self::Sum(more)) => *sum += more,
            (Self::Min(least), Self::Min(other)) if other < least => *least = other.clone(),
            (Self::Max(most), Self::Max(other)) if other > most => *most = other.clone(),
            (Self::Latest(latest), Self::Latest(other))
                if (other.at, &other.key) > (latest.at, &latest.key) =>
            {
                *latest = other.clone();
            }
            _ => {}
        }
    }

    /// Tells whether no figure that it is added to becomes smaller.
    pub(crate) fn only_rises(&self) -> bool {
        match self {
            Self::Count(_) | Self::Distinct(_) | Self::Max(_) => true,
            Self::Sum(more) => !more.is_negative(),
            Self::Min(_) | Self::Latest(_) => false,
        }
    }

    /// Returns its figure.
    pub(crate) fn figure(&self) -> Decimal {
        match self {
            Self::Count(count) | Self::Distinct(count) => Decimal::from(*count),
            Self::Sum(value) | Self::Min(value) | Self::Max(value) => value.clone(),
            Self::Latest(latest) => latest.value.clone(),
        }
    }
}

/// Adds to an aggregate, or begins one.
pub(super) fn add<K: Ord>(entry: Entry<'_, K, Aggregate>, amount: Aggregate) {
    match entry {
        Entry::Occupied(mut aggregate) => aggregate.get_mut().add(&amount),
        Entry::Vacant(vacant) => {
            vacant.insert(amount);
        }
    }
}
