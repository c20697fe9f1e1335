//! Documents of invoices.

use serde::{Deserialize, Serialize};

use crate::invoice::{Invoice, InvoiceLine};

/// An invoice, and how many rows its lines are in: a draft has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvoiceEntry {
    pub(crate) invoice: Invoice,
    #[serde(default)]
    pub(crate) parts: u16,
}

/// Lines of an invoice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvoiceLines {
    pub(crate) lines: Vec<InvoiceLine>,
}
