//! Documents of invoices and credit notes.

use serde::{Deserialize, Serialize};

use crate::{
    CreditNoteId, Metadata,
    invoice::{CreditNote, CreditNoteLine, Invoice, InvoiceLine},
    price::Part,
};

/// An invoice without what may be long, and how many rows its lines are in: of a draft those by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvoiceEntry {
    pub(crate) invoice: Invoice,
    #[serde(default)]
    pub(crate) parts: u16,
    /// Whether it has texts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_texts: bool,
    /// How many attempts to pay it have ended.
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) attempts: u32,
    /// Numbers of the transactions that moved the balance for it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) transactions: Vec<u64>,
    /// Its credit notes, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) credit_notes: Vec<CreditNoteId>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Texts of an invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvoiceTexts {
    pub(crate) memo: Option<String>,
    pub(crate) metadata: Metadata,
}

/// Lines of an invoice, behind further parts of the last line of the row before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvoiceLines {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) more: Vec<Part>,
    pub(crate) lines: Vec<InvoiceLine>,
}

/// A credit note, and how many rows its lines are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreditNoteEntry {
    pub(crate) note: CreditNote,
    pub(crate) parts: u16,
}

/// Lines of a credit note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreditNoteLines {
    pub(crate) lines: Vec<CreditNoteLine>,
}
