use crate::{Decimal, PricingUnit, SubscriptionId, Timestamp};

/// Amount that the usage of a billing period costs more, which credits pay for; less, where it is
/// below zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DrawDown {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) period_start: Timestamp,
    pub(crate) currency: PricingUnit,
    pub(crate) amount: Decimal,
}
