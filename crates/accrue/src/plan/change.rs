use std::collections::BTreeSet;

use serde::Serialize;

use super::{DefaultVersion, PlanPrice, PlanVersion, prices};
use crate::{Error, PriceId};

/// Version of a plan to create from its latest one: with the prices of that, some of them removed or
/// replaced, and with more.
///
/// ```
/// use accrue::{ExternalId, plan::PlanVersionChange};
///
/// let mut change = PlanVersionChange::default();
/// change.add = vec![ExternalId::parse("support")?.into()];
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanVersionChange {
    /// Number of the version: it must be one above the highest, and is where none is given.
    pub version: Option<PlanVersion>,
    /// Prices to add behind those of the latest version.
    pub add: Vec<PlanPrice>,
    /// Prices of the latest version to remove.
    pub remove: Vec<PriceId>,
    /// Prices of the latest version to replace, each with its replacement.
    pub replace: Vec<(PriceId, PlanPrice)>,
    /// Effect on the plan's default version.
    pub default: DefaultVersion,
}

/// Price of a version to create, with the field in which it was given.
pub(crate) struct Placed {
    pub(crate) at: String,
    pub(crate) price: PlanPrice,
}

impl Placed {
    /// Returns the prices of a list, each with its place in it.
    pub(crate) fn all(prices: &[PlanPrice]) -> Vec<Self> {
        let placed = prices.iter().enumerate();
        placed.map(|(index, price)| Self::new("prices", index, price)).collect()
    }

    fn new(list: &str, index: usize, price: &PlanPrice) -> Self {
        Self { at: format!("{list}[{index}].price"), price: price.clone() }
    }
}

impl PlanVersionChange {
    /// Decides the prices of the version, given those of the latest one.
    pub(crate) fn decide(
        &self,
        next: PlanVersion,
        latest: &[PriceId],
    ) -> Result<Vec<Placed>, Error> {
        if let Some(version) = self.version.filter(|version| *version != next) {
            let (found, next) = (version.number(), next.number());
            let detail = format!("found version {found}, expected {next}: one above the highest");
            return Err(Error::constraint(detail));
        }
        let mut gone = BTreeSet::new();
        for id in self.remove.iter().chain(self.replace.iter().map(|(id, _)| id)) {
            if !latest.contains(id) {
                let detail = format!("the price {id} is none of the latest version");
                return Err(Error::constraint(detail));
            }
            if !gone.insert(*id) {
                let detail = format!("the price {id} is removed or replaced twice");
                return Err(Error::constraint(detail));
            }
        }
        let stays = |id: &PriceId| match self.replace.iter().position(|(old, _)| old == id) {
            Some(index) => {
                let (_, price) = self.replace.get(index)?;
                Some(Placed::new("replace_prices", index, price))
            }
            None if gone.contains(id) => None,
            None => Some(Placed { at: String::new(), price: (*id).into() }),
        };
        let added = self.add.iter().enumerate();
        let added = added.map(|(index, price)| Placed::new("add_prices", index, price));
        let all: Vec<_> = latest.iter().filter_map(stays).chain(added).collect();
        prices::check_number("add_prices", all.len())?;
        Ok(all)
    }
}
