use crate::{Decimal, PricingUnit, SubscriptionId, Timestamp, rating::PriceMove};

/// Change of what the usage of a billing period costs, which credits pay for.
#[derive(Clone, Debug)]
pub(crate) struct DrawDown {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) period_start: Timestamp,
    pub(crate) currency: PricingUnit,
    /// Prices whose amount has moved, in their order.
    pub(crate) prices: Vec<PriceMove>,
}

impl DrawDown {
    /// Returns how much more all of it costs; less, where it is below zero.
    pub(crate) fn amount(&self) -> Decimal {
        self.prices.iter().map(|of| of.amount.clone()).sum()
    }

    /// Tells whether some price costs less.
    pub(crate) fn has_fallen(&self) -> bool {
        self.prices.iter().any(|of| of.amount.is_negative())
    }
}
