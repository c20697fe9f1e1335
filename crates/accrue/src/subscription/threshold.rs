use serde::{Deserialize, Serialize};

use super::Subscription;
use crate::{Decimal, Error, Timeframe, Timestamp};

/// Threshold of what usage may come to before it is invoiced, in a billing period (invoicing 15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threshold {
    pub(crate) amount: Decimal,
    /// Billing period that it is watched in.
    pub(crate) period: Timeframe,
    /// What usage had come to when it was last reached in the period.
    pub(crate) base: Decimal,
}

/// What usage had come to when a threshold was last reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// Start of the billing period.
    pub(crate) start: Timestamp,
    pub(crate) evaluated: Decimal,
}

impl Threshold {
    /// Creates the threshold of a billing period, where one was reached before.
    pub(crate) fn new(amount: Decimal, period: Timeframe, last: Option<&Reached>) -> Self {
        let base = last.filter(|of| of.start == period.start()).map(|of| of.evaluated.clone());
        Self { amount, period, base: base.unwrap_or_default() }
    }

    /// Tells whether what usage comes to reaches it.
    pub(crate) fn is_reached(&self, evaluated: &Decimal) -> bool {
        evaluated - &self.base >= self.amount
    }
}

impl Subscription {
    /// Returns the amount that usage may come to before an invoice is made of it, where there is one
    /// (invoicing 15).
    #[must_use]
    pub fn invoicing_threshold(&self) -> Option<Decimal> {
        serde_json::from_str(self.carried.get("invoicing_threshold")?).ok()
    }

    /// Refuses a threshold that is no amount above zero in the invoiced currency.
    pub(super) fn check_threshold(&self) -> Result<(), Error> {
        let field = "invoicing_threshold";
        let Some(text) = self.carried.get(field) else { return Ok(()) };
        let Some(amount) = self.invoicing_threshold() else {
            return Err(Error::invalid(field, format!("found {text}, expected an amount")));
        };
        let (places, code) = (self.currency.places(), self.currency.code());
        if amount <= Decimal::zero() || amount.places() > places {
            let message = format!(
                "found {amount}, expected more than 0 and at most {places} digits behind the point \
                 in {code}"
            );
            return Err(Error::invalid(field, message));
        }
        Ok(())
    }
}
