//! The invoices of a customer that are to be issued without a subscription, or collected.

use super::transition::{Transition, TransitionKind};
use crate::{
    CustomerId, Error, InvoiceId, Timestamp,
    engine::{
        kernel::Transaction,
        rows::invoices,
        time::{collecting, one_off},
    },
    invoice::CollectionStep,
    schema::{self, CustomerHead},
};

/// The invoices of a customer that are to be issued without a subscription, or collected, while transitions are applied: each transition may
/// bring another one.
pub(super) struct Collector {
    customer_id: CustomerId,
    next: Option<(Timestamp, InvoiceId)>,
}

impl Collector {
    pub(super) async fn new(
        tx: &mut Transaction<'_>,
        customer_id: CustomerId,
    ) -> Result<Self, Error> {
        let mut collector = Self { customer_id, next: None };
        collector.look(tx).await?;
        Ok(collector)
    }

    /// Looks for the next one.
    pub(super) async fn look(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let guard = tx.guard::<CustomerHead>(self.customer_id).await?;
        let slot = schema::active_subscriptions(tx.account, self.customer_id);
        let active = guard.get(tx, &slot).await?.unwrap_or_default();
        self.next = match active.collection {
            Some(_) => invoices::next_collection(tx, self.customer_id).await?,
            None => None,
        };
        Ok(())
    }

    /// Returns the first transition, no later than an instant.
    pub(super) fn next(&self, now: Timestamp, until: Timestamp) -> Option<Transition> {
        let (at, _) = self.next.filter(|(at, _)| *at <= now.min(until))?;
        Some(Transition { at, kind: TransitionKind::Collected })
    }

    /// Applies it.
    pub(super) async fn apply_transition(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some((at, id)) = self.next.take() else { return Ok(()) };
        let invoice = invoices::invoice(tx, id).await?;
        match invoice.next_collection() {
            Some((_, CollectionStep::Elapse)) => one_off::elapse(tx, invoice, at).await,
            _ => collecting::take(tx, invoice, at).await,
        }
    }
}
