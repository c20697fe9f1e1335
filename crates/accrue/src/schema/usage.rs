//! Documents of events and of what they add up to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    MetricId, Timestamp,
    meter::{CellHash, MeterId, SumId, Values},
    price::GroupSum,
    usage::{Aggregate, GroupCells},
};

/// When events of a customer were amended and deprecated, as far as that is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Amendments {
    pub(crate) amended: Vec<Timestamp>,
    pub(crate) deprecated: Vec<Timestamp>,
}

/// How many events of an hour a customer has.
///
/// Of an hour that is open the row only says that: the number is with the head of the customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventCount {
    pub(crate) events: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_open: bool,
}

impl EventCount {
    pub(crate) const OPEN: Self = Self { events: 0, is_open: true };

    pub(crate) const fn of(events: u64) -> Self {
        Self { events, is_open: false }
    }
}

/// What the events of 15 minutes add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bucket {
    pub(crate) aggregate: Aggregate,
}

/// A group of a meter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupEntry {
    pub(crate) values: Values,
}

/// How many groups of a meter a customer has in four weeks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupCount {
    pub(crate) groups: u64,
}

/// What the metrics of a billing period add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TotalEntry {
    pub(crate) total: BTreeMap<MetricId, Aggregate>,
}

/// What a group of a meter adds up to in a stretch of a subscription's life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupTotalEntry {
    pub(crate) meter: MeterId,
    pub(crate) values: Values,
    pub(crate) cells: GroupCells,
}

/// How many groups each meter has in a stretch of a subscription's life, and what prices make of them: of which
/// that is not there it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupSumsEntry {
    pub(crate) counts: BTreeMap<MeterId, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sums: BTreeMap<SumId, GroupSum>,
}

/// What the cells of the matrices of a billing period add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CellTotalEntry {
    pub(crate) cells: BTreeMap<CellHash, Aggregate>,
}
