//! Invoices that an invoicing provider collects (invoicing 16.2).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Invoice, InvoiceStatus};
use crate::{
    Error, InvoiceId, Name, Timestamp,
    customer::{Customer, PaymentProvider},
};

/// How long a sync that has failed waits until it is tried again.
const RETRY: Duration = Duration::from_secs(60 * 60);

/// What an invoicing provider is asked for: to take an invoice over, and collect it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncRequest {
    /// The invoice, with its lines. Its id is the same however often it is asked for.
    pub invoice: Invoice,
    /// The customer, as it is now.
    pub customer: Customer,
    /// Provider that the customer is invoiced through.
    pub provider: PaymentProvider,
    /// The customer's id there, where it is known.
    pub provider_id: Option<Name>,
}

/// Outcome of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SyncOutcome {
    /// The provider has the invoice.
    Succeeded,
    /// It does not take it: it is asked again after an hour.
    Failed,
}

/// What is told of a sync (invoicing 17.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SyncTold {
    /// The invoice.
    pub invoice_id: InvoiceId,
    /// Provider that the customer is invoiced through.
    pub payment_provider: Option<PaymentProvider>,
    /// The customer's id there.
    pub payment_provider_id: Option<Name>,
}

impl SyncRequest {
    /// Returns what is asked of an invoice; nothing where its customer is invoiced through no provider by now.
    pub(crate) fn of(invoice: Invoice, customer: Customer) -> Option<Self> {
        let provider = customer.payment_provider.filter(|of| of.is_invoicing())?;
        let provider_id = customer.payment_provider_id.clone();
        Some(Self { invoice, customer, provider, provider_id })
    }
}

impl Invoice {
    /// Returns the instant from which an invoicing provider is asked to take it: while it is issued and no payment
    /// of it is under way.
    pub(crate) fn asks_sync_at(&self) -> Option<Timestamp> {
        let waits = self.status == InvoiceStatus::Issued && self.paying.is_none();
        self.sync_from.filter(|_| waits)
    }

    /// Tells whether it waits to be [taken](crate::Account::report_sync) by its customer's invoicing provider.
    #[must_use]
    pub fn awaits_sync(&self) -> bool {
        self.asks_sync_at().is_some()
    }

    /// Refuses to void what a provider has: it collects it (invoicing 4.1).
    pub(super) fn check_not_synced(&self) -> Result<(), Error> {
        match self.synced_at {
            Some(at) => Err(Error::constraint(format!("the invoice was synced at {at}"))),
            None => Ok(()),
        }
    }

    /// Notes what became of a sync.
    pub(crate) fn sync(&mut self, outcome: SyncOutcome, at: Timestamp) {
        match outcome {
            SyncOutcome::Succeeded => {
                (self.status, self.synced_at) = (InvoiceStatus::Synced, Some(at));
            }
            SyncOutcome::Failed => {
                self.sync_failed_at = Some(at);
                self.sync_from = Some(at.saturating_add(RETRY));
            }
        }
    }

    /// Asks no invoicing provider any more.
    pub(crate) const fn leave_unsynced(&mut self) {
        self.sync_from = None;
    }
}
