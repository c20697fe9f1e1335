use super::{EntryKind, EntryStatus, LedgerEntry};
use crate::{Decimal, InstantRange};

/// Which blocks of a list of credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditBlockFilter {
    /// From when on usage draws on them. An overdraft has no such instant.
    pub effective: InstantRange,
    /// Whether those are listed too that have expired or are used up, and the overdraft.
    pub include_all_blocks: bool,
}

/// Which entries of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// When they were created: of one that is pending, when it began.
    pub created: InstantRange,
    /// What they are.
    pub entry_type: Option<EntryKind>,
    /// Whether they can still grow.
    pub entry_status: Option<EntryStatus>,
    /// By how much they moved the balance at least, up or down.
    pub minimum_amount: Option<Decimal>,
}

impl LedgerFilter {
    /// Tells whether an entry is among them.
    pub(crate) fn lists(&self, entry: &LedgerEntry) -> bool {
        let least = self.minimum_amount.as_ref();
        self.entry_status.is_none_or(|status| status == entry.entry_status)
            && self.entry_type.is_none_or(|kind| kind == entry.entry_type.kind())
            && self.created.contains(entry.created_at)
            && least.is_none_or(|least| *least <= entry.amount.abs())
    }
}
