use serde::{Deserialize, Serialize};

use crate::Decimal;

/// What changes the amount of a price after it was rated.
///
/// In this order: a discount, which takes an amount to zero at most; then the maximum; then, when
/// the billing period ends, the minimum.
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
