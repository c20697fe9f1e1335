//! Conversion of amounts in a pricing unit to the currency that is invoiced (price models 7.1).

use serde::{Deserialize, Serialize};

use super::{Price, Tier, check_bounds, check_not_negative, model};
use crate::{Currency, Decimal, Error, PricingUnit};

/// Conversion rate: how much of the invoicing currency amounts of a price are worth (price models 7.1).
///
/// ```
/// use accrue::{Decimal, price::{ConversionRate, Tier}};
///
/// let [zero, hundred, two] = [0, 100, 2].map(Decimal::from);
/// let rate = ConversionRate::Tiered(vec![
///     Tier::new(zero, Some(hundred.clone()), two),
///     Tier::new(hundred, None, Decimal::parse("1.5")?),
/// ]);
/// assert_eq!(rate.convert(&Decimal::from(101)), Decimal::parse("201.5")?);
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ConversionRate {
    /// One rate for all, more than 0.
    Unit(Decimal),
    /// Rates in graduated tiers, of what a billing period comes to: each converts the amount that lies in it. The
    /// tiers are those of [`Tiered`](super::Tiered), with rates of at least 0.
    Tiered(Vec<Tier>),
}

/// Amounts of a price in the currency that a cost is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Amount before adjustments.
    pub subtotal: Decimal,
    /// Amount after adjustments.
    pub total: Decimal,
}

/// Worth of amounts of a price in a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// They are in the unit.
    Same,
    /// As much for each.
    Rate(Decimal),
    /// By tiers, which convert what a period has come to, and no part of it for itself.
    Tiers,
}

impl ConversionRate {
    /// Returns the worth of an amount that a billing period has come to. By tiers, one below zero is worth nothing.
    #[must_use]
    pub fn convert(&self, amount: &Decimal) -> Decimal {
        match self {
            Self::Unit(rate) => amount * rate,
            Self::Tiered(tiers) => model::graduated(tiers, amount),
        }
    }

    /// Returns its one rate.
    #[must_use]
    pub const fn unit(&self) -> Option<&Decimal> {
        match self {
            Self::Unit(rate) => Some(rate),
            Self::Tiered(_) => None,
        }
    }

    /// Says what is wrong with it.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Unit(rate) => {
                check_bounds("conversion_rate", rate)?;
                if rate.is_negative() || rate.is_zero() {
                    let message = format!("found {rate}, expected more than 0");
                    return Err(Error::invalid("conversion_rate", message));
                }
                Ok(())
            }
            Self::Tiered(tiers) => check_tiers(tiers)
                .map_err(|error| error.within("tiered_config").within("conversion_rate_config")),
        }
    }
}

fn check_tiers(tiers: &[Tier]) -> Result<(), Error> {
    model::check_graduated(tiers)?;
    tiers.iter().enumerate().try_for_each(|(place, tier)| {
        check_not_negative(&format!("tiers[{place}].unit_amount"), tier.unit_amount.number())
    })
}

impl From<Decimal> for ConversionRate {
    fn from(rate: Decimal) -> Self {
        Self::Unit(rate)
    }
}

impl Worth {
    /// Returns the worth of an amount, of which tiers make so much.
    pub(crate) fn of(&self, amount: &Decimal, in_tiers: Option<&Decimal>) -> Decimal {
        match self {
            Self::Same => amount.clone(),
            Self::Rate(rate) => amount * rate,
            Self::Tiers => in_tiers.cloned().unwrap_or_default(),
        }
    }
}

impl Converted {
    /// Adds other amounts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.subtotal += &other.subtotal;
        self.total += &other.total;
    }

    /// Returns what they are more than others.
    pub(crate) fn since(&self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self.clone() };
        Self { subtotal: &self.subtotal - &before.subtotal, total: &self.total - &before.total }
    }
}

impl Price {
    /// Returns the worth of amounts in its currency in a unit, where one currency is invoiced: none where
    /// it does not count in that unit.
    pub(crate) fn worth_in(&self, unit: &PricingUnit, invoiced_in: Currency) -> Option<Worth> {
        if self.currency == *unit {
            return Some(Worth::Same);
        }
        let rate = self.conversion_rate.as_ref().filter(|_| unit.as_str() == invoiced_in.code());
        rate.map(|rate| match rate {
            ConversionRate::Unit(rate) => Worth::Rate(rate.clone()),
            ConversionRate::Tiered(_) => Worth::Tiers,
        })
    }

    /// Returns what tiers make of the amounts that a billing period has come to; none where it is not converted
    /// in tiers.
    pub(crate) fn in_tiers(&self, subtotal: &Decimal, total: &Decimal) -> Option<Converted> {
        let rate = self.conversion_rate.as_ref().filter(|of| of.unit().is_none())?;
        Some(Converted { subtotal: rate.convert(subtotal), total: rate.convert(total) })
    }

    /// Returns what an amount comes to in the currency that is invoiced, on top of what its billing period had come
    /// to before: nothing where it does not count in that.
    pub(crate) fn invoiced(
        &self,
        amount: &Decimal,
        before: &Decimal,
        invoiced_in: Currency,
    ) -> Decimal {
        let worth = self.worth_in(&PricingUnit::from(invoiced_in), invoiced_in);
        let in_tiers = self.conversion_rate.as_ref().filter(|_| worth == Some(Worth::Tiers));
        let in_tiers = in_tiers.map(|rate| rate.convert(&(before + amount)) - rate.convert(before));
        worth.map(|worth| worth.of(amount, in_tiers.as_ref())).unwrap_or_default()
    }
}
