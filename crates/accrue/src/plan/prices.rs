use std::collections::BTreeSet;

use serde::Serialize;

use crate::{
    Error, ExternalId, IdOr, PriceId, limits,
    price::{Cycle, Model, NewPrice, Price},
};

/// A price of a version of a plan: a new one, or one that there is.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanPrice {
    /// One that is created with the version.
    New(Box<NewPrice>),
    /// One that there is. Its item and its metric may be archived since.
    Existing(IdOr<PriceId>),
}

impl From<NewPrice> for PlanPrice {
    fn from(new: NewPrice) -> Self {
        Self::New(Box::new(new))
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
    check_number("/prices", prices.len())
}

/// Refuses more prices than a version can have, given at a pointer.
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
        let detail = format!("the matrices have {cells} cells together, expected at most {most}");
        return Err(Error::constraint(detail));
    }
    let mut cycles = usage_cycles(prices);
    match (cycles.next(), cycles.next()) {
        (Some(one), Some(other)) => Err(Error::constraint(format!(
            "the usage prices bill every {one} and every {other}, expected one cycle for all"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a fee that falls due too often within a billing period: an alert on cost counts them.
pub(super) fn check_fees(prices: &[Price], cycle: Cycle) -> Result<(), Error> {
    let most = limits::FEES_OF_A_PERIOD;
    let fees = prices.iter().filter_map(|price| price.cadence.cycle());
    match fees.into_iter().find(|fee| fee.days().saturating_mul(most) < cycle.days()) {
        Some(fee) => Err(Error::constraint(format!(
            "a fee bills every {fee}, more than {most} times in a billing period of {cycle}"
        ))),
        None => Ok(()),
    }
}

/// Returns the billing cycle of the subscriptions of a version: that of its usage prices; where it
/// has none the shortest of its fees, and a month where it has none of those.
pub(super) fn billing_cycle(prices: &[Price]) -> Cycle {
    let fees = || prices.iter().filter_map(|price| price.cadence.cycle());
    // Days and months of one length are told apart too, so that the order of the prices is nothing.
    let shortest = || fees().min_by_key(|cycle| (cycle.days(), *cycle));
    usage_cycles(prices).next().or_else(shortest).unwrap_or(Cycle::MONTH)
}

/// The different cycles of the prices that charge for usage.
fn usage_cycles(prices: &[Price]) -> impl Iterator<Item = Cycle> {
    let usage = prices.iter().filter(|price| !price.charge.is_fixed());
    usage.filter_map(|price| price.cadence.cycle()).collect::<BTreeSet<_>>().into_iter()
}

fn cells(price: &Price) -> usize {
    match price.charge.model() {
        Model::Matrix(matrix) => matrix.matrix_values.len().saturating_add(1),
        _ => 0,
    }
}
