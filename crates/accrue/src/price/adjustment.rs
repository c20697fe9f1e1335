use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::{NewCharge, check_bounds, check_not_negative};
use crate::{Decimal, Error, Fraction, limits};

/// Adjustments of the amount of a price in a period.
///
/// They apply in this order: the discount in units before the model rates the quantity; then the
/// discounts off the amount, in the order of [`Discount`]; then the minimum, then the maximum. The
/// minimum counts once the period has ended. In a period that is cut, minimum and maximum are those of
/// its days, discounts are not (price models 7.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustments {
    /// Discounts, of each kind one at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<Discount>,
    /// Least amount of a period.
    pub minimum: Option<Decimal>,
    /// Greatest amount of a period.
    pub maximum: Option<Decimal>,
}

/// Discount off a price. Kinds apply in the order of the variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Discount {
    /// Units, before they are rated: `usage`. Of a usage price without cells.
    Usage(Decimal),
    /// An amount in the price's currency, down to zero: `amount`.
    Amount(Decimal),
    /// A fraction of the amount: `percentage`.
    Percentage(Fraction),
    /// A fraction of each band of the amount: `tiered_percentage`.
    TieredPercentage(Vec<DiscountTier>),
}

/// Adjustment of the amounts of prices in a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Adjustment {
    /// Discount off units or amounts.
    Discount(Discount),
    /// Least amount of a period, which counts once the period has ended: `minimum`. One of a plan or a subscription adds
    /// nothing to fees alone.
    Minimum(Decimal),
    /// Greatest amount of a period: `maximum`.
    Maximum(Decimal),
}

/// Band of an amount, with the fraction that is taken off within it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscountTier {
    /// Lower bound: the band lies above it.
    pub lower_bound: Decimal,
    /// Upper bound, which is part of the band; `None` for the last one.
    pub upper_bound: Option<Decimal>,
    /// Fraction that is taken off.
    pub percentage: Fraction,
}

/// Share of a cycle that a period is, to prorate by its days.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) part: u32,
    pub(crate) whole: u32,
    /// Digits behind the point that a part is rounded to.
    pub(crate) places: u32,
}

impl Share {
    /// All of a cycle.
    pub(crate) const ALL: Self = Self { part: 1, whole: 1, places: 0 };

    /// Tells it from others.
    pub(crate) fn name(self) -> String {
        format!("{}/{}", self.part, self.whole)
    }

    pub(crate) fn of(self, amount: &Decimal) -> Decimal {
        amount.prorate(self.part, self.whole, self.places)
    }
}

impl Adjustments {
    /// Returns each adjustment.
    pub(crate) fn each(&self) -> impl Iterator<Item = Adjustment> {
        let discounts = self.discounts.iter().cloned().map(Adjustment::Discount);
        let minimum = self.minimum.iter().cloned().map(Adjustment::Minimum);
        discounts.chain(minimum).chain(self.maximum.iter().cloned().map(Adjustment::Maximum))
    }

    pub(crate) fn check(&self, charge: &NewCharge) -> Result<(), Error> {
        for (index, discount) in self.discounts.iter().enumerate() {
            let at = format!("adjustments.discounts[{index}]");
            discount.check(&at, charge)?;
            let is_same = |other: &&Discount| discriminant(*other) == discriminant(discount);
            if self.discounts.iter().filter(is_same).count() > 1 {
                let message = "found a kind of discount more than once, expected each once";
                return Err(Error::invalid(at, message));
            }
        }
        let ends = [("adjustments.minimum", &self.minimum), ("adjustments.maximum", &self.maximum)];
        for (field, end) in ends {
            end.iter().try_for_each(|end| check_not_negative(field, end))?;
        }
        match (&self.minimum, &self.maximum) {
            (Some(minimum), Some(maximum)) if minimum > maximum => {
                let message = format!("found {minimum}, expected at most the maximum of {maximum}");
                Err(Error::invalid("adjustments.minimum", message))
            }
            _ => Ok(()),
        }
    }
}

impl Adjustment {
    /// Returns its place in the order in which adjustments apply (price models 7.5).
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::Discount(discount) => discount.rank(),
            Self::Minimum(_) => 4,
            Self::Maximum(_) => 5,
        }
    }

    /// Returns the amount of money that it is, where it is one.
    pub(crate) const fn amount(&self) -> Option<&Decimal> {
        match self {
            Self::Discount(Discount::Amount(amount)) => Some(amount),
            Self::Minimum(amount) | Self::Maximum(amount) => Some(amount),
            Self::Discount(_) => None,
        }
    }

    /// Names the field that says how much it is.
    pub(super) const fn field(&self) -> &'static str {
        match self {
            Self::Discount(Discount::Usage(_)) => "usage_discount",
            Self::Discount(Discount::Amount(_)) => "amount_discount",
            Self::Discount(Discount::Percentage(_)) => "percentage_discount",
            Self::Discount(Discount::TieredPercentage(_)) => "tiers",
            Self::Minimum(_) => "minimum_amount",
            Self::Maximum(_) => "maximum_amount",
        }
    }

    /// Checks what it takes off or bounds, whatever prices it is over.
    pub(super) fn check_value(&self) -> Result<(), Error> {
        let at = self.field();
        match self {
            Self::Discount(Discount::Percentage(_)) => Ok(()),
            Self::Discount(Discount::TieredPercentage(tiers)) => check_tiers(at, tiers),
            Self::Discount(Discount::Amount(of) | Discount::Usage(of))
            | Self::Minimum(of)
            | Self::Maximum(of) => check_not_negative(at, of),
        }
    }

    /// Tells whether several prices share it, and not each has it by itself.
    pub(crate) const fn is_spread(&self) -> bool {
        !matches!(self, Self::Discount(Discount::Usage(_) | Discount::Percentage(_)))
    }
}

impl Discount {
    const fn rank(&self) -> u8 {
        match self {
            Self::Usage(_) => 0,
            Self::Amount(_) => 1,
            Self::Percentage(_) => 2,
            Self::TieredPercentage(_) => 3,
        }
    }

    /// Returns what is taken off an amount, were it enough.
    pub(crate) fn off(&self, amount: &Decimal) -> Decimal {
        match self {
            Self::Usage(_) => Decimal::zero(),
            Self::Amount(off) => off.clone(),
            Self::Percentage(fraction) => amount.clone() * fraction.as_decimal().clone(),
            Self::TieredPercentage(tiers) => tiers.iter().map(|tier| tier.off(amount)).sum(),
        }
    }

    /// Checks it as one over an invoice, which is no usage.
    pub(crate) fn check_over_invoice(&self, at: &str) -> Result<(), Error> {
        match self {
            Self::Usage(_) => {
                Err(Error::constraint("a discount of units is of usage, not over an invoice"))
            }
            Self::Percentage(_) => Ok(()),
            Self::Amount(off) => check_not_negative(at, off),
            Self::TieredPercentage(tiers) => check_tiers(&format!("{at}.tiers"), tiers),
        }
    }

    fn check(&self, at: &str, charge: &NewCharge) -> Result<(), Error> {
        match (self, charge.model()) {
            (Self::Percentage(_), _) => Ok(()),
            (Self::TieredPercentage(tiers), _) => check_tiers(&format!("{at}.tiers"), tiers),
            (Self::Usage(_), _) if charge.is_fixed() => {
                let message = "found a discount of units on a fixed price, expected a usage price";
                Err(Error::invalid(at, message))
            }
            (Self::Usage(_), _) if charge.is_composite() => {
                let message =
                    "found a discount of units on a composite price, expected a usage price";
                Err(Error::invalid(at, message))
            }
            (Self::Usage(_), model) if model.is_divided() => {
                let model = model.model_type();
                let message =
                    format!("found a discount of units on a {model}, whose units are not alike");
                Err(Error::invalid(at, message))
            }
            (Self::Amount(off) | Self::Usage(off), _) => check_not_negative(at, off),
        }
    }
}

impl DiscountTier {
    fn off(&self, amount: &Decimal) -> Decimal {
        let upper = self.upper_bound.as_ref().map_or(amount, |upper| upper.min(amount));
        let within = (upper.clone() - self.lower_bound.clone()).max(Decimal::zero());
        within * self.percentage.as_decimal().clone()
    }
}

/// Refuses bands that do not adjoin from zero on.
fn check_tiers(at: &str, tiers: &[DiscountTier]) -> Result<(), Error> {
    let refuse =
        |index: usize, message: String| Err(Error::invalid(format!("{at}[{index}]"), message));
    let found = tiers.len();
    if !(2..=limits::TIERS).contains(&found) {
        let message = format!("found {found} tiers, expected 2 to {}", limits::TIERS);
        return Err(Error::invalid(at, message));
    }
    let mut next = Some(Decimal::zero());
    for (index, tier) in tiers.iter().enumerate() {
        check_bounds(format!("{at}[{index}].lower_bound"), &tier.lower_bound)?;
        match &next {
            None => return refuse(index, "found a tier after the last one".to_owned()),
            Some(next) if tier.lower_bound != *next => {
                let message = format!("begins at {}, expected {next}", tier.lower_bound);
                return refuse(index, message);
            }
            Some(_) => next.clone_from(&tier.upper_bound),
        }
        if let Some(upper) = &tier.upper_bound {
            check_bounds(format!("{at}[{index}].upper_bound"), upper)?;
            if *upper <= tier.lower_bound {
                let message = format!("ends at {upper}, expected more than {}", tier.lower_bound);
                return refuse(index, message);
            }
        }
    }
    match next {
        None => Ok(()),
        Some(end) => refuse(found - 1, format!("ends at {end}, expected no end")),
    }
}
