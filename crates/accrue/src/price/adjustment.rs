use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::{Charge, Model, check_bounds, check_not_negative};
use crate::{Decimal, Error, Fraction, limits};

/// Adjustments of what a price comes to in a period.
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

/// What is taken off, in the order in which it is.
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

/// A band of an amount, and the fraction that is taken off what lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscountTier {
    /// Where it begins: what lies above.
    pub lower_bound: Decimal,
    /// Where it ends: what lies up to it; `None` for the last one.
    pub upper_bound: Option<Decimal>,
    /// The fraction.
    pub percentage: Fraction,
}

/// How much of a cycle a period is, for what is prorated by its days.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) part: u32,
    pub(crate) whole: u32,
    /// Digits behind the point that a part is rounded to.
    pub(crate) places: u32,
}

impl Share {
    fn of(self, amount: &Decimal) -> Decimal {
        amount.prorate(self.part, self.whole, self.places)
    }
}

impl Adjustments {
    /// Returns the units that are taken off before rating.
    pub(crate) fn units_off(&self) -> Option<&Decimal> {
        self.discounts.iter().find_map(|discount| match discount {
            Discount::Usage(units) => Some(units),
            _ => None,
        })
    }

    /// Returns what a rated amount comes to while its period runs.
    pub(crate) fn running(&self, rated: Decimal, share: Share) -> Decimal {
        self.cap(self.discount(rated), share)
    }

    /// Returns what a rated amount comes to once its period has ended: with what the minimum adds.
    pub(crate) fn ended(&self, rated: Decimal, share: Share) -> Decimal {
        let amount = self.discount(rated);
        let amount = match &self.minimum {
            Some(minimum) => amount.max(share.of(minimum)),
            None => amount,
        };
        self.cap(amount, share)
    }

    fn cap(&self, amount: Decimal, share: Share) -> Decimal {
        match &self.maximum {
            Some(maximum) => amount.min(share.of(maximum)),
            None => amount,
        }
    }

    fn discount(&self, amount: Decimal) -> Decimal {
        let mut discounts: Vec<_> = self.discounts.iter().collect();
        discounts.sort_by_key(|discount| discount.rank());
        discounts.into_iter().fold(amount, |amount, discount| {
            let off = discount.off(&amount).min(amount.clone()).max(Decimal::zero());
            amount - off
        })
    }

    pub(super) fn check(&self, charge: &Charge) -> Result<(), Error> {
        for (index, discount) in self.discounts.iter().enumerate() {
            let at = format!("/discounts/{index}");
            discount.check(&at, charge)?;
            let is_same = |other: &&Discount| discriminant(*other) == discriminant(discount);
            if self.discounts.iter().filter(is_same).count() > 1 {
                let message = "found a kind of discount more than once, expected each once";
                return Err(Error::invalid(at, message));
            }
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
    const fn rank(&self) -> u8 {
        match self {
            Self::Usage(_) => 0,
            Self::Amount(_) => 1,
            Self::Percentage(_) => 2,
            Self::TieredPercentage(_) => 3,
        }
    }

    /// Returns what is taken off an amount, were it enough.
    fn off(&self, amount: &Decimal) -> Decimal {
        match self {
            Self::Usage(_) => Decimal::zero(),
            Self::Amount(off) => off.clone(),
            Self::Percentage(fraction) => amount.clone() * fraction.as_decimal().clone(),
            Self::TieredPercentage(tiers) => tiers.iter().map(|tier| tier.off(amount)).sum(),
        }
    }

    fn check(&self, at: &str, charge: &Charge) -> Result<(), Error> {
        match (self, charge) {
            (Self::Percentage(_), _) => Ok(()),
            (Self::TieredPercentage(tiers), _) => check_tiers(at, tiers),
            (Self::Usage(_), Charge::Fixed { .. }) => {
                let message = "found a discount of units on a fixed price, expected a usage price";
                Err(Error::invalid(at, message))
            }
            (Self::Usage(_), Charge::Usage { model: Model::Matrix(_), .. }) => {
                let message = "found a discount of units on a matrix, whose units are not alike";
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
        |index: usize, message: String| Err(Error::invalid(format!("{at}/tiers/{index}"), message));
    let found = tiers.len();
    if !(2..=limits::TIERS).contains(&found) {
        let message = format!("found {found} tiers, expected 2 to {}", limits::TIERS);
        return Err(Error::invalid(format!("{at}/tiers"), message));
    }
    let mut next = Some(Decimal::zero());
    for (index, tier) in tiers.iter().enumerate() {
        check_bounds(format!("{at}/tiers/{index}/lower_bound"), &tier.lower_bound)?;
        match &next {
            None => return refuse(index, "found a tier after the last one".to_owned()),
            Some(next) if tier.lower_bound != *next => {
                let message = format!("begins at {}, expected {next}", tier.lower_bound);
                return refuse(index, message);
            }
            Some(_) => next.clone_from(&tier.upper_bound),
        }
        if let Some(upper) = &tier.upper_bound {
            check_bounds(format!("{at}/tiers/{index}/upper_bound"), upper)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Share = Share { part: 31, whole: 31, places: 2 };

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn percentage(text: &str) -> Discount {
        Discount::Percentage(Fraction::parse(text).unwrap())
    }

    fn check(adjustments: &Adjustments, share: Share, amount: &str, expect: [&str; 2]) {
        let running = adjustments.running(number(amount), share);
        let ended = adjustments.ended(number(amount), share);
        assert_eq!([running, ended], expect.map(number), "{amount}");
    }

    #[test]
    fn nothing_changes_nothing() {
        check(&Adjustments::default(), WHOLE, "40", ["40", "40"]);
        check(&Adjustments::default(), WHOLE, "-3", ["-3", "-3"]);
    }

    #[test]
    fn a_fraction_is_taken_off_before_the_minimum() {
        let adjustments = Adjustments {
            discounts: vec![percentage("0.1")],
            minimum: Some(number("40")),
            maximum: Some(number("60")),
        };
        check(&adjustments, WHOLE, "40", ["36", "40"]);
        check(&adjustments, WHOLE, "50", ["45", "45"]);
        check(&adjustments, WHOLE, "500", ["60", "60"]);
        check(&adjustments, WHOLE, "0", ["0", "40"]);
    }

    #[test]
    fn minimum_and_maximum_are_those_of_the_days() {
        let adjustments = Adjustments {
            minimum: Some(number("31")),
            maximum: Some(number("62")),
            ..Adjustments::default()
        };
        let ten = Share { part: 10, ..WHOLE };
        check(&adjustments, ten, "4", ["4", "10"]);
        check(&adjustments, ten, "40", ["20", "20"]);
        let cents = Adjustments { minimum: Some(number("1")), ..Adjustments::default() };
        check(&cents, ten, "0", ["0", "0.32"]);
        check(&cents, Share { places: 0, ..ten }, "0", ["0", "0"]);
    }

    #[test]
    fn a_minimum_comes_before_a_maximum() {
        // Of shares, both are rounded: the maximum has the last word.
        let adjustments = Adjustments {
            minimum: Some(number("10")),
            maximum: Some(number("10")),
            ..Adjustments::default()
        };
        check(&adjustments, WHOLE, "30", ["10", "10"]);
        check(&adjustments, WHOLE, "3", ["3", "10"]);
    }

    #[test]
    fn an_amount_is_taken_off_down_to_zero() {
        let discounts = vec![Discount::Amount(number("10"))];
        let adjustments = Adjustments { discounts, ..Adjustments::default() };
        check(&adjustments, WHOLE, "15", ["5", "5"]);
        check(&adjustments, WHOLE, "10", ["0", "0"]);
        check(&adjustments, WHOLE, "9.95", ["0", "0"]);
        check(&adjustments, WHOLE, "-3", ["-3", "-3"]);
    }

    #[test]
    fn amounts_come_before_percentages_and_those_before_bands() {
        let tier = |lower: &str, upper: Option<&str>, percentage: &str| DiscountTier {
            lower_bound: number(lower),
            upper_bound: upper.map(number),
            percentage: Fraction::parse(percentage).unwrap(),
        };
        let bands = vec![tier("0", Some("100"), "0.1"), tier("100", None, "0.2")];
        let bands = Discount::TieredPercentage(bands);
        let alone = Adjustments { discounts: vec![bands.clone()], ..Adjustments::default() };
        check(&alone, WHOLE, "250", ["210", "210"]);
        check(&alone, WHOLE, "-250", ["-250", "-250"]);
        let discounts = vec![bands, percentage("0.5"), Discount::Amount(number("100"))];
        let all = Adjustments { discounts, ..Adjustments::default() };
        // 400 less 100, half of it, less a tenth of 100 and a fifth of 50.
        check(&all, WHOLE, "400", ["130", "130"]);
    }
}
