use std::collections::BTreeMap;

use super::aggregate::{Aggregate, add};
use crate::{
    meter::{CellHash, MeterId, SumId, Values},
    price::GroupSum,
};

/// What the cells of a group add up to.
pub(crate) type GroupCells = BTreeMap<CellHash, Aggregate>;

/// Groups that were read, of each meter by their values.
pub(crate) type KnownGroups = BTreeMap<MeterId, BTreeMap<Values, GroupCells>>;

/// What groups of meters add up to: a group is there from its first event on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupFigures {
    /// Groups that were read, by their values.
    pub(crate) known: KnownGroups,
    /// All others; none where every group was read.
    pub(crate) others: Option<OtherGroups>,
}

/// Groups that were not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OtherGroups {
    /// How many each meter has.
    pub(crate) counts: BTreeMap<MeterId, u64>,
    /// What prices make of them.
    pub(crate) sums: BTreeMap<SumId, GroupSum>,
}

impl GroupFigures {
    /// Tells whether no group was read, and none left out.
    pub(crate) fn is_empty(&self) -> bool {
        let has_others = |of: &OtherGroups| of.counts.values().any(|count| *count > 0);
        self.known.is_empty() && !self.others.as_ref().is_some_and(has_others)
    }

    /// Tells whether a meter has any.
    pub(crate) fn has_any(&self, meter: MeterId) -> bool {
        self.known.contains_key(&meter) || self.left_out(meter) > 0
    }

    /// Returns how many a meter has.
    pub(crate) fn count(&self, meter: MeterId) -> u64 {
        let known = self.known.get(&meter).map_or(0, BTreeMap::len);
        self.left_out(meter).saturating_add(u64::try_from(known).unwrap_or(u64::MAX))
    }

    /// Returns how many of a meter were not read.
    fn left_out(&self, meter: MeterId) -> u64 {
        let others = self.others.as_ref().and_then(|of| of.counts.get(&meter));
        others.copied().unwrap_or_default()
    }

    /// Returns the meters that have any.
    pub(crate) fn meters(&self) -> impl Iterator<Item = MeterId> {
        let others = self.others.iter().flat_map(|of| of.counts.keys());
        self.known.keys().chain(others).copied()
    }

    /// Returns each that was read.
    pub(crate) fn each(&self) -> impl Iterator<Item = (MeterId, &Values, &GroupCells)> {
        self.known.iter().flat_map(|(meter, groups)| {
            groups.iter().map(move |(values, cells)| (*meter, values, cells))
        })
    }

    /// Returns one that was read.
    pub(crate) fn get(&self, meter: MeterId, values: &Values) -> Option<&GroupCells> {
        self.known.get(&meter)?.get(values)
    }

    /// Adds to a cell of a group.
    pub(super) fn add(
        &mut self,
        (meter, values): (MeterId, &Values),
        cell: CellHash,
        amount: Aggregate,
    ) {
        let groups = self.known.entry(meter).or_default();
        if let Some(cells) = groups.get_mut(values) {
            add(cells.entry(cell), amount);
            return;
        }
        groups.insert(values.clone(), GroupCells::from([(cell, amount)]));
    }
}
