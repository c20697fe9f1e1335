use serde::{Deserialize, Serialize};

use super::Price;
use crate::Error;

/// Origin of a price: what it was made with (subscriptions 1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PriceOrigin {
    /// The account: by itself, so that any subscription may add it.
    #[default]
    Account,
    /// A version of a plan.
    Plan,
    /// One subscription. No list shows it.
    Subscription,
}

impl PriceOrigin {
    pub(super) const fn is_account(&self) -> bool {
        matches!(self, Self::Account)
    }
}

impl Price {
    /// Refuses a price that is of a plan or a subscription where an add-on is expected.
    pub(crate) fn check_is_addon(&self) -> Result<(), Error> {
        let of = match self.origin {
            PriceOrigin::Account => return Ok(()),
            PriceOrigin::Plan => "a plan",
            PriceOrigin::Subscription => "a subscription",
        };
        let detail = format!("the price {} was made with {of}, expected an add-on", self.id);
        Err(Error::constraint(detail))
    }
}
