use serde::{Deserialize, Serialize};

use super::{Invoice, InvoiceStatus};
use crate::{Error, MetadataUpdate, Patch, Timestamp, Zone};

/// Changes to an invoice (invoicing 9.4): metadata in every state, the rest while it is a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvoiceUpdate {
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
    /// Days that the customer has to pay; without them those of the subscription, or of its plan, count.
    pub net_terms: Patch<u32>,
    /// Due date, in place of one that follows from the days.
    pub due_date: Patch<Timestamp>,
    /// Date that a one-off draft bears: its day, in the zone of the customer.
    pub invoice_date: Option<Timestamp>,
    /// Whether it is collected by itself.
    pub auto_collection: Option<bool>,
}

/// Payment that came by other means (invoicing 8.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// Instant at which the money came.
    pub received_at: Timestamp,
    /// The caller's own id for it.
    pub external_id: Option<String>,
    /// Notes in the caller's own words.
    pub notes: Option<String>,
}

impl Payment {
    /// Creates a payment that came at an instant.
    #[must_use]
    pub const fn new(received_at: Timestamp) -> Self {
        Self { received_at, external_id: None, notes: None }
    }
}

impl InvoiceUpdate {
    pub(crate) fn decide(
        self,
        mut invoice: Invoice,
        zone: &Zone,
        now: Timestamp,
    ) -> Result<Invoice, Error> {
        let Self { metadata, net_terms, due_date, invoice_date, auto_collection } = self;
        let is_of_terms = net_terms != Patch::Keep
            || due_date != Patch::Keep
            || invoice_date.is_some()
            || auto_collection.is_some();
        if is_of_terms {
            invoice.check_status(&[InvoiceStatus::Draft])?;
        }
        if let Some(date) = invoice_date {
            invoice.date(date, zone, now)?;
        }
        if matches!((&net_terms, &due_date), (Patch::Set(_), Patch::Set(_))) {
            let message = "found net_terms beside a due date, expected one of them";
            return Err(Error::invalid("due_date", message));
        }
        if matches!(due_date, Patch::Set(_)) {
            invoice.net_terms = None;
        }
        if matches!(net_terms, Patch::Set(_)) {
            invoice.custom_due_date = None;
        }
        net_terms.apply(&mut invoice.net_terms);
        due_date.apply(&mut invoice.custom_due_date);
        if is_of_terms {
            invoice.check_due_date(zone)?;
        }
        if let Some(enabled) = auto_collection {
            invoice.auto_collection.enabled = enabled;
        }
        metadata.apply(&mut invoice.metadata)?;
        Ok(invoice)
    }
}
