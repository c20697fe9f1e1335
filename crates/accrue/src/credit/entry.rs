use serde::{Deserialize, Serialize};

use super::CreditBlock;
use crate::{
    CreditBlockId, CustomerId, Decimal, Description, LedgerEntryId, Metadata, PricingUnit,
    Timestamp,
};

/// An entry of a ledger (wire 4.4): something that moved the balance, or a block.
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
    /// Whose ledger it is.
    pub customer_id: CustomerId,
    /// What the ledger is in.
    pub currency: PricingUnit,
    /// What it is.
    pub entry_type: EntryType,
    /// Whether it can still grow.
    pub entry_status: EntryStatus,
    /// By how much it moved the balance: below zero where it took something.
    pub amount: Decimal,
    /// The balance before it.
    pub starting_balance: Decimal,
    /// The balance after it.
    pub ending_balance: Decimal,
    /// The block that it moved.
    pub credit_block: EntryBlock,
    /// The caller's own words.
    pub description: Option<Description>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// When it was made: a pending one with the first usage of its day, however it grows. Entries of
    /// one ledger are never out of order.
    pub created_at: Timestamp,
}

/// What an entry is (wire 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryType {
    /// A new block was given.
    Increment,
    /// Usage, or the caller, took something from a block.
    Decrement,
    /// Something of a block went over to a new one, with another expiry date. The balance stays.
    ExpirationChange {
        /// How much.
        moved: Decimal,
        /// The new block.
        new_block_id: CreditBlockId,
        /// When that expires.
        new_block_expiry_date: Timestamp,
    },
    /// What was left of a block was lost when it expired.
    CreditBlockExpiry,
    /// Something of a block is to be made void: the next entry does it. The balance stays.
    VoidInitiated {
        /// How much.
        void_amount: Decimal,
        /// Why.
        void_reason: Option<VoidReason>,
    },
    /// Something of a block was made void.
    Void {
        /// How much.
        void_amount: Decimal,
        /// Why.
        void_reason: Option<VoidReason>,
    },
    /// Something that was taken from a block was given back to it.
    Amendment,
}

/// What an entry is, in one word: what lists are filtered by.
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

/// Whether an entry can still grow (wire 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryStatus {
    /// It never changes. Where the clocks of two processes differ, the one that is ahead says so of a
    /// day's entry a moment early.
    Committed,
    /// What usage takes of its block is added to it, until the day of the customer ends or an entry
    /// follows that is not usage.
    Pending,
}

/// Why something was made void (wire 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VoidReason {
    /// The customer got its money back.
    Refund,
}

/// The block that an entry moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntryBlock {
    /// Its id.
    pub id: CreditBlockId,
    /// When it expires, if ever.
    pub expiry_date: Option<Timestamp>,
    /// What the customer paid for one of them.
    pub per_unit_cost_basis: Option<Decimal>,
}

impl EntryType {
    /// Returns it in one word.
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
        }
    }
}

/// An entry as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Booked {
    pub(crate) entry: LedgerEntry,
    /// When it is committed, of one that is pending: nothing has to be written for that.
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
