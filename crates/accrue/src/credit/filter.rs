use super::{EntryKind, EntryStatus, LedgerEntry};
use crate::{Decimal, InstantRange};

/// Filter of a list of credit blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditBlockFilter {
    /// Range of the instants from which usage draws on them. An overdraft has no such instant.
    pub effective: InstantRange,
    /// True if blocks that have expired or are used up, and the overdraft, are listed too.
    pub include_all_blocks: bool,
}

/// Filter of the entries of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// Range of the instants at which they were created: for a pending entry, the one at which it
    /// began.
    pub created: InstantRange,
    /// Kind of the entries.
    pub entry_type: Option<EntryKind>,
    /// Status of the entries: whether they can still grow.
    pub entry_status: Option<EntryStatus>,
    /// Least amount that they moved: of the balance, up or down, or of a block.
    pub minimum_amount: Option<Decimal>,
}

impl LedgerFilter {
    /// Tells whether an entry is among them.
    pub(crate) fn lists(&self, entry: &LedgerEntry) -> bool {
        let least = self.minimum_amount.as_ref();
        self.entry_status.is_none_or(|status| status == entry.entry_status)
            && self.entry_type.is_none_or(|kind| kind == entry.entry_type.kind())
            && self.created.contains(entry.created_at)
            && least.is_none_or(|least| *least <= entry.moved().abs())
    }
}
