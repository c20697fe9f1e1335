use std::{borrow::Cow, collections::BTreeMap};

use super::{
    aggregate::Aggregate,
    group_figures::{GroupCells, GroupFigures},
    tally::Total,
};
use crate::{
    Decimal,
    expression::Expression,
    meter::{CellId, InGroup, Meter, MeterId, Source, SumId, Values},
    price::{DeclaredGroups, GroupQuantity, LicenseKey, Price, Quantity},
};

/// Figures that the usage of a price is rated by: those of cells that are known beforehand, or those of every
/// group that there is.
#[derive(Clone, Debug)]
pub(crate) enum Figures {
    /// Those of some cells, in the order of the model; none of a fee.
    Cells(Vec<CellId>),
    Groups(Box<Grouped>),
}

/// The groups of a meter.
#[derive(Clone, Debug)]
pub(crate) struct Grouped {
    meter: Meter,
    /// The meter, or the part of it that the price is for.
    pub(crate) id: MeterId,
    /// The values of the cells of each group, in the order of the model.
    cells: Vec<Values>,
    /// Number of the values of a group: before them are those of its combination.
    keys: usize,
    /// The rules that the price has for them.
    pub(crate) sum: SumId,
    /// Whose usage they are of, where that is not the subscriber's alone.
    source: Option<Source>,
}

impl Figures {
    /// Returns the figures that the usage of a price is rated by that a condition holds for.
    pub(crate) fn of(price: &Price, filter: Option<&Expression>) -> Self {
        let groups = price.charge.model().groups();
        let meter = price.rated_meters(filter, 0).next();
        let Some((groups, meter)) = groups.zip(meter) else {
            return Self::Cells(price.cells(filter));
        };
        Self::of_groups(price, groups, meter)
    }

    /// Returns the figures of the licenses whose usage it is, where they have allocations.
    pub(crate) fn of_licenses(
        price: &Price,
        filter: Option<&Expression>,
        key: &LicenseKey,
    ) -> Option<Self> {
        let meter = price.licensed_meter(filter, key, 0)?;
        Some(Self::of_groups(price, key.groups(), meter))
    }

    fn of_groups(price: &Price, groups: DeclaredGroups, meter: Meter) -> Self {
        let id = meter.parts().first().copied().unwrap_or(meter.id);
        let sum = SumId::new(id, [price.charge.model().rules().as_str()]);
        let (keys, cells) = (groups.count(), groups.cells.map(|of| of.values).unwrap_or_default());
        Self::Groups(Box::new(Grouped { meter, id, cells, keys, sum, source: None }))
    }

    /// Returns the same figures of the usage that a source adds up.
    pub(crate) fn of_source(mut self, source: &Source) -> Self {
        match &mut self {
            _ if source.is_own() => {}
            Self::Cells(cells) => cells.iter_mut().for_each(|cell| *cell = source.cell(*cell)),
            Self::Groups(of) => {
                (of.id, of.sum) = (source.meter(of.id), source.sum(of.sum));
                of.source = Some(source.clone());
            }
        }
        self
    }

    /// Returns what the usage of a price comes to by the values of the property that a meter has before all others
    /// that it is in groups by: quantity and amount of each by itself. The figure of all of its events is the sum of
    /// those of its cells: invoices break nothing else down.
    pub(crate) fn broken_down(
        price: &Price,
        by: &Meter,
        total: &Total,
    ) -> Vec<(Option<String>, (Decimal, Decimal))> {
        let (model, parts) = (price.charge.model(), by.parts());
        let declared = model.cells();
        let keys = model.groups().map_or(0, |of| of.count());
        let has_whole = declared.as_ref().is_some_and(|of| of.has_whole);
        let cells = declared.map(|of| of.values).unwrap_or_default();
        let mut values_of = BTreeMap::<_, Vec<GroupQuantity>>::new();
        for (_, values, own) in total.groups.each().filter(|(id, ..)| parts.contains(id)) {
            let cells = by.cells(values, cells.iter().map(Vec::as_slice));
            let group = group(keys, values, cells, own);
            let place = values.len().saturating_sub(keys).saturating_sub(1);
            values_of.entry(values.get(place).cloned().flatten()).or_default().push(group);
        }
        let rated = values_of.into_iter().map(|(value, groups)| {
            let quantity = match keys {
                0 => groups.into_iter().next().map(|of| of.quantity.with_whole(has_whole)),
                _ => Some(Quantity::Groups(groups)),
            };
            let quantity = quantity.unwrap_or(Quantity::Groups(Vec::new()));
            (value, (model.line_quantity(&quantity), model.amount(&quantity)))
        });
        rated.collect()
    }

    /// Tells whether something that is added to a cell is rated.
    pub(crate) fn count(&self, place: InGroup<'_>) -> bool {
        match (self, place.group) {
            (Self::Cells(cells), _) => cells.contains(&place.cell),
            (Self::Groups(own), Some((meter, _))) => own.id == meter,
            (Self::Groups(_), None) => false,
        }
    }

    /// Tells whether there is usage.
    pub(crate) fn are_there(&self, total: &Total) -> bool {
        match self {
            Self::Cells(cells) => cells.iter().any(|cell| total.of(*cell).is_some()),
            Self::Groups(own) => total.groups.has_any(own.id),
        }
    }

    /// Returns the cells that it is of; of groups those of a group without a value, and of two with one.
    #[cfg(test)]
    pub(crate) fn places(&self) -> Vec<(CellId, Option<(MeterId, Values)>)> {
        match self {
            Self::Cells(cells) => cells.iter().map(|cell| (*cell, None)).collect(),
            Self::Groups(own) => {
                let groups = [None, Some("1"), Some("2.5")].into_iter().flat_map(|value| {
                    let values: Values = vec![value.map(str::to_owned); own.keys];
                    let cells = own.cells_of(&values);
                    cells.into_iter().map(move |cell| (cell, Some((own.id, values.clone()))))
                });
                groups.collect()
            }
        }
    }

    /// Returns the quantity to rate.
    pub(crate) fn quantity(&self, total: Option<&Total>) -> Quantity {
        match self {
            Self::Cells(cells) => {
                let figure = |cell: &CellId| total.and_then(|of| of.figure(*cell));
                Quantity::of(cells.iter().map(|cell| figure(cell).unwrap_or_default()))
            }
            Self::Groups(own) => {
                let known = total.map(|of| own.all_known(&of.groups));
                Quantity::Groups(known.unwrap_or_default())
            }
        }
    }
}

impl Grouped {
    /// Returns the values of a group, with those of its combination before its own.
    pub(crate) fn values(&self, own: &[Option<String>]) -> Values {
        self.meter.combination().into_iter().chain(own.iter().cloned()).collect()
    }

    /// Returns the quantity of a group to rate.
    pub(crate) fn group(&self, values: &Values, cells: &GroupCells) -> GroupQuantity {
        group(self.keys, values, self.cells_of(values), cells)
    }

    /// Returns the cells of a group, in the order of the model.
    fn cells_of(&self, values: &Values) -> Vec<CellId> {
        let (license, named) = match (self.meter.licenses_of, values.split_last()) {
            (Some(_), Some((license, named))) => (Some(license), Cow::Owned(named.to_vec())),
            _ => (None, Cow::Borrowed(values)),
        };
        let mut cells = self.meter.cells(&named, self.cells.iter().map(Vec::as_slice));
        if let Some(license) = license {
            cells.iter_mut().for_each(|cell| *cell = cell.of_license(license.as_deref()));
        }
        if let Some(source) = &self.source {
            cells.iter_mut().for_each(|cell| *cell = source.cell(*cell));
        }
        cells
    }

    /// Returns the quantity of each group that was read.
    pub(crate) fn all_known(&self, groups: &GroupFigures) -> Vec<GroupQuantity> {
        let known = groups.known.get(&self.id).into_iter().flatten();
        known.map(|(values, cells)| self.group(values, cells)).collect()
    }

    /// Returns the quantity of a group that was read; that of nothing where it was not.
    pub(crate) fn known(&self, total: &Total, values: &Values) -> GroupQuantity {
        let none = GroupCells::new();
        self.group(values, total.groups.get(self.id, values).unwrap_or(&none))
    }
}

/// Returns the quantity of a group by the figures of its cells: its own values, so many, are the last ones.
fn group(keys: usize, values: &Values, cells: Vec<CellId>, own: &GroupCells) -> GroupQuantity {
    let figures = cells.into_iter().map(|cell| match cell {
        CellId::Cell(cell) => own.get(&cell).map(Aggregate::figure).unwrap_or_default(),
        CellId::Metric(_) => Decimal::zero(),
    });
    let before = values.len().saturating_sub(keys);
    GroupQuantity::new(values.iter().skip(before).cloned().collect(), Quantity::of(figures))
}
