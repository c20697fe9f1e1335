use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{
    Decimal, Error, WrittenDecimal,
    price::{Share, check_bounds, check_not_negative},
};

/// A fraction of what other prices come to, between a least and a greatest amount (price models 6.1).
///
/// The least amount counts once the period is over. One part, and one for what the least amount adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percent {
    /// Fraction, more than 0 and at most 1.
    pub percent: Decimal,
    /// Least amount of a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_amount: Option<WrittenDecimal>,
    /// Greatest amount of a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_amount: Option<WrittenDecimal>,
    /// True if the least amount is prorated to the days that are served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorated: bool,
}

impl Percent {
    /// Creates a fraction without bounds.
    #[must_use]
    pub const fn new(percent: Decimal) -> Self {
        Self { percent, minimum_amount: None, maximum_amount: None, prorated: false }
    }

    fn capped(&self, amount: Decimal) -> Decimal {
        match &self.maximum_amount {
            Some(most) => amount.min(most.number().clone()),
            None => amount,
        }
    }
}

impl Rates for Percent {
    fn check(&self) -> Result<(), Error> {
        let percent = &self.percent;
        check_bounds("percent", percent)?;
        if *percent <= Decimal::zero() || *percent > Decimal::from(1) {
            let message = format!("found {percent}, expected more than 0 and at most 1");
            return Err(Error::invalid("percent", message));
        }
        let bounds =
            [("minimum_amount", &self.minimum_amount), ("maximum_amount", &self.maximum_amount)];
        for (field, bound) in bounds {
            bound.iter().try_for_each(|of| check_not_negative(field, of.number()))?;
        }
        match (&self.minimum_amount, &self.maximum_amount) {
            (Some(least), Some(most)) if least.number() > most.number() => {
                let (least, most) = (least.number(), most.number());
                let message = format!("found {least}, expected at most the maximum of {most}");
                Err(Error::invalid("minimum_amount", message))
            }
            _ => Ok(()),
        }
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn rate(&self, base: &Quantity) -> Rating {
        let name = Some("Percentage".to_owned());
        let amount = self.amount(base);
        Rating::of(vec![Part { name, ..Part::new(PartOf::Whole, Decimal::from(1), &amount) }])
    }

    fn amount(&self, base: &Quantity) -> Decimal {
        self.capped(base.billable() * &self.percent)
    }

    fn minimum(&self, _: &Quantity, served: Share) -> Option<Decimal> {
        let least = self.minimum_amount.as_ref()?.number();
        Some(self.capped(if self.prorated { served.of(least) } else { least.clone() }))
    }

    fn line_quantity(&self, _: &Quantity) -> Decimal {
        Decimal::from(1)
    }

    fn only_rises(&self) -> bool {
        true
    }
}
