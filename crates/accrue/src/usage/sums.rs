use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::aggregate::Aggregate;
use crate::meter::{CellId, InGroup, MeterId, Values};

/// What the readings of many events add up to, by cell.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    cells: Vec<Sum>,
    places: HashMap<CellId, usize, RandomState>,
    /// Place behind the one that was added to last: most events add to the same cells in the same order.
    next: usize,
}

/// What the readings of one cell add up to.
#[derive(Debug)]
struct Sum {
    cell: CellId,
    /// Group that it is a cell of, where its meter has groups.
    group: Option<(MeterId, Values)>,
    aggregate: Aggregate,
    /// Whether no figure becomes smaller by any of them.
    only_rises: bool,
}

impl Sums {
    /// Goes on with the readings of another event.
    pub(crate) fn begin_event(&mut self) {
        self.next = 0;
    }

    /// Adds the amount of a reading to what it is for a cell.
    pub(crate) fn add(&mut self, InGroup { cell, group }: InGroup<'_>, amount: &Aggregate) {
        let is_next = self.cells.get(self.next).is_some_and(|sum| sum.cell == cell);
        let place = if is_next { Some(self.next) } else { self.places.get(&cell).copied() };
        self.next = place.unwrap_or(self.cells.len()).saturating_add(1);
        match place.and_then(|place| self.cells.get_mut(place)) {
            Some(sum) => {
                sum.aggregate.add(amount);
                sum.only_rises &= amount.only_rises();
            }
            None => {
                self.places.insert(cell, self.cells.len());
                let (aggregate, only_rises) = (amount.clone(), amount.only_rises());
                let group = group.map(|(meter, values)| (meter, values.clone()));
                self.cells.push(Sum { cell, group, aggregate, only_rises });
            }
        }
    }

    /// Tells whether no figure of a cell becomes smaller by any of its readings.
    pub(crate) fn rises(&self, cell: CellId) -> bool {
        let sum = self.places.get(&cell).and_then(|place| self.cells.get(*place));
        sum.is_none_or(|sum| sum.only_rises)
    }

    /// Tells whether no figure becomes smaller by any of the readings.
    pub(crate) fn only_rise(&self) -> bool {
        self.cells.iter().all(|sum| sum.only_rises)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns what the readings of each cell add up to.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (InGroup<'_>, &Aggregate)> {
        self.cells.iter().map(|sum| {
            let group = sum.group.as_ref().map(|(meter, values)| (*meter, values));
            (InGroup { cell: sum.cell, group }, &sum.aggregate)
        })
    }
}
