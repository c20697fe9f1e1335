//! Quantities that models rate, and what they come to.

use serde::{Deserialize, Serialize};

use super::{GroupQuantity, Part};
use crate::{Decimal, price::Share};

/// Quantity that a model rates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// Quantity of the whole.
    One(Decimal),
    /// Quantity of each cell of a matrix, in the order of its cells, the default cell last.
    Cells(Vec<Decimal>),
    /// Quantity of each group, in the order of their values.
    Groups(Vec<GroupQuantity>),
}

/// Rating of a quantity: the amount, and its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rating {
    /// Amount, exact, in the unit of the price.
    pub amount: Decimal,
    /// Parts of the amount: their amounts add up to it.
    pub parts: Vec<Part>,
}

impl Quantity {
    /// Returns the quantity that the figures of the cells make.
    pub(crate) fn of(figures: impl Iterator<Item = Decimal>) -> Self {
        let mut figures: Vec<_> = figures.collect();
        match figures.len() {
            1 => Self::One(figures.remove(0)),
            _ => Self::Cells(figures),
        }
    }

    /// Returns the quantity as one number: the sum of the cells.
    #[must_use]
    pub fn total(&self) -> Decimal {
        match self {
            Self::One(quantity) => quantity.clone(),
            Self::Cells(cells) => cells.iter().sum(),
            Self::Groups(groups) => groups.iter().map(|group| group.quantity.total()).sum(),
        }
    }

    /// Returns the groups that it is of; none of one that is not divided into such.
    pub(super) fn groups(&self) -> &[GroupQuantity] {
        match self {
            Self::Groups(groups) => groups,
            Self::One(_) | Self::Cells(_) => &[],
        }
    }

    /// Adds the sum of all cells behind them, where that is rated too.
    pub(crate) fn with_whole(self, is_rated: bool) -> Self {
        match (self, is_rated) {
            (Self::Cells(cells), true) => {
                let sum = cells.iter().sum();
                Self::Cells(cells.into_iter().chain([sum]).collect())
            }
            (own, _) => own,
        }
    }

    /// Returns the quantity as one number that is not below zero.
    pub(super) fn billable(&self) -> Decimal {
        self.total().max(Decimal::zero())
    }

    /// Returns the quantities of so many cells, and that of all others: none is below zero.
    pub(super) fn in_cells(&self, cells: usize) -> (Vec<Decimal>, Decimal) {
        let (own, others) = match self {
            Self::One(quantity) => (&[][..], std::slice::from_ref(quantity)),
            Self::Cells(figures) => figures.split_at(figures.len().min(cells)),
            Self::Groups(_) => (&[][..], &[][..]),
        };
        let billable = |units: &Decimal| units.clone().max(Decimal::zero());
        let own = own.iter().map(billable).chain(std::iter::repeat_with(Decimal::zero));
        (own.take(cells).collect(), others.iter().map(billable).sum())
    }

    /// Returns the figures that it is made of.
    pub(crate) fn figures_mut(&mut self) -> &mut [Decimal] {
        match self {
            Self::One(quantity) => std::slice::from_mut(quantity),
            Self::Cells(figures) => figures,
            Self::Groups(_) => &mut [],
        }
    }
}

impl Rating {
    /// Adds up the parts.
    pub(super) fn of(parts: Vec<Part>) -> Self {
        Self { amount: parts.iter().map(|part| part.amount.clone()).sum(), parts }
    }

    /// Adds what a minimum adds.
    pub(super) fn topped_up(mut self, top_up: Decimal) -> Self {
        if !top_up.is_zero() {
            self.amount += &top_up;
            self.parts.push(Part::minimum(&top_up));
        }
        self
    }

    /// Prorates it to the days that are served: rounded once, and the parts so that they add up.
    pub(crate) fn prorated(mut self, share: Share) -> Self {
        let (mut whole, mut prorated) = (Decimal::zero(), Decimal::zero());
        for part in &mut self.parts {
            whole += &part.amount;
            let so_far = share.of(&whole);
            part.amount = &so_far - &prorated;
            prorated = so_far;
        }
        self.amount = share.of(&self.amount);
        self
    }
}
