use std::borrow::Cow;

use super::aggregate::{Aggregate, Latest};
use crate::{
    EventKey, MetricId, Timestamp,
    meter::{CellHash, CellId, InGroup, MeterId, Source, Values},
    metric::{Contribution, Function},
};

/// Contribution of one event to one cell.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) cell: CellId,
    /// Meter, or part of one, that it is a cell of, where it is no whole metric.
    pub(crate) meter: Option<MeterId>,
    /// Group that it is a cell of, where the meter has groups.
    pub(crate) group: Option<Group>,
    pub(crate) amount: Amount,
}

/// A group of a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) id: CellHash,
    /// Meter that its figures are of: a source has one of its own for each.
    pub(crate) meter: MeterId,
    pub(crate) values: Values,
}

/// Amount of a contribution, ready to be added.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// Amount for an aggregate that only needs to be added to.
    Plain(Aggregate),
    /// Value of which it must be known whether it is new.
    Distinct(Digest),
}

impl Amount {
    /// Tells whether no figure becomes smaller by it.
    pub(crate) fn only_rises(&self) -> bool {
        match self {
            Self::Plain(amount) => amount.only_rises(),
            Self::Distinct(_) => true,
        }
    }
}

/// Digest that identifies a distinct value.
pub(crate) type Digest = [u8; 32];

/// Returns readings of a customer in the cells and groups of a source that counts its usage.
pub(crate) fn readings_of<'r>(source: &Source, readings: &'r [Reading]) -> Cow<'r, [Reading]> {
    if source.is_own() {
        return Cow::Borrowed(readings);
    }
    let counted = readings.iter().map(|of| {
        let mut counted = Reading { cell: source.cell(of.cell), ..of.clone() };
        counted.group.iter_mut().for_each(|group| group.meter = source.meter(group.meter));
        counted
    });
    Cow::Owned(counted.collect())
}

impl Reading {
    /// Returns the cell that it is added to, with its group.
    pub(crate) fn place(&self) -> InGroup<'_> {
        let group = self.group.as_ref().map(|of| (of.meter, &of.values));
        InGroup { cell: self.cell, group }
    }

    /// Reads the contribution of an event to a metric.
    pub(crate) fn new(
        metric_id: MetricId,
        function: &Function,
        contribution: Contribution,
        at: Timestamp,
        key: &EventKey,
    ) -> Self {
        let amount = match contribution {
            Contribution::Occurrence => Amount::Plain(Aggregate::Count(1)),
            Contribution::Distinct(value) => Amount::Distinct(value.digest()),
            Contribution::Number(value) => Amount::Plain(match function {
                Function::Min(_) => Aggregate::Min(value),
                Function::Max(_) => Aggregate::Max(value),
                Function::Latest(_) => Aggregate::Latest(Latest { at, key: key.clone(), value }),
                _ => Aggregate::Sum(value),
            }),
        };
        Self { cell: metric_id.into(), meter: None, group: None, amount }
    }
}
