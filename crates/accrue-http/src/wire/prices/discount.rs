//! Discounts of prices on the wire (wire 5.2).

use accrue::{Decimal, JsonNumber, price::Discount};
use serde::Serialize;

use crate::shape::{Describe, Schema, choices, response};

/// The discount of a price, in each billing period.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum PriceDiscount {
    Percentage(PercentageDiscount),
    Amount(AmountDiscount),
    Usage(UsageDiscount),
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

choices! {
    "" OfPercentage { "percentage" => OfPercentage::Percentage, }
    "" OfAmount { "amount" => OfAmount::Amount, }
    "" OfUsage { "usage" => OfUsage::Usage, }
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
}
