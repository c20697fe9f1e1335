use serde::{Deserialize, Serialize};

use super::{Charge, Model, Quantity, Rating, check_bounds, check_not_negative};
use crate::{Decimal, Error};

/// What changes the amount of a price after it was rated.
///
/// In this order: a discount, which takes an amount to zero at most; then the maximum; then, when
/// the billing period ends, the minimum. A discount of units comes before all of them: it makes the
/// quantity smaller that is rated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustments {
    /// What is taken off.
    pub discount: Option<Discount>,
    /// The least that a billing period costs.
    pub minimum: Option<Decimal>,
    /// The most that a billing period costs.
    pub maximum: Option<Decimal>,
}

/// What is taken off a price, in each billing period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Discount {
    /// A fraction of the amount, 0 to 1.
    Percentage(Decimal),
    /// So much of the amount.
    Amount(Decimal),
    /// So many units of the quantity, before they are rated.
    Usage(Decimal),
}

/// What a quantity costs with the adjustments of its price, while the billing period runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rated {
    /// What was rated as one number, before a discount of units.
    pub quantity: Decimal,
    /// What it costs without the adjustments.
    pub subtotal: Rating,
    /// What it costs with the discount and the maximum, exact. What a minimum adds is apart:
    /// [`Adjustments::top_up`].
    pub total: Decimal,
}

impl Adjustments {
    /// Rates a quantity, with and without the discount and the maximum.
    ///
    /// ```
    /// use accrue::{
    ///     Decimal,
    ///     price::{Adjustments, Discount, Model, Quantity, Unit},
    /// };
    ///
    /// let model = Model::Unit(Unit { unit_amount: Decimal::parse("0.05")? });
    /// let adjustments = Adjustments {
    ///     discount: Some(Discount::Percentage(Decimal::parse("0.1")?)),
    ///     minimum: Some(Decimal::from(40)),
    ///     maximum: None,
    /// };
    /// let rated = adjustments.rate(&model, &Quantity::One(Decimal::from(800)));
    /// assert_eq!(rated.subtotal.amount, Decimal::from(40));
    /// assert_eq!(rated.total, Decimal::from(36));
    /// assert_eq!(adjustments.top_up(&rated.total), Decimal::from(4));
    /// # Ok::<(), accrue::DecimalError>(())
    /// ```
    #[must_use]
    pub fn rate(&self, model: &Model, quantity: &Quantity) -> Rated {
        let subtotal = model.rate(quantity);
        let quantity = quantity.total();
        let amount = match &self.discount {
            Some(Discount::Usage(units)) => {
                model.rate(&Quantity::One(quantity.clone() - units.clone())).amount
            }
            _ => subtotal.amount.clone(),
        };
        Rated { quantity, subtotal, total: self.adjust(amount) }
    }

    /// Applies the discount, unless it is one of units, and then the maximum.
    ///
    /// A discount takes an amount to zero at most, and nothing off an amount below zero.
    #[must_use]
    pub fn adjust(&self, amount: Decimal) -> Decimal {
        let off = match &self.discount {
            Some(Discount::Percentage(fraction)) => amount.clone() * fraction.clone(),
            Some(Discount::Amount(off)) => off.clone(),
            Some(Discount::Usage(_)) | None => Decimal::zero(),
        };
        let amount = amount.clone() - off.min(amount).max(Decimal::zero());
        match &self.maximum {
            Some(maximum) => amount.min(maximum.clone()),
            None => amount,
        }
    }

    /// Tells what the minimum adds to a total when the billing period ends.
    #[must_use]
    pub fn top_up(&self, total: &Decimal) -> Decimal {
        match &self.minimum {
            Some(minimum) => (minimum.clone() - total.clone()).max(Decimal::zero()),
            None => Decimal::zero(),
        }
    }

    /// Says what is wrong with the adjustments of what a price charges for.
    pub(super) fn check(&self, charge: &Charge) -> Result<(), Error> {
        if let Some(discount) = &self.discount {
            discount.check(charge)?;
        }
        let ends = [("/minimum_amount", &self.minimum), ("/maximum_amount", &self.maximum)];
        for (pointer, end) in ends {
            end.iter().try_for_each(|end| check_not_negative(pointer, end))?;
        }
        match (&self.minimum, &self.maximum) {
            (Some(minimum), Some(maximum)) if minimum > maximum => {
                let message = format!("found {minimum}, expected at most the maximum of {maximum}");
                Err(Error::invalid("/minimum_amount", message))
            }
            _ => Ok(()),
        }
    }
}

impl Discount {
    fn check(&self, charge: &Charge) -> Result<(), Error> {
        match (self, charge) {
            (Self::Percentage(fraction), _) => {
                check_bounds("/discount", fraction)?;
                if fraction.is_negative() || *fraction > Decimal::from(1) {
                    let message = format!("found {fraction}, expected a fraction of 0 to 1");
                    return Err(Error::invalid("/discount", message));
                }
                Ok(())
            }
            (Self::Usage(_), Charge::Fixed { .. }) => {
                let message = "found a discount of units on a fixed price, expected a usage price";
                Err(Error::invalid("/discount", message))
            }
            (Self::Usage(_), Charge::Usage { model: Model::Matrix(_), .. }) => {
                let message = "found a discount of units on a matrix, whose units are not alike";
                Err(Error::invalid("/discount", message))
            }
            (Self::Amount(off) | Self::Usage(off), _) => check_not_negative("/discount", off),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::Unit;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn check(adjustments: &Adjustments, quantity: &str, expect: [&str; 3]) {
        let model = Model::Unit(Unit { unit_amount: number("0.05") });
        let rated = adjustments.rate(&model, &Quantity::One(number(quantity)));
        let top_up = adjustments.top_up(&rated.total);
        assert_eq!(rated.quantity, number(quantity));
        assert_eq!([rated.subtotal.amount, rated.total, top_up], expect.map(number), "{quantity}");
    }

    #[test]
    fn nothing_changes_nothing() {
        check(&Adjustments::default(), "800", ["40", "40", "0"]);
    }

    /// "Usage tiered pricing with adjustments and formula support", Zuora: 800 units at 0.05 are 40,
    /// less 10 % are 36, and the minimum of 40 makes it 40.
    #[test]
    fn a_fraction_is_taken_off_before_the_minimum() {
        let adjustments = Adjustments {
            discount: Some(Discount::Percentage(number("0.1"))),
            minimum: Some(number("40")),
            maximum: Some(number("60")),
        };
        check(&adjustments, "800", ["40", "36", "4"]);
        check(&adjustments, "1000", ["50", "45", "0"]);
        check(&adjustments, "10000", ["500", "60", "0"]);
        check(&adjustments, "0", ["0", "0", "40"]);
    }

    #[test]
    fn an_amount_is_taken_off_down_to_zero() {
        let adjustments =
            Adjustments { discount: Some(Discount::Amount(number("10"))), ..Default::default() };
        check(&adjustments, "300", ["15", "5", "0"]);
        check(&adjustments, "200", ["10", "0", "0"]);
        check(&adjustments, "199", ["9.95", "0", "0"]);
        assert_eq!(adjustments.adjust(number("-3")), number("-3"));
    }

    #[test]
    fn units_are_taken_off_before_they_are_rated() {
        let adjustments = Adjustments {
            discount: Some(Discount::Usage(number("100.5"))),
            minimum: None,
            maximum: Some(number("30")),
        };
        check(&adjustments, "100.5", ["5.025", "0", "0"]);
        check(&adjustments, "50", ["2.5", "0", "0"]);
        check(&adjustments, "200.5", ["10.025", "5", "0"]);
        check(&adjustments, "2000", ["100", "30", "0"]);
        assert_eq!(adjustments.adjust(number("31")), number("30"));
    }
}
