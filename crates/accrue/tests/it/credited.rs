//! Ledgers of credits, and what they tell, as short as tests like it.

use accrue::{
    CreditBlockFilter, CustomerId, Decimal, Error, LedgerFilter, PageRequest,
    alert::{Alert, BalanceCrossed, NewBalanceAlert},
    credit::{CreditBlock, LedgerChange, LedgerEntry, NewLedgerEntry},
};

use crate::{
    fixture::{Fixture, at, block_on, number, run, thresholds},
    priced::{Priced, cause, priced, unit},
};

/// What the tests' ledgers are in, where they are in nothing else.
pub(crate) const CREDITS: &str = "credits";

/// A customer `ada` whose use of the sum of `n` costs one credit each, with no ledger yet.
pub(crate) fn credited() -> Priced {
    priced(|fixture, metric| {
        let mut price = fixture.usage_at("1", metric);
        price.currency = unit(CREDITS);
        [price]
    })
}

/// The same, with this many credits.
pub(crate) fn credited_with(amount: &str) -> Priced {
    let priced = credited();
    priced.give(amount);
    priced.fixture.messages();
    priced
}

/// An entry that a test adds.
pub(crate) fn entry(change: LedgerChange) -> NewLedgerEntry {
    NewLedgerEntry::new(unit(CREDITS), change)
}

pub(crate) fn increment(amount: &str) -> NewLedgerEntry {
    NewLedgerEntry::increment(unit(CREDITS), number(amount))
}

pub(crate) fn decrement(amount: &str) -> NewLedgerEntry {
    NewLedgerEntry::decrement(unit(CREDITS), number(amount))
}

pub(crate) fn expiring(amount: &str, expiry: &str) -> NewLedgerEntry {
    NewLedgerEntry::expiring(unit(CREDITS), number(amount), at(expiry))
}

pub(crate) fn dropped(values: &[&str]) -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_dropped(unit(CREDITS), thresholds(values))
}

pub(crate) fn depleted() -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_depleted(unit(CREDITS))
}

pub(crate) fn recovered() -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_recovered(unit(CREDITS))
}

impl Priced {
    pub(crate) fn give(&self, amount: &str) -> LedgerEntry {
        self.book(increment(amount)).unwrap()
    }

    pub(crate) fn give_until(&self, amount: &str, expiry: &str) -> LedgerEntry {
        self.book(expiring(amount, expiry)).unwrap()
    }

    pub(crate) fn book(&self, new: NewLedgerEntry) -> Result<LedgerEntry, Error> {
        run(self.fixture.account.create_ledger_entry(self.customer, new))
    }

    pub(crate) fn watch(&self, new: NewBalanceAlert) -> Alert {
        run(self.fixture.account.create_customer_alert(self.customer, new)).unwrap()
    }

    pub(crate) fn balance(&self) -> Option<String> {
        let credits = unit(CREDITS);
        let balance = self.fixture.account.credit_balance(self.customer, &credits);
        block_on(balance).unwrap().balance.as_ref().map(Decimal::to_string)
    }

    /// The blocks with something left, oldest first.
    pub(crate) fn blocks(&self) -> Vec<CreditBlock> {
        self.fixture.blocks(self.customer, CreditBlockFilter::default())
    }

    /// All blocks, oldest first, as `balance` of `what was given`.
    pub(crate) fn all_blocks(&self) -> Vec<String> {
        let filter = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
        let blocks = self.fixture.blocks(self.customer, filter);
        let show = |block: &CreditBlock| match &block.maximum_initial_balance {
            Some(given) => format!("{} of {given}", block.balance),
            None => format!("{} overdrawn", block.balance),
        };
        blocks.iter().map(show).collect()
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        self.fixture.entries(self.customer, LedgerFilter::default())
    }

    /// The entries, oldest first, as `kind amount = ending balance`.
    pub(crate) fn ledger(&self) -> Vec<String> {
        let show = |entry: &LedgerEntry| {
            let kind = entry.entry_type.kind().name();
            format!("{kind} {} = {}", entry.amount, entry.ending_balance)
        };
        self.entries().iter().map(show).collect()
    }
}

impl Fixture {
    pub(crate) fn blocks(
        &self,
        customer: CustomerId,
        filter: CreditBlockFilter,
    ) -> Vec<CreditBlock> {
        let (mut all, mut page) = (Vec::new(), PageRequest::first(3).unwrap());
        loop {
            let credits = unit(CREDITS);
            let list = self.account.list_credit_blocks(customer, &credits, filter, &page);
            let found = block_on(list).unwrap();
            all.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        all.reverse();
        all
    }

    pub(crate) fn entries(&self, customer: CustomerId, filter: LedgerFilter) -> Vec<LedgerEntry> {
        let (mut all, mut page) = (Vec::new(), PageRequest::first(3).unwrap());
        loop {
            let credits = unit(CREDITS);
            let list = self.account.list_ledger_entries(customer, &credits, filter.clone(), &page);
            let found = block_on(list).unwrap();
            all.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        all.reverse();
        all
    }
}

/// What a test reads of an alert on a balance: `kind thresholds: before -> after by cause`.
pub(crate) fn describe(crossed: &BalanceCrossed) -> String {
    let kind = crossed.alert.condition.alert_type().trim_start_matches("credit_balance_");
    let thresholds: Vec<_> = crossed.thresholds.iter().map(Decimal::to_string).collect();
    let before = crossed.value_before.as_ref().map_or("none".to_owned(), Decimal::to_string);
    let words: Vec<_> = [kind.to_owned(), thresholds.join(" ")].into();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let (after, cause) = (&crossed.value_after, cause(&crossed.cause));
    format!("{}: {before} -> {after} by {cause}", words.join(" "))
}
