//! Reports of previews.

use serde::Serialize;

use super::period::PeriodChange;
use crate::{CustomerId, Decimal, PricingUnit, Timestamp, webhook::Body};

/// Preview of an operation: its effects, had it been asked for now.
///
/// The operation was run on the rows as they are once the transitions of its customer are applied, and
/// nothing was written. Ids in it are left open: the operation draws others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Preview<T> {
    /// Answer that it would give.
    pub answer: T,
    /// Messages that it would write, in order: the alerts that would fire are among them.
    pub messages: Vec<PreviewedMessage>,
    /// Balances that it would move.
    pub balances: Vec<BalanceChange>,
    /// Billing periods that it would correct, where it closes or reverts a backfill.
    pub periods: Vec<PeriodChange>,
}

/// Message that an operation would write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreviewedMessage {
    /// Customer that it is about; `None` where it is about a backfill for all customers.
    pub customer_id: Option<CustomerId>,
    /// Instant at which it would have been created.
    pub created_at: Timestamp,
    /// Body: its type and its properties.
    pub body: Body,
}

/// Change of a balance that an operation would move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BalanceChange {
    /// Customer that has the balance.
    pub customer_id: CustomerId,
    /// Currency or pricing unit of the balance.
    pub currency: PricingUnit,
    /// Balance now; `None` where there is none yet.
    pub before: Option<Decimal>,
    /// Balance that there would be.
    pub after: Decimal,
}
