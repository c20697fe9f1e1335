//! A ledger to try things on.

use super::{shelf::Shelf, *};
use crate::credit::EntryStatus;

/// A ledger whose entries are made at hours of the first days of March 2026.
pub(super) struct Desk {
    pub(super) book: Book,
    pub(super) drawn: Drawn,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { book: empty(), drawn: Drawn::default() }
    }

    pub(super) fn book(&mut self, at: i64, change: LedgerChange) -> Result<LedgerEntry, Error> {
        let booked = self.book.book(&entry(change), hour(at));
        check_ledger(&self.rows());
        booked
    }

    /// Gives a block, and returns it.
    pub(super) fn give(&mut self, at: i64, amount: i64, expiry: Option<i64>) -> CreditBlockId {
        self.book(at, increment(amount, None, expiry, None)).unwrap().credit_block.id
    }

    pub(super) fn draw(&mut self, at: i64, amount: i64) {
        self.book.draw(&[more(0, credits(amount))], &mut self.drawn, hour(at));
        check_ledger(&self.rows());
    }

    /// Gives back what the usage costs less.
    pub(super) fn give_back(&mut self, at: i64, amount: i64) {
        let mut returned = Returned::default();
        self.book.hand_back(&[more(0, -credits(amount))], &mut self.drawn, &mut returned);
        self.book.book_returned(returned, hour(at));
        check_ledger(&self.rows());
    }

    pub(super) fn rows(&self) -> Shelf {
        let mut rows = Shelf::new();
        rows.save(&self.book);
        rows
    }

    /// Returns what is left of a block.
    pub(super) fn left(&self, id: CreditBlockId) -> Decimal {
        self.book.blocks[&id].block.balance.clone()
    }

    pub(super) fn overdraft(&self) -> CreditBlockId {
        self.book.ledger.overdraft.unwrap()
    }

    /// Lists kinds and amounts from an entry on.
    pub(super) fn entries(&self, from: u64) -> Vec<(EntryKind, Decimal)> {
        let entries = self.book.entries.range(from..).map(|(_, booked)| &booked.entry);
        entries.map(|entry| (entry.entry_type.kind(), entry.amount.clone())).collect()
    }

    pub(super) fn statuses(&self, at: i64) -> Vec<EntryStatus> {
        self.rows().shown(hour(at)).iter().map(|entry| entry.entry_status).collect()
    }
}

pub(super) fn increment(
    amount: i64,
    effective: Option<i64>,
    expiry: Option<i64>,
    basis: Option<i64>,
) -> LedgerChange {
    LedgerChange::Increment(NewBlock {
        amount: credits(amount),
        effective_date: effective.map(hour),
        expiry_date: expiry.map(hour),
        per_unit_cost_basis: basis.map(|basis| credits(basis).into()),
        filters: Vec::new(),
        invoice: None,
    })
}

pub(super) fn void(block_id: CreditBlockId, amount: i64) -> LedgerChange {
    LedgerChange::Void { amount: credits(amount), block_id, void_reason: None }
}

pub(super) fn amendment(block_id: CreditBlockId, amount: i64) -> LedgerChange {
    LedgerChange::Amendment { amount: credits(amount), block_id }
}

pub(super) fn change(
    block_id: Option<CreditBlockId>,
    expiry: Option<i64>,
    target: i64,
) -> LedgerChange {
    LedgerChange::ExpirationChange {
        target_expiry_date: hour(target),
        amount: None,
        block_id,
        expiry_date: expiry.map(hour),
    }
}

#[track_caller]
pub(super) fn check_refused(found: Result<LedgerEntry, Error>, expect: &str) {
    let error = found.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert!(error.to_string().contains(expect), "{error}");
}
