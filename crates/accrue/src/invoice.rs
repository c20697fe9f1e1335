//! Invoices: what falls due, billed (invoicing 3).

mod balance;
mod by_hand;
mod collection;
mod credit_note;
mod credited;
mod document;
mod dunning;
mod figures;
mod life;
mod line;
mod list;
mod one_off;
mod prepayment;
mod purchase;
mod sync;
mod tax;
mod terms;
#[cfg(test)]
mod tests;
mod update;

use serde::{Deserialize, Serialize};

pub use self::{
    balance::{BalanceAction, BalanceDirection, BalanceTransaction, NewBalanceTransaction},
    by_hand::{InvoiceDiscount, LineSubject, LinesEdit, NewInvoiceLine},
    collection::{
        AutoCollection, PaymentAttempt, PaymentFailure, PaymentInstrument, PaymentOutcome,
        StartedPayment,
    },
    credit_note::{
        CreditNote, CreditNoteEffect, CreditNoteFilter, CreditNoteLine, CreditNoteReason,
        CreditNoteSource, NewCreditNote, NewCreditNoteLine, ServiceDays,
    },
    dunning::{DunningSchedule, DunningStatus, DunningStep, DunningStepStatus},
    line::{InvoiceLine, LineAdjustment},
    list::{InvoiceDate, InvoiceDays, InvoiceFilter},
    one_off::{NewInvoice, NewInvoiceDiscount, NewOneOffLine},
    prepayment::PaidElsewhere,
    purchase::BlockInvoices,
    sync::{SyncOutcome, SyncRequest, SyncTold},
    tax::{TaxAmount, TaxOutcome, TaxReason, TaxRequest, TaxedLine},
    update::{InvoiceUpdate, Payment},
};
pub(crate) use self::{
    balance::{Movement, Receivables},
    collection::{Attempt, Attempted, CollectionStep},
    credited::{Credit, Crediting, Share},
    dunning::Dunned,
    figures::{Charges, DrawnCredits, lines},
    life::Issue,
    prepayment::Prepayment,
    purchase::Bought,
    tax::TaxAnswer,
    terms::Terms,
};
pub use crate::credit::purchase::PaymentTerms;
use crate::{
    Carried, CreditBlockId, Currency, CustomerId, Decimal, InvoiceId, Metadata, SubscriptionId,
    Timestamp,
};

/// Invoice: what fell due at one boundary of a subscription, or was made by hand (invoicing 3.1).
///
/// A draft shows what counts when it is read. Once it is issued nothing of it changes but its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Invoice {
    /// Its id.
    pub id: InvoiceId,
    /// Number that it bears: `QTRWXB-00007`, and `QTRWXB-DRAFT` before it is issued (invoicing 4.6).
    pub invoice_number: String,
    /// Customer that it is for.
    pub customer_id: CustomerId,
    /// Subscription that it bills, if it does.
    pub subscription_id: Option<SubscriptionId>,
    /// Source: why it was made.
    pub source: InvoiceSource,
    /// Its status.
    pub status: InvoiceStatus,
    /// Currency of its amounts.
    pub currency: Currency,
    /// Instant at which it was made. A draft is made ahead of its date.
    pub created_at: Timestamp,
    /// Date that it bears: the boundary that it bills, or the midnight that was chosen.
    pub invoice_date: Timestamp,
    /// Instant by which it is to be paid; `None` for a draft.
    pub due_date: Option<Timestamp>,
    /// Instant from which a draft may be issued.
    pub eligible_to_issue_at: Option<Timestamp>,
    /// True for a draft that is issued by itself.
    pub will_auto_issue: bool,
    /// Instant at which issuing it last failed, because its tax was refused (invoicing 4.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_failed_at: Option<Timestamp>,
    /// Instant from which the tax of a draft is asked for that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asks_tax_at: Option<Timestamp>,
    /// Instant at which it was issued.
    pub issued_at: Option<Timestamp>,
    /// Instant at which a sync to an invoicing provider last failed (invoicing 16.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_failed_at: Option<Timestamp>,
    /// Instant at which an invoicing provider last took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<Timestamp>,
    /// Instant from which the customer's invoicing provider is asked to take it, while it is issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sync_from: Option<Timestamp>,
    /// Instant at which it became paid; `None` in other states.
    pub paid_at: Option<Timestamp>,
    /// Instant at which the money came, where some did.
    pub payment_received_at: Option<Timestamp>,
    /// Instant at which it became void.
    pub voided_at: Option<Timestamp>,
    /// Sum of its lines before adjustments.
    pub subtotal: Decimal,
    /// Sum of its lines after adjustments and credits, with their taxes.
    pub total: Decimal,
    /// Amount that is left to pay: the total with the customer's balance, less credit notes.
    pub amount_due: Decimal,
    /// Lines, in the order of the prices, and behind them those by hand.
    #[serde(skip)]
    pub lines: Vec<InvoiceLine>,
    /// Lines by hand of a draft, exact and before the discount over it: what is kept of its lines.
    #[serde(skip)]
    pub(crate) by_hand: Vec<InvoiceLine>,
    /// Discount over a one-off invoice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discount: Option<InvoiceDiscount>,
    /// Whether its date is still to pass, and nobody but itself knows when: a one-off draft that was dated
    /// ahead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) awaits_date: bool,
    /// Transactions of the customer's balance that it made, oldest first.
    #[serde(skip)]
    pub balance_transactions: Vec<BalanceTransaction>,
    /// Credit notes of it, void ones too, oldest first: without their lines.
    #[serde(skip)]
    pub credit_notes: Vec<CreditNote>,
    /// Whether it is collected by itself.
    #[serde(default)]
    pub auto_collection: AutoCollection,
    /// Instant at which the latest attempt to collect it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_started_at: Option<Timestamp>,
    /// Instant at which an attempt last failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_failed_at: Option<Timestamp>,
    /// Attempts that have succeeded or failed, oldest first.
    #[serde(default, skip_serializing)]
    pub payment_attempts: Vec<PaymentAttempt>,
    /// Attempt that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paying: Option<Attempt>,
    /// Retries of a payment that has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dunning: Option<DunningSchedule>,
    /// Retries that have ended, since it is to be paid after all: until others follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous_dunning: Option<DunningSchedule>,
    /// Payment that was made before it is issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepaid: Option<Prepayment>,
    /// Whether somebody said that it was paid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_marked_as_paid: bool,
    /// True where other terms have made it void: what is due is billed anew, or nothing is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_taken_back: bool,
    /// Days that the customer has to pay, where this invoice has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_terms: Option<u32>,
    /// Due date that was chosen for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_due_date: Option<Timestamp>,
    /// Credit block that it is for (invoicing 13).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bought: Option<CreditBlockId>,
    /// Text for the customer.
    #[serde(default, skip_serializing)]
    pub memo: Option<String>,
    /// The caller's own strings.
    #[serde(default, skip_serializing)]
    pub metadata: Metadata,
    /// Instant at which its document was last renewed, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_renewed_at: Option<Timestamp>,
    /// Addresses and the tax id of the customer, as they were when it was issued.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub addressee: Carried,
}

/// Source of an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvoiceSource {
    /// A boundary of a subscription.
    Subscription,
    /// Usage that reached the threshold of a subscription within a period.
    Partial,
    /// Somebody, by hand.
    OneOff,
}

/// Status of an invoice (invoicing 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvoiceStatus {
    /// Draft, which follows what is used.
    Draft,
    /// Issued, and to be paid.
    Issued,
    /// Paid.
    Paid,
    /// Handed to an invoicing provider.
    Synced,
    /// Void: nobody owes it.
    Void,
}

impl InvoiceStatus {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Issued => "issued",
            Self::Paid => "paid",
            Self::Synced => "synced",
            Self::Void => "void",
        }
    }
}

impl InvoiceSource {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Subscription => "subscription",
            Self::Partial => "partial",
            Self::OneOff => "one_off",
        }
    }
}
