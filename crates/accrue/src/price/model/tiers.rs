//! Tiers by their lower bounds, and what models make of them.

use serde::{Deserialize, Serialize};

use super::{Part, PartOf, arithmetic::started_packages};
use crate::{
    Decimal, Error, WrittenDecimal, limits,
    price::{check_bounds, check_not_negative},
};

/// Tier by its lower bound: it ends where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowerBoundTier {
    /// Lower bound of the tier: 0 for the first.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each unit.
    pub unit_amount: WrittenDecimal,
}

/// Volume tier by its lower bound, which is part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeTier {
    /// Lower bound of the tier; the first may have none, which is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_lower_bound: Option<WrittenDecimal>,
    /// Amount for each unit.
    pub unit_amount: WrittenDecimal,
}

/// Tiers in order: bounds that rise from zero, and amounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiers<'a>(Vec<(Decimal, &'a Decimal)>);

impl<'a> Tiers<'a> {
    pub(super) fn new(
        tiers: impl IntoIterator<Item = (&'a WrittenDecimal, &'a WrittenDecimal)>,
    ) -> Self {
        let tiers = tiers.into_iter();
        Self(tiers.map(|(bound, amount)| (bound.number().clone(), amount.number())).collect())
    }

    pub(super) fn of(tiers: &'a [LowerBoundTier]) -> Self {
        Self::new(tiers.iter().map(|tier| (&tier.tier_lower_bound, &tier.unit_amount)))
    }

    pub(super) fn of_volume(tiers: &'a [VolumeTier]) -> Self {
        let bound = |tier: &VolumeTier| tier.tier_lower_bound.clone().map(Decimal::from);
        let tiers = tiers.iter();
        Self(tiers.map(|of| (bound(of).unwrap_or_default(), of.unit_amount.number())).collect())
    }

    /// Returns one tier, for all units.
    pub(super) fn flat(unit_amount: &'a WrittenDecimal) -> Self {
        Self(vec![(Decimal::zero(), unit_amount.number())])
    }

    pub(super) fn push(&mut self, bound: &WrittenDecimal, amount: &'a WrittenDecimal) {
        self.0.push((bound.number().clone(), amount.number()));
    }

    /// Refuses bounds that do not rise from zero, and numbers out of bounds: each tier is told by its place in
    /// the list of the configuration.
    pub(super) fn check(
        &self,
        amount: &str,
        at: impl Fn(usize, &str) -> String,
    ) -> Result<(), Error> {
        let mut before: Option<&Decimal> = None;
        for (place, (bound, unit_amount)) in self.0.iter().enumerate() {
            check_bounds(at(place, "tier_lower_bound"), bound)?;
            check_bounds(at(place, amount), unit_amount)?;
            let expected = match before {
                None if bound.is_zero() => None,
                None => Some("0: the first tier begins there".to_owned()),
                Some(before) if before < bound => None,
                Some(before) => Some(format!("more than {before}, where the tier before begins")),
            };
            if let Some(expected) = expected {
                let message = format!("found {bound}, expected {expected}");
                return Err(Error::invalid(at(place, "tier_lower_bound"), message));
            }
            before = Some(bound);
        }
        Ok(())
    }

    /// Refuses bounds that are no whole number of packages.
    pub(super) fn check_packages(&self, package_size: u64) -> Result<(), Error> {
        let size = Decimal::from(package_size);
        for (place, (bound, _)) in self.0.iter().enumerate() {
            if started_packages(bound, package_size) * size.clone() != *bound {
                let message = format!("found {bound}, expected a multiple of {package_size}");
                return Err(Error::invalid(format!("tiers[{place}].tier_lower_bound"), message));
            }
        }
        Ok(())
    }

    /// Graduated: each tier prices the units that lie in it. One part for each tier.
    pub(super) fn graduated(&self, quantity: &Decimal) -> Vec<Part> {
        let part = |place| self.part(place, self.units(place, quantity));
        (0..self.0.len()).filter_map(part).collect()
    }

    /// Returns the amount of [`graduated`](Self::graduated).
    pub(super) fn graduated_amount(&self, quantity: &Decimal) -> Decimal {
        let reached = self.0.iter().take_while(|(bound, _)| bound < quantity).enumerate();
        reached.map(|(place, (_, amount))| self.units(place, quantity) * *amount).sum()
    }

    /// Graduated in packages: the started packages are put into the tiers, whose bounds are in units, and whose
    /// amounts are of packages.
    pub(super) fn in_packages(&self, quantity: &Decimal, package_size: u64) -> Vec<Part> {
        let size = Decimal::from(package_size.max(1));
        let quantity = started_packages(quantity, package_size) * size;
        let part = |place| {
            let units = self.units(place, &quantity);
            self.part(place, started_packages(&units, package_size))
        };
        (0..self.0.len()).filter_map(part).collect()
    }

    /// Returns the place of the tier that a quantity lies in, where a bound belongs to the upper one.
    pub(super) fn volume(&self, quantity: &Decimal) -> usize {
        self.0.partition_point(|(bound, _)| bound <= quantity).saturating_sub(1)
    }

    /// Returns the place of the tier that a quantity lies in, where a bound belongs to the lower one.
    pub(super) fn volume_below(&self, quantity: &Decimal) -> usize {
        self.0.partition_point(|(bound, _)| bound < quantity).saturating_sub(1)
    }

    /// Prices so many units, or packages, at the amount of a tier.
    pub(super) fn part(&self, place: usize, quantity: Decimal) -> Option<Part> {
        let (bound, amount) = self.0.get(place)?;
        let of = PartOf::Tier { first_unit: bound.clone(), last_unit: self.end(place).cloned() };
        Some(Part::new(of, quantity, amount))
    }

    /// Tells whether no tier takes something off.
    pub(super) fn only_rise(&self) -> bool {
        self.0.iter().all(|(_, amount)| !amount.is_negative())
    }

    /// Returns the units of a quantity that lie in a tier.
    fn units(&self, place: usize, quantity: &Decimal) -> Decimal {
        let Some((bound, _)) = self.0.get(place) else { return Decimal::zero() };
        let end = self.end(place).map_or(quantity, |end| end.min(quantity));
        (end - bound).max(Decimal::zero())
    }

    fn end(&self, place: usize) -> Option<&Decimal> {
        self.0.get(place.saturating_add(1)).map(|(bound, _)| bound)
    }
}

/// Returns where a field of a row of the list of tiers is.
pub(super) fn tier_field(place: usize, field: &str) -> String {
    format!("tiers[{place}].{field}")
}

/// Refuses minimums of tiers that are below zero.
pub(super) fn check_minimums<'a>(
    minimums: impl IntoIterator<Item = &'a WrittenDecimal>,
) -> Result<(), Error> {
    let mut all = minimums.into_iter().enumerate();
    all.try_for_each(|(place, least)| {
        check_not_negative(&tier_field(place, "minimum_amount"), least.number())
    })
}

/// Tells whether minimums never fall from tier to tier.
pub(super) fn minimums_rise<'a>(minimums: impl IntoIterator<Item = &'a WrittenDecimal>) -> bool {
    minimums.into_iter().map(WrittenDecimal::number).is_sorted()
}

/// Refuses a list of fewer rows than expected, or of more than a price can have.
pub(super) fn check_rows(field: &str, found: usize, least: usize) -> Result<(), Error> {
    let most = limits::TIERS;
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("found {found} rows, expected {least} to {most}")))
}
