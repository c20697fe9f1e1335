//! Parts that amounts are made of.

use serde::{Deserialize, Serialize};

use crate::{Decimal, PropertyName};

/// Part of an amount: so many units at so much each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// Kind of the part.
    pub of: PartOf,
    /// Name of the part, where it is not told by its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Cell or group that a tier is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping: Option<Grouping>,
    /// Number of units (packages, for a package price).
    pub quantity: Decimal,
    /// Number of units times their scaling factor, where they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_quantity: Option<Decimal>,
    /// Amount for each unit.
    pub unit_amount: Decimal,
    /// Amount for all of them together.
    pub amount: Decimal,
}

/// Kind of a part: all of an amount, a tier, or a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartOf {
    /// The whole amount.
    Whole,
    /// A tier: the units above the one bound, up to and including the other. For a volume price it is
    /// the tier that prices all units.
    Tier {
        /// Lower bound of the tier, not part of it.
        first_unit: Decimal,
        /// Upper bound of the tier, part of it; `None` for the last tier.
        last_unit: Option<Decimal>,
    },
    /// The units of one cell of a matrix.
    Cell {
        /// Values of the dimensions that its events have.
        dimension_values: Vec<Option<String>>,
    },
    /// The units that are in no cell of the matrix.
    DefaultCell,
    /// An amount by a name, and nothing else: units that are free, a discount, a minimum.
    Named,
    /// The units of the events that have one value of the property that invoices break a price down by
    /// (invoicing 6.1): with their share of the amount.
    Group {
        /// The property.
        key: PropertyName,
        /// Its value; `None` where they do not have it.
        value: Option<String>,
    },
}

/// Value of a property that a part is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grouping {
    /// The property; several are joined by commas.
    pub key: String,
    /// Its value; `None` where events do not have it, or have another one.
    pub value: Option<String>,
}

/// Name of what a minimum of a model adds.
const MINIMUM: &str = "Minimum";

impl Part {
    /// Prices so many units.
    pub(super) fn new(of: PartOf, quantity: Decimal, unit_amount: &Decimal) -> Self {
        Self::scaled(of, quantity, None, unit_amount)
    }

    /// Prices so many units, each of which counts as many as a factor says.
    pub(in crate::price) fn scaled(
        of: PartOf,
        quantity: Decimal,
        factor: Option<&Decimal>,
        unit_amount: &Decimal,
    ) -> Self {
        let scaled_quantity = factor.map(|factor| &quantity * factor);
        let amount = scaled_quantity.as_ref().unwrap_or(&quantity) * unit_amount;
        let unit_amount = unit_amount.clone();
        Self { of, name: None, grouping: None, quantity, scaled_quantity, unit_amount, amount }
    }

    /// Prices so many units under a name.
    pub(in crate::price) fn named(
        name: impl Into<String>,
        quantity: Decimal,
        unit_amount: &Decimal,
    ) -> Self {
        Self { name: Some(name.into()), ..Self::new(PartOf::Named, quantity, unit_amount) }
    }

    /// Makes what a minimum of the model adds (price models 1.6).
    pub(super) fn minimum(top_up: &Decimal) -> Self {
        Self::named(MINIMUM, Decimal::from(1), top_up)
    }

    /// Tells whether it is what a minimum of the model adds, of the last part of an amount.
    pub(crate) fn is_minimum(&self) -> bool {
        let is_of_all = self.of == PartOf::Named && self.grouping.is_none();
        is_of_all && self.name.as_deref() == Some(MINIMUM)
    }

    /// Gives the units of one value of a property their share of an amount.
    pub(crate) fn of_group(
        of: PartOf,
        quantity: Decimal,
        unit_amount: Decimal,
        amount: Decimal,
    ) -> Self {
        Self { amount, ..Self::new(of, quantity, &unit_amount) }
    }

    /// Tells whether another one is of the same units at the same amount.
    fn is_like(&self, other: &Self) -> bool {
        let is_named = self.of == PartOf::Named;
        self.of == other.of
            && self.name == other.name
            && self.grouping == other.grouping
            && (is_named || self.unit_amount == other.unit_amount)
    }

    /// Adds the units of another one like it.
    fn add(&mut self, other: Self) {
        self.quantity += other.quantity;
        self.amount += other.amount;
        self.scaled_quantity = match (self.scaled_quantity.take(), other.scaled_quantity) {
            (Some(mine), Some(others)) => Some(mine + others),
            (mine, others) => mine.or(others),
        };
    }

    /// Returns it with all numbers of units and the amount negated.
    fn negated(&self) -> Self {
        Self {
            quantity: -&self.quantity,
            scaled_quantity: self.scaled_quantity.as_ref().map(|scaled| -scaled),
            amount: -&self.amount,
            ..self.clone()
        }
    }
}

/// Amount, and the parts that add up to it; none of an amount whose parts cannot be told.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) amount: &'a Decimal,
    pub(crate) parts: &'a [Part],
}

impl Parts<'_> {
    const fn are_told(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Tells whether there is an amount whose parts cannot be told.
    fn are_unknown(&self) -> bool {
        !self.are_told() && !self.amount.is_zero()
    }

    /// Returns the parts of the sum of both amounts.
    pub(crate) fn and(&self, other: &Self) -> Vec<Part> {
        if self.are_unknown() || other.are_unknown() {
            return Vec::new();
        }
        let (mut sum, mut next) = (self.parts.to_vec(), 0);
        for part in other.parts {
            match like(&mut sum, &mut next, part) {
                Some(mine) => mine.add(part.clone()),
                None => sum.push(part.clone()),
            }
        }
        sum
    }

    /// Returns the parts of the difference of both amounts. They cannot be told where something was
    /// taken away that is not there: all units of a volume price move to another tier.
    pub(crate) fn less(&self, before: &Self) -> Vec<Part> {
        if self.are_unknown() || before.are_unknown() {
            return Vec::new();
        }
        let (mut rest, mut next) = (self.parts.to_vec(), 0);
        for part in before.parts {
            match like(&mut rest, &mut next, part) {
                Some(mine) => mine.add(part.negated()),
                None => return Vec::new(),
            }
        }
        rest
    }
}

/// Finds the part that is like another one: for most it is behind the one that was found last.
fn like<'a>(parts: &'a mut [Part], next: &mut usize, part: &Part) -> Option<&'a mut Part> {
    let (before, behind) = parts.split_at(parts.len().min(*next));
    let found = behind.iter().position(|of| of.is_like(part));
    let found = found.map(|found| found.saturating_add(*next));
    let found = found.or_else(|| before.iter().position(|of| of.is_like(part)))?;
    *next = found.saturating_add(1);
    parts.get_mut(found)
}
