//! The rows of a ledger, as the engine keeps them.

use super::*;
use crate::credit::EntryStatus;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shelf {
    pub(super) ledger: Ledger,
    pub(super) blocks: BTreeMap<CreditBlockId, Block>,
    pub(super) entries: BTreeMap<u64, Booked>,
}

impl Shelf {
    pub(super) fn new() -> Self {
        let ledger = Ledger::new(customer(), unit(), zone());
        Self { ledger, blocks: BTreeMap::new(), entries: BTreeMap::new() }
    }

    /// Opens the ledger with no more rows than it takes.
    pub(super) fn open(&self) -> Book {
        let ledger = self.ledger.clone();
        let blocks = ledger.open.iter().chain(&ledger.overdraft);
        let blocks = blocks.map(|id| self.blocks[id].clone()).collect();
        let pending = ledger.pending.iter();
        let pending = pending.map(|pending| self.entries[&pending.number].clone()).collect();
        Book::open(ledger, blocks, pending)
    }

    /// Saves what has moved.
    pub(super) fn save(&mut self, book: &Book) {
        let (blocks, entries) = book.moved();
        for block in blocks {
            self.blocks.insert(block.block.id, block.clone());
        }
        for booked in entries {
            self.entries.insert(booked.entry.ledger_sequence_number, booked.clone());
        }
        self.ledger = book.ledger().clone();
    }

    /// Checks that the book knows what there was when it was opened.
    pub(super) fn check_new(&self, book: &Book) {
        let (blocks, entries) = book.moved();
        for block in blocks {
            assert_eq!(book.is_new_block(block), !self.blocks.contains_key(&block.block.id));
        }
        for booked in entries {
            let number = booked.entry.ledger_sequence_number;
            assert_eq!(book.is_new(booked), !self.entries.contains_key(&number));
        }
    }

    /// Returns the entries as they stand at an instant.
    pub(super) fn shown(&self, now: Timestamp) -> Vec<LedgerEntry> {
        self.entries.values().map(|booked| booked.clone().at(now)).collect()
    }

    /// Returns those that never change again.
    pub(super) fn committed(&self, now: Timestamp) -> Vec<LedgerEntry> {
        let is_committed = |entry: &LedgerEntry| entry.entry_status == EntryStatus::Committed;
        self.shown(now).into_iter().filter(is_committed).collect()
    }

    /// Returns the block that an entry made.
    pub(super) fn numbered(&self, number: u64) -> CreditBlockId {
        let found = self.blocks.values().find(|block| block.number == number);
        found.unwrap().block.id
    }

    pub(super) fn number(&self, id: CreditBlockId) -> u64 {
        self.blocks[&id].number
    }
}
