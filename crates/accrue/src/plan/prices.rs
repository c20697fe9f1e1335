use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Error, ExternalId, IdOr, PriceId, limits,
    price::{NewAllocationPrice, NewPrice, PhaseOrder, Price, check_beside_licenses},
};

/// Price of a version of a plan: a new one, or an existing one.
///
/// A new version keeps a price of the one before where it names it.
///
/// ```
/// use accrue::{ExternalId, plan::PlanPrice};
///
/// let kept: PlanPrice = ExternalId::parse("seats")?.into();
/// assert!(matches!(kept, PlanPrice::Existing(_)));
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanPrice {
    /// Price that is created with the version.
    New(Box<NewPrice>),
    /// Price that gives credits, and is created with the version.
    Allocation(Box<NewAllocationPrice>),
    /// Existing price. Its item and its metric may be archived since.
    Existing(IdOr<PriceId>),
}

impl PlanPrice {
    /// Returns the field of a request that it is given in.
    pub(crate) const fn field(&self) -> &'static str {
        match self {
            Self::New(_) | Self::Existing(_) => "price",
            Self::Allocation(_) => "allocation_price",
        }
    }

    /// Puts a new price in a phase of its plan; one that exists is in its own.
    pub(crate) fn in_phase(mut self, phase: Option<PhaseOrder>) -> Self {
        match &mut self {
            Self::New(new) => new.plan_phase_order = phase,
            Self::Allocation(new) => new.plan_phase_order = phase,
            Self::Existing(_) => {}
        }
        self
    }
}

impl From<NewPrice> for PlanPrice {
    fn from(new: NewPrice) -> Self {
        Self::New(Box::new(new))
    }
}

impl From<NewAllocationPrice> for PlanPrice {
    fn from(new: NewAllocationPrice) -> Self {
        Self::Allocation(Box::new(new))
    }
}

impl From<PriceId> for PlanPrice {
    fn from(id: PriceId) -> Self {
        Self::Existing(IdOr::Id(id))
    }
}

impl From<ExternalId> for PlanPrice {
    fn from(external: ExternalId) -> Self {
        Self::Existing(IdOr::External(external))
    }
}

impl From<IdOr<PriceId>> for PlanPrice {
    fn from(id: IdOr<PriceId>) -> Self {
        Self::Existing(id)
    }
}

/// Refuses more prices than a version can have.
pub(super) fn check_count(prices: &[PlanPrice]) -> Result<(), Error> {
    check_number("prices", prices.len())
}

/// Refuses more prices than a version can have, given in a field.
pub(super) fn check_number(at: &str, found: usize) -> Result<(), Error> {
    if found <= limits::PRICES {
        return Ok(());
    }
    let message = format!("has {found} prices, expected at most {}", limits::PRICES);
    Err(Error::invalid(at, message))
}

/// Refuses prices that cannot be together in one version.
pub(super) fn check_together(prices: &[Price]) -> Result<(), Error> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = prices.iter().find(|price| !ids.insert(price.id)) {
        return Err(Error::constraint(format!("the price {} is there twice", twice.id)));
    }
    let cells = prices.iter().map(cells).fold(0, usize::saturating_add);
    if cells > limits::VERSION_CELLS {
        let most = limits::VERSION_CELLS;
        let detail = format!("the prices have {cells} cells together, expected at most {most}");
        return Err(Error::constraint(detail));
    }
    check_beside_licenses(prices)
}

/// Returns the number of cells of a price, those of whole metrics aside.
pub(crate) fn cells(price: &Price) -> usize {
    match (price.charge.model().cells(), &price.dimensional_price_configuration) {
        (Some(cells), _) => cells.count(),
        (None, Some(_)) => 1,
        (None, None) => usize::from(price.charge.model().is_divided()),
    }
}
