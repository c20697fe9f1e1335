use serde::{Deserialize, Serialize};

use super::CreditBlock;
use crate::{
    CreditBlockId, CustomerId, Decimal, Description, InvoiceId, LedgerEntryId, Metadata, PriceId,
    PricingUnit, Timestamp, WrittenDecimal, price::PriceFilter,
};

/// An entry of a ledger (wire 4.4): a change of the balance, or of a block.
///
/// Entries stand in the order of their numbers, and each starts with the balance that the one before
/// it ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// Its id.
    pub id: LedgerEntryId,
    /// Its number in the ledger: 1, 2, 3, …
    pub ledger_sequence_number: u64,
    /// Customer whose ledger it is.
    pub customer_id: CustomerId,
    /// Currency or pricing unit of the ledger.
    pub currency: PricingUnit,
    /// Its type.
    pub entry_type: EntryType,
    /// Its status: whether it can still grow.
    pub entry_status: EntryStatus,
    /// Amount by which it moved the balance: below zero where it took something.
    pub amount: Decimal,
    /// The balance before it.
    pub starting_balance: Decimal,
    /// The balance after it.
    pub ending_balance: Decimal,
    /// The block that it moved.
    pub credit_block: EntryBlock,
    /// Price of the usage that it is for, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_id: Option<PriceId>,
    /// Description in the caller's own words.
    pub description: Option<Description>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Instant at which it was made: for a pending entry that of the first usage of its day,
    /// however it grows. Entries of one ledger are never out of order.
    pub created_at: Timestamp,
    /// Invoices that it has made, in the answer to whoever asked for it.
    #[serde(skip)]
    pub created_invoices: Vec<InvoiceId>,
}

/// Type of an entry (wire 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryType {
    /// Grant of a new block.
    Increment,
    /// Decrement: usage, or the caller, took credits from a block.
    Decrement,
    /// Move of credits from a block to a new one, with another expiry date. The balance stays.
    ExpirationChange {
        /// Amount that was moved.
        moved: Decimal,
        /// The new block.
        new_block_id: CreditBlockId,
        /// Instant at which the new block expires.
        new_block_expiry_date: Timestamp,
    },
    /// Expiry of a block: the rest of it was lost.
    CreditBlockExpiry,
    /// Start of a void: the next entry makes the amount of the block void. The balance stays.
    VoidInitiated {
        /// Amount to make void.
        void_amount: Decimal,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
    },
    /// Void of an amount of a block.
    Void {
        /// Amount that was made void.
        void_amount: Decimal,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
    },
    /// Return of credits to the block from which they were taken.
    Amendment,
}

/// Kind of an entry: its type in one word, by which lists are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// `increment`
    Increment,
    /// `decrement`
    Decrement,
    /// `expiration_change`
    ExpirationChange,
    /// `credit_block_expiry`
    CreditBlockExpiry,
    /// `void_initiated`
    VoidInitiated,
    /// `void`
    Void,
    /// `amendment`
    Amendment,
}

/// Status of an entry: whether it can still grow (wire 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryStatus {
    /// Committed: it never changes. Where the clocks of two processes differ, the one that is ahead
    /// shows a day's entry as committed a moment early.
    Committed,
    /// Pending: usage of its block and price is added to it, until the day of the customer ends or an entry
    /// follows that is not usage.
    Pending,
}

/// Reason of a void (wire 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VoidReason {
    /// Refund: the customer got its money back.
    Refund,
}

/// The block that an entry moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntryBlock {
    /// Its id.
    pub id: CreditBlockId,
    /// Instant at which it expires, if ever.
    pub expiry_date: Option<Timestamp>,
    /// Cost basis: the amount that the customer paid for one of the credits.
    pub per_unit_cost_basis: Option<WrittenDecimal>,
    /// Filters of the prices that it pays for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<PriceFilter>,
}

impl LedgerEntry {
    /// Returns the amount that it moves: of the balance, or of a block where the balance stays.
    #[must_use]
    pub const fn moved(&self) -> &Decimal {
        match &self.entry_type {
            EntryType::ExpirationChange { moved, .. } => moved,
            EntryType::VoidInitiated { void_amount, .. } => void_amount,
            _ => &self.amount,
        }
    }
}

impl EntryType {
    /// Returns its kind: the type in one word.
    #[must_use]
    pub const fn kind(&self) -> EntryKind {
        match self {
            Self::Increment => EntryKind::Increment,
            Self::Decrement => EntryKind::Decrement,
            Self::ExpirationChange { .. } => EntryKind::ExpirationChange,
            Self::CreditBlockExpiry => EntryKind::CreditBlockExpiry,
            Self::VoidInitiated { .. } => EntryKind::VoidInitiated,
            Self::Void { .. } => EntryKind::Void,
            Self::Amendment => EntryKind::Amendment,
        }
    }
}

impl EntryKind {
    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Increment => "increment",
            Self::Decrement => "decrement",
            Self::ExpirationChange => "expiration_change",
            Self::CreditBlockExpiry => "credit_block_expiry",
            Self::VoidInitiated => "void_initiated",
            Self::Void => "void",
            Self::Amendment => "amendment",
        }
    }
}

impl From<&CreditBlock> for EntryBlock {
    fn from(block: &CreditBlock) -> Self {
        Self {
            id: block.id,
            expiry_date: block.expiry_date,
            per_unit_cost_basis: block.per_unit_cost_basis.clone(),
            filters: block.filters.clone(),
        }
    }
}

/// An entry as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Booked {
    pub(crate) entry: LedgerEntry,
    /// Instant at which a pending entry is committed: nothing has to be written for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending_until: Option<Timestamp>,
}

impl Booked {
    /// Returns the entry as it stands at an instant.
    pub(crate) fn at(mut self, now: Timestamp) -> LedgerEntry {
        if self.pending_until.is_some_and(|until| until <= now) {
            self.entry.entry_status = EntryStatus::Committed;
        }
        self.entry
    }
}
