//! What a preview tells.

use serde::Serialize;

use super::period::PeriodChange;
use crate::{CustomerId, Decimal, PricingUnit, Timestamp, webhook::Body};

/// What an operation would bring, had it been asked for now.
///
/// It was run as it runs, on what there is once the transitions of its customer are applied, and nothing was
/// written. Ids in it are left open: the operation draws others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Preview<T> {
    /// What it would answer.
    pub answer: T,
    /// The messages that it would write, in order: the alerts that would fire are among them.
    pub messages: Vec<PreviewedMessage>,
    /// The balances that it would move.
    pub balances: Vec<BalanceChange>,
    /// The billing periods that it would correct, where it closes or reverts a backfill.
    pub periods: Vec<PeriodChange>,
}

/// A message that an operation would write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreviewedMessage {
    /// The customer that it is about; `None` where it is about a backfill for all customers.
    pub customer_id: Option<CustomerId>,
    /// When it would have come about.
    pub created_at: Timestamp,
    /// What it says.
    pub body: Body,
}

/// A balance that an operation would move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BalanceChange {
    /// Whose balance it is.
    pub customer_id: CustomerId,
    /// The currency or pricing unit.
    pub currency: PricingUnit,
    /// What it is now; `None` where there is none yet.
    pub before: Option<Decimal>,
    /// What it would be.
    pub after: Decimal,
}
