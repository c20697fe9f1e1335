use std::sync::Arc;

use crate::{Decimal, PricingUnit, SubscriptionId, Timestamp, price::Price};

/// Change of what the usage of a billing period costs, which credits pay for.
#[derive(Clone, Debug)]
pub(crate) struct DrawDown {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) period_start: Timestamp,
    pub(crate) currency: PricingUnit,
    /// Prices whose amount has moved, in their order.
    pub(crate) prices: Vec<PriceMove>,
}

/// Price, and how much more the usage of it costs; less, where it is below zero.
pub(crate) type PriceMove = (Arc<Price>, Decimal);

impl DrawDown {
    /// Returns how much more all of it costs; less, where it is below zero.
    pub(crate) fn amount(&self) -> Decimal {
        self.prices.iter().map(|(_, amount)| amount.clone()).sum()
    }

    /// Tells whether some price costs less.
    pub(crate) fn has_fallen(&self) -> bool {
        self.prices.iter().any(|(_, amount)| amount.is_negative())
    }
}
