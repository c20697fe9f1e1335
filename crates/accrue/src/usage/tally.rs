use std::collections::{BTreeMap, btree_map::Entry};

use super::{
    aggregate::{Aggregate, add},
    distinct_index::Seen,
    group_figures::GroupFigures,
    reading::{Amount, Digest, Reading},
    stretch::{FourWeeks, Window},
    sums::Sums,
};
use crate::{
    Decimal, MetricId, Timestamp,
    meter::{CellHash, CellId, InGroup, MeterId, Source, Values},
};

/// Aggregates of a billing period of a subscription, or of any timeframe: of all meters that have anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) metrics: BTreeMap<MetricId, Aggregate>,
    pub(crate) cells: BTreeMap<CellHash, Aggregate>,
    /// What groups have that are not known beforehand.
    pub(crate) groups: GroupFigures,
}

impl Total {
    /// Tells whether nothing was added to it.
    pub(crate) fn is_empty(&self) -> bool {
        self.metrics.is_empty() && self.cells.is_empty() && self.groups.is_empty()
    }

    pub(crate) fn add(&mut self, cell: CellId, amount: Aggregate) {
        match cell {
            CellId::Metric(id) => add(self.metrics.entry(id), amount),
            CellId::Cell(id) => add(self.cells.entry(id), amount),
        }
    }

    /// Adds to a cell, or to that of a group.
    pub(crate) fn add_in(&mut self, InGroup { cell, group }: InGroup<'_>, amount: Aggregate) {
        match (group, cell) {
            (Some(group), CellId::Cell(cell)) => self.groups.add(group, cell, amount),
            _ => self.add(cell, amount),
        }
    }

    /// Adds what some readings add up to.
    pub(crate) fn add_all(&mut self, sums: &Sums) {
        sums.iter().for_each(|(place, amount)| self.add_in(place, amount.clone()));
    }

    /// Returns what lies in no group.
    pub(crate) fn without_groups(&self) -> Self {
        let (metrics, cells) = (self.metrics.clone(), self.cells.clone());
        Self { metrics, cells, groups: GroupFigures::default() }
    }

    /// Returns how many aggregates there are of what lies in no group.
    pub(crate) fn count(&self) -> usize {
        self.metrics.len().saturating_add(self.cells.len())
    }

    /// Returns the aggregate of a cell.
    pub(crate) fn of(&self, cell: CellId) -> Option<&Aggregate> {
        match cell {
            CellId::Metric(id) => self.metrics.get(&id),
            CellId::Cell(id) => self.cells.get(&id),
        }
    }

    /// Writes the aggregate of a cell, or that it has none.
    pub(crate) fn set(&mut self, cell: CellId, aggregate: Option<Aggregate>) {
        match (cell, aggregate) {
            (CellId::Metric(id), Some(aggregate)) => {
                self.metrics.insert(id, aggregate);
            }
            (CellId::Cell(id), Some(aggregate)) => {
                self.cells.insert(id, aggregate);
            }
            (CellId::Metric(id), None) => {
                self.metrics.remove(&id);
            }
            (CellId::Cell(id), None) => {
                self.cells.remove(&id);
            }
        }
    }

    /// Takes the aggregates of another one, in place of its own.
    pub(crate) fn take(&mut self, other: Self) {
        self.metrics.extend(other.metrics);
        self.cells.extend(other.cells);
        self.groups.known.extend(other.groups.known);
    }

    /// Returns it in the cells and groups of a source, where all groups were read.
    pub(crate) fn of_source(self, source: &Source) -> Self {
        if source.is_own() {
            return self;
        }
        let mut own = Self::default();
        for (meter, values, cells) in self.groups.each() {
            for (cell, aggregate) in cells {
                let place = InGroup { cell: CellId::Cell(*cell), group: Some((meter, values)) };
                own.add_in(source.place(place), aggregate.clone());
            }
        }
        self.into_cells().for_each(|(cell, aggregate)| own.add(source.cell(cell), aggregate));
        own
    }

    /// Returns all aggregates of what lies in no group, each with its cell.
    pub(crate) fn into_cells(self) -> impl Iterator<Item = (CellId, Aggregate)> {
        let metrics = self.metrics.into_iter().map(|(id, of)| (CellId::Metric(id), of));
        metrics.chain(self.cells.into_iter().map(|(id, of)| (CellId::Cell(id), of)))
    }

    pub(crate) fn figure(&self, cell: impl Into<CellId>) -> Option<Decimal> {
        self.of(cell.into()).map(Aggregate::figure)
    }
}

/// Usage of one customer while events are added to it, one by one: buckets and distinct values.
///
/// The engine loads it, adds events and saves it. The outcome does not depend on how events are cut
/// into batches.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Instant before which everything is too old to be taken.
    pub(crate) oldest_taken: Timestamp,
    pub(crate) buckets: BTreeMap<Window, Total>,
    pub(crate) distinct: BTreeMap<DistinctValue, Membership>,
    pub(crate) indexes: Seen,
    /// Groups of cells that had nothing in a bucket before: all others are known to have events.
    pub(crate) groups: Groups,
}

/// Groups that have events.
pub(crate) type Groups = BTreeMap<(MeterId, FourWeeks, CellHash), Values>;

/// A distinct value of a bucket.
pub(crate) type DistinctValue = (CellId, Window, Digest);

/// Membership of a distinct value in its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Membership {
    /// Value that was there before.
    Stored,
    /// Value of an event that was added here.
    Added,
}

impl Tally {
    pub(crate) fn new(oldest_taken: Timestamp) -> Self {
        Self {
            oldest_taken,
            buckets: BTreeMap::new(),
            distinct: BTreeMap::new(),
            indexes: BTreeMap::new(),
            groups: BTreeMap::new(),
        }
    }

    /// Adds the contributions of an event.
    pub(crate) fn add(&mut self, at: Timestamp, readings: &[Reading]) {
        if readings.is_empty() {
            return;
        }
        let window = Window::of(at);
        let Self { buckets, distinct, groups, .. } = self;
        let total = buckets.entry(window).or_default();
        for reading in readings {
            if let (Some(meter), Some(group)) = (reading.meter, &reading.group)
                && total.of(reading.cell).is_none()
            {
                let place = (meter, FourWeeks::of(at), group.id);
                groups.entry(place).or_insert_with(|| group.values.clone());
            }
            let amount = match &reading.amount {
                Amount::Plain(amount) => amount.clone(),
                Amount::Distinct(digest) => {
                    match distinct.entry((reading.cell, window, *digest)) {
                        Entry::Occupied(_) => continue,
                        Entry::Vacant(vacant) => vacant.insert(Membership::Added),
                    };
                    Aggregate::Distinct(1)
                }
            };
            total.add(reading.cell, amount);
        }
        for reading in readings {
            if let Amount::Distinct(digest) = reading.amount {
                let index = self.indexes.entry((reading.cell, digest)).or_default();
                index.add(at, self.oldest_taken);
            }
        }
    }
}
