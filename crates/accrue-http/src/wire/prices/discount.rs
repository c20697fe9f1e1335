//! Discounts of prices on the wire (wire 5.2).

use accrue::{
    Decimal, JsonNumber,
    price::{Adjustment, Discount},
};
use serde::Serialize;

use crate::shape::{Describe, Nothing, Schema, choices, response};

/// The discount of a price, in each billing period.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum PriceDiscount {
    Percentage(PercentageDiscount),
    Amount(AmountDiscount),
    Usage(UsageDiscount),
    Trial(TrialDiscount),
}

response! {
    /// A discount of a fraction of the cost.
    pub(crate) struct PercentageDiscount {
        /// Type of the discount.
        discount_type: OfPercentage,
        /// Fraction, from 0 to 1.
        percentage_discount: JsonNumber,
    }

    /// A discount of an amount.
    pub(crate) struct AmountDiscount {
        /// Type of the discount.
        discount_type: OfAmount,
        /// Amount.
        amount_discount: Decimal,
    }

    /// A discount of units of usage.
    pub(crate) struct UsageDiscount {
        /// Type of the discount.
        discount_type: OfUsage,
        /// Number of units.
        usage_discount: JsonNumber,
    }

    /// A discount of usage on trial: all of it, or an amount.
    pub(crate) struct TrialDiscount {
        /// Type of the discount.
        discount_type: OfTrial,
        /// Fraction, from 0 to 1; null where it is an amount.
        trial_percentage_discount: Option<JsonNumber>,
        /// Amount; null where it is a fraction.
        trial_amount_discount: Option<Decimal>,
        /// Always null: it is of this price.
        applies_to_price_ids: Nothing,
        /// Always null: it is of this price.
        filters: Nothing,
        /// Always null.
        reason: Nothing,
    }
}

/// The type of a discount of a fraction.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfPercentage {
    Percentage,
}

/// The type of a discount of an amount.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfAmount {
    Amount,
}

/// The type of a discount of units.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfUsage {
    Usage,
}

/// The type of a discount of usage on trial.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfTrial {
    Trial,
}

choices! {
    "" OfPercentage { "percentage" => OfPercentage::Percentage, }
    "" OfAmount { "amount" => OfAmount::Amount, }
    "" OfUsage { "usage" => OfUsage::Usage, }
    "" OfTrial { "trial" => OfTrial::Trial, }
}

impl Describe for PriceDiscount {
    fn schema() -> Schema {
        Schema::OneOf {
            name: "PriceDiscount",
            tag: "discount_type",
            variants: vec![
                ("percentage", PercentageDiscount::schema()),
                ("amount", AmountDiscount::schema()),
                ("usage", UsageDiscount::schema()),
                ("trial", TrialDiscount::schema()),
            ],
        }
    }
}

impl PriceDiscount {
    pub(super) fn of(discount: &Discount) -> Option<Self> {
        Some(match discount {
            Discount::Percentage(fraction) => Self::Percentage(PercentageDiscount {
                discount_type: OfPercentage::Percentage,
                percentage_discount: JsonNumber(fraction.as_decimal().clone()),
            }),
            Discount::Amount(off) => Self::Amount(AmountDiscount {
                discount_type: OfAmount::Amount,
                amount_discount: off.clone(),
            }),
            Discount::Usage(units) => Self::Usage(UsageDiscount {
                discount_type: OfUsage::Usage,
                usage_discount: JsonNumber(units.clone()),
            }),
            _ => return None,
        })
    }

    /// Writes the discount of a trial.
    pub(super) fn of_trial(of: &Adjustment) -> Option<Self> {
        let (percentage, amount) = match of {
            Adjustment::Discount(Discount::Percentage(fraction)) => {
                (Some(JsonNumber(fraction.as_decimal().clone())), None)
            }
            Adjustment::Discount(Discount::Amount(off)) => (None, Some(off.clone())),
            _ => return None,
        };
        Some(Self::Trial(TrialDiscount {
            discount_type: OfTrial::Trial,
            trial_percentage_discount: percentage,
            trial_amount_discount: amount,
            applies_to_price_ids: Nothing,
            filters: Nothing,
            reason: Nothing,
        }))
    }
}
