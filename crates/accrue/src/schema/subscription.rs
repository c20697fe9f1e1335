//! Documents of subscriptions.

use serde::{Deserialize, Serialize};

use crate::{
    CustomerId,
    subscription::{AdjustmentInterval, PriceInterval},
};

/// Whose subscription it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionOf {
    pub(crate) customer_id: CustomerId,
}

/// A part of a request that waits, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestPart {
    pub(crate) text: String,
}

/// What a subscription is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) price_intervals: Vec<PriceInterval>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) adjustment_intervals: Vec<AdjustmentInterval>,
}
