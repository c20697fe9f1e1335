use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating, check_number_of_tiers};
use crate::{Decimal, Error, WrittenDecimal, price::check_bounds};

/// Graduated: each tier prices the units that lie in it.
///
/// The units of a tier are those above its first unit, up to and including its last; a fraction of a
/// unit counts as that fraction. One part for each tier, also for those that no unit has reached.
///
/// ```
/// use accrue::{
///     Decimal,
///     price::{Model, Quantity, Tier, Tiered},
/// };
///
/// let [zero, hundred] = [0, 100].map(Decimal::from);
/// let model = Model::Tiered(Tiered::new([
///     Tier::new(zero, Some(hundred.clone()), Decimal::parse("0.50")?),
///     Tier::new(hundred, None, Decimal::parse("0.10")?),
/// ]));
/// let rating = model.rate(&Quantity::One(Decimal::parse("101.5")?));
/// assert_eq!(rating.amount, Decimal::parse("50.15")?);
/// assert_eq!(rating.parts[1].quantity, Decimal::parse("1.5")?);
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiered {
    /// Tiers: the first begins at zero, each begins where the one before ends, and the last has no end. A tier may
    /// also be said to begin with the number of its first unit: one more than where the one before ends.
    pub tiers: Vec<Tier>,
    /// True if usage is prorated to the days that it is served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorated: bool,
}

/// Tier of a graduated price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Lower bound of the tier, not part of it; or the number of its first unit.
    pub first_unit: Decimal,
    /// Its last unit; `None` for the last tier.
    pub last_unit: Option<Decimal>,
    /// Amount for each unit of it.
    pub unit_amount: WrittenDecimal,
}

impl Tiered {
    /// Creates a configuration of usage that is not prorated.
    pub fn new(tiers: impl IntoIterator<Item = Tier>) -> Self {
        Self { tiers: tiers.into_iter().collect(), prorated: false }
    }
}

/// Returns each tier with its lower bound: where the one before ends.
fn bounded(tiers: &[Tier]) -> impl Iterator<Item = (Decimal, &Tier)> {
    let ends = tiers.iter().map(|tier| tier.last_unit.clone().unwrap_or_default());
    [Decimal::zero()].into_iter().chain(ends).zip(tiers)
}

/// Returns what tiers make of a quantity: each prices the units that lie in it, and one below zero costs nothing.
pub(in crate::price) fn graduated(tiers: &[Tier], quantity: &Decimal) -> Decimal {
    let reached = bounded(tiers).take_while(|(bound, _)| bound < quantity);
    reached.map(|(bound, tier)| tier.units(&bound, quantity) * tier.unit_amount.number()).sum()
}

/// Refuses tiers that do not adjoin from zero on, with a last one that has no end.
pub(in crate::price) fn check_graduated(tiers: &[Tier]) -> Result<(), Error> {
    check_number_of_tiers(tiers.len())?;
    let last = tiers.len().saturating_sub(1);
    let mut before = Decimal::zero();
    for (index, tier) in tiers.iter().enumerate() {
        let at = |field: &str| format!("tiers[{index}].{field}");
        tier.check(&before, at)?;
        let wrong = match (&tier.last_unit, index == last) {
            (None, true) => None,
            (None, false) => Some("found none, which only the last tier may have".to_owned()),
            (Some(end), true) => Some(format!("found {end}, expected none: it is the last")),
            (Some(end), false) => {
                before = end.clone();
                None
            }
        };
        if let Some(message) = wrong {
            return Err(Error::invalid(at("last_unit"), message));
        }
    }
    Ok(())
}

impl Rates for Tiered {
    fn check(&self) -> Result<(), Error> {
        check_graduated(&self.tiers)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let quantity = quantity.billable();
        let parts = bounded(&self.tiers).map(|(bound, tier)| tier.rate(&bound, &quantity));
        Rating::of(parts.collect())
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        graduated(&self.tiers, &quantity.billable())
    }

    fn is_prorated(&self) -> bool {
        self.prorated
    }

    fn only_rises(&self) -> bool {
        self.tiers.iter().all(|tier| !tier.unit_amount.number().is_negative())
    }
}

impl Tier {
    /// Creates a tier.
    pub fn new(
        first_unit: Decimal,
        last_unit: Option<Decimal>,
        unit_amount: impl Into<WrittenDecimal>,
    ) -> Self {
        Self { first_unit, last_unit, unit_amount: unit_amount.into() }
    }

    /// Says what is wrong with a tier that follows what ends at `before`.
    fn check(&self, before: &Decimal, at: impl Fn(&str) -> String) -> Result<(), Error> {
        let first = &self.first_unit;
        check_bounds(at("first_unit"), first)?;
        check_bounds(at("unit_amount"), self.unit_amount.number())?;
        let wrong = match first.cmp(before) {
            Ordering::Greater if *first == before + &Decimal::from(1) => None,
            Ordering::Equal => None,
            Ordering::Greater => Some("a gap"),
            Ordering::Less => Some("an overlap"),
        };
        if let Some(what) = wrong {
            let message = if before.is_zero() {
                format!("found {first}, expected the first tier to begin at 0")
            } else {
                format!("found {first}, {what}: expected {before}, where the tier before ends")
            };
            return Err(Error::invalid(at("first_unit"), message));
        }
        let Some(last) = &self.last_unit else { return Ok(()) };
        check_bounds(at("last_unit"), last)?;
        let is_empty = if first == before { last <= first } else { last < first };
        if is_empty {
            let message = format!("found {last}, expected more than its first unit, {first}");
            return Err(Error::invalid(at("last_unit"), message));
        }
        Ok(())
    }

    fn rate(&self, bound: &Decimal, quantity: &Decimal) -> Part {
        let of =
            PartOf::Tier { first_unit: self.first_unit.clone(), last_unit: self.last_unit.clone() };
        Part::new(of, self.units(bound, quantity), self.unit_amount.number())
    }

    /// Returns the number of units of a quantity that lie in the tier, which begins at a bound.
    fn units(&self, bound: &Decimal, quantity: &Decimal) -> Decimal {
        let end = self.last_unit.as_ref().map_or(quantity, |last| last.min(quantity));
        (end - bound).max(Decimal::zero())
    }
}
