use super::{Book, Booked, LedgerEntry, NewLedgerEntry};
use crate::{
    CreditBlockId, Decimal, LedgerEntryId, PriceId, Timestamp,
    credit::{EntryBlock, EntryStatus, EntryType, Pending},
    limits,
    price::Cycle,
    subscription::{BillingAnchor, BillingPeriods},
};

/// Content of an entry, but for its place in the ledger.
pub(super) struct Draft<'a> {
    pub(super) entry_type: EntryType,
    pub(super) amount: Decimal,
    pub(super) block_id: CreditBlockId,
    /// Request of the caller, in whose words the entry speaks.
    pub(super) asked: Option<&'a NewLedgerEntry>,
}

/// Usage of a price, to which usage is still added.
struct Usage {
    price_id: PriceId,
    until: Timestamp,
}

/// How an entry is entered.
enum How {
    Booked,
    Usage(Usage),
    Unpaid,
}

impl Book {
    pub(super) const fn next_number(&self) -> u64 {
        self.ledger.entries.saturating_add(1)
    }

    /// Returns the parts from which the id of a thing of this ledger is derived.
    pub(super) fn names<'a>(&'a self, word: &'a [u8], number: &'a [u8]) -> [&'a [u8]; 4] {
        let Self { ledger, .. } = self;
        [word, ledger.customer_id.as_bytes(), ledger.currency.as_bytes(), number]
    }

    /// Appends an entry that is not usage: it commits those that are pending.
    pub(super) fn append(&mut self, draft: Draft<'_>, at: Timestamp) -> &LedgerEntry {
        self.commit_pending(at);
        self.enter(draft, at, How::Booked)
    }

    /// Appends the entry of a block that waits for its payment: it has a number, and moves nothing.
    pub(super) fn append_unpaid(&mut self, draft: Draft<'_>, at: Timestamp) -> &LedgerEntry {
        self.commit_pending(at);
        self.ledger.apart = self.ledger.apart.saturating_add(1);
        self.enter(draft, at, How::Unpaid)
    }

    /// Books an amount that usage of a price has taken from a block: with what it took of the same block
    /// on the same day where no entry has come between that is not usage.
    pub(super) fn append_usage(
        &mut self,
        block_id: CreditBlockId,
        price_id: PriceId,
        taken: Decimal,
        at: Timestamp,
    ) {
        let amount = -taken;
        let is_own = |of: &&Pending| of.block_id == block_id && of.price_id == Some(price_id);
        if let Some(Pending { number, .. }) = self.ledger.pending.iter().rev().find(is_own).copied()
        {
            return self.grow(number, amount);
        }
        if self.ledger.pending.len() == limits::PENDING_ENTRIES {
            let Pending { number, .. } = self.ledger.pending.remove(0);
            self.commit(number);
        }
        let number = self.next_number();
        let draft = Draft { entry_type: EntryType::Decrement, amount, block_id, asked: None };
        self.enter(draft, at, How::Usage(Usage { price_id, until: self.ledger.day_end }));
        let price_id = Some(price_id);
        self.ledger.pending.push(Pending { block_id, price_id, number });
    }

    /// Begins the customer's day that holds an instant, if it has not begun yet: entries of the one
    /// before have been committed by its end.
    pub(super) fn begin_day(&mut self, at: Timestamp) {
        // The day's first entry was made at an instant of it, and none lies before the last entry:
        // what is before the end is after the beginning.
        if at < self.ledger.day_end {
            return;
        }
        self.ledger.pending.clear();
        let (day, midnight) = (Cycle::Days(1), BillingAnchor::FirstOfMonth);
        let days = BillingPeriods::new(day, midnight, self.ledger.timezone.clone(), at, None);
        self.ledger.day_end = days.first().map_or(Timestamp::MAX, |day| day.end());
    }

    /// Adds to a pending entry: those behind it, which are pending too, start that much elsewhere.
    fn grow(&mut self, number: u64, amount: Decimal) {
        for (behind, Booked { entry, .. }) in self.entries.range_mut(number..) {
            let moved =
                if *behind == number { &mut entry.amount } else { &mut entry.starting_balance };
            *moved += amount.clone();
            entry.ending_balance += amount.clone();
            self.moved_entries.insert(*behind);
        }
        self.ledger.balance += amount;
    }

    /// Commits the pending entries. Those whose day has ended are committed as they stand.
    fn commit_pending(&mut self, at: Timestamp) {
        let is_over = self.ledger.day_end <= at;
        for Pending { number, .. } in std::mem::take(&mut self.ledger.pending) {
            if !is_over {
                self.commit(number);
            }
        }
    }

    fn commit(&mut self, number: u64) {
        let Some(booked) = self.entries.get_mut(&number) else { return };
        booked.entry.entry_status = EntryStatus::Committed;
        booked.pending_until = None;
        self.moved_entries.insert(number);
    }

    fn enter(&mut self, draft: Draft<'_>, at: Timestamp, how: How) -> &LedgerEntry {
        let Draft { entry_type, amount, block_id, asked } = draft;
        let number = self.next_number();
        let starting_balance = self.ledger.balance.clone();
        if !matches!(how, How::Unpaid) {
            self.ledger.balance += amount.clone();
        }
        self.ledger.entries = number;
        self.ledger.latest = at;
        let (status, usage) = match how {
            How::Booked => (EntryStatus::Committed, None),
            How::Usage(usage) => (EntryStatus::Pending, Some(usage)),
            How::Unpaid => (EntryStatus::Pending, None),
        };
        let entry = LedgerEntry {
            id: LedgerEntryId::derived(at, &self.names(b"entry", &number.to_be_bytes())),
            ledger_sequence_number: number,
            customer_id: self.ledger.customer_id,
            currency: self.ledger.currency.clone(),
            entry_type,
            entry_status: status,
            amount,
            starting_balance,
            ending_balance: self.ledger.balance.clone(),
            credit_block: self.face(block_id),
            price_id: usage.as_ref().map(|usage| usage.price_id),
            description: asked.and_then(|asked| asked.description.clone()),
            metadata: asked.map(|asked| asked.metadata.clone()).unwrap_or_default(),
            created_at: at,
            created_invoices: Vec::new(),
        };
        self.moved_entries.insert(number);
        let pending_until = usage.map(|usage| usage.until);
        &self.entries.entry(number).or_insert(Booked { entry, pending_until }).entry
    }

    /// Returns a block as an entry shows it.
    fn face(&self, id: CreditBlockId) -> EntryBlock {
        let found = self.blocks.get(&id).map(|block| EntryBlock::from(&block.block));
        found.unwrap_or(EntryBlock {
            id,
            expiry_date: None,
            per_unit_cost_basis: None,
            filters: Vec::new(),
        })
    }
}
