//! Ledgers of credits, and what they tell, as short as tests like it.

use accrue::{
    CreditBlockId, CustomerId, Decimal, Error, Page, PageRequest,
    alert::{Alert, BalanceCrossed, NewBalanceAlert},
    credit::{
        CreditBlock, CreditBlockFilter, EntryType, LedgerChange, LedgerEntry, LedgerFilter,
        NewBlock, NewLedgerEntry,
    },
    price::{Bulk, BulkTier, Charge, Model},
};

use crate::support::{
    fixture::{Fixture, at, block_on, event, number, run, thresholds},
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

/// A customer `ada` whose use costs one credit each, and half of that for all of it beyond 10.
pub(crate) fn volume() -> Priced {
    priced(|fixture, metric| {
        let mut price = fixture.usage_at("1", metric);
        price.currency = unit(CREDITS);
        let tier = |most: Option<&str>, amount| BulkTier::new(most.map(number), number(amount));
        let tiers = vec![tier(Some("10"), "1"), tier(None, "0.5")];
        price.charge =
            Charge::Usage { metric_id: metric.id, model: Model::Bulk(Bulk::new(tiers)) }.into();
        [price]
    })
}

/// The customer `ada` of [`credited`], with this many credits.
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

/// A block with all its terms; those that are empty are not given.
pub(crate) fn block(amount: &str, effective: &str, expiry: &str, basis: &str) -> NewLedgerEntry {
    let date = |text: &str| (!text.is_empty()).then(|| at(text));
    entry(LedgerChange::Increment(NewBlock {
        amount: number(amount),
        effective_date: date(effective),
        expiry_date: date(expiry),
        per_unit_cost_basis: (!basis.is_empty()).then(|| number(basis).into()),
        filters: Vec::new(),
        invoice: None,
    }))
}

pub(crate) fn void(amount: &str, block_id: CreditBlockId) -> NewLedgerEntry {
    entry(LedgerChange::Void { amount: number(amount), block_id, void_reason: None })
}

pub(crate) fn amendment(amount: &str, block_id: CreditBlockId) -> NewLedgerEntry {
    entry(LedgerChange::Amendment { amount: number(amount), block_id })
}

/// Another expiry date for all that is left of a block.
pub(crate) fn extension(block_id: CreditBlockId, target: &str) -> NewLedgerEntry {
    entry(LedgerChange::ExpirationChange {
        target_expiry_date: at(target),
        amount: None,
        block_id: Some(block_id),
        expiry_date: None,
    })
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

    /// What there is, as `balance: available, overdraft`.
    pub(crate) fn standing(&self) -> String {
        self.fixture.standing(self.customer, CREDITS)
    }

    /// Ingests one event of `ada` with another instant than now.
    pub(crate) fn use_at(&self, key: &str, timestamp: &str, n: &str) {
        run(self.fixture.account.ingest([event("ada", key, at(timestamp), n)])).unwrap();
    }

    /// The blocks with something left, oldest first.
    pub(crate) fn blocks(&self) -> Vec<CreditBlock> {
        self.fixture.blocks(self.customer, CreditBlockFilter::default())
    }

    /// All blocks, in the order in which the ledger names them.
    pub(crate) fn every_block(&self) -> Vec<CreditBlock> {
        let filter = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
        let mut blocks = self.fixture.blocks(self.customer, filter);
        let named = |entry: &LedgerEntry| match &entry.entry_type {
            EntryType::ExpirationChange { new_block_id, .. } => *new_block_id,
            _ => entry.credit_block.id,
        };
        let names: Vec<_> = self.entries().iter().map(named).collect();
        blocks.sort_by_key(|block| names.iter().position(|id| *id == block.id));
        blocks
    }

    /// All blocks, in that order, as `balance` of `what was given`.
    pub(crate) fn all_blocks(&self) -> Vec<String> {
        let show = |block: &CreditBlock| match &block.maximum_initial_balance {
            Some(given) => format!("{} of {given}", block.balance),
            None => format!("{} overdrawn", block.balance),
        };
        self.every_block().iter().map(show).collect()
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> Vec<LedgerEntry> {
        self.fixture.entries(self.customer, LedgerFilter::default())
    }

    /// The entries, oldest first, as `kind amount = ending balance`.
    pub(crate) fn ledger(&self) -> Vec<String> {
        self.entries().iter().map(show).collect()
    }
}

impl Fixture {
    /// Switches credits off or on.
    pub(crate) fn credits(&self, credits: bool) {
        let mut configuration = block_on(self.account.configuration()).unwrap();
        configuration.features.credits = credits;
        run(self.account.configure(configuration)).unwrap();
    }

    /// What a customer has of a currency or unit, as `balance: available, overdraft`.
    pub(crate) fn standing(&self, customer: CustomerId, currency: &str) -> String {
        let currency = unit(currency);
        let found = block_on(self.account.credit_balance(customer, &currency)).unwrap();
        assert_eq!(found.currency, currency);
        let balance = found.balance.as_ref().map_or("none".to_owned(), Decimal::to_string);
        format!("{balance}: {}, {}", found.available, found.overdraft)
    }

    pub(crate) fn blocks(
        &self,
        customer: CustomerId,
        filter: CreditBlockFilter,
    ) -> Vec<CreditBlock> {
        let credits = unit(CREDITS);
        oldest_first(|page| {
            block_on(self.account.list_credit_blocks(customer, &credits, &filter, page)).unwrap()
        })
    }

    pub(crate) fn entries(&self, customer: CustomerId, filter: LedgerFilter) -> Vec<LedgerEntry> {
        let credits = unit(CREDITS);
        oldest_first(|page| {
            block_on(self.account.list_ledger_entries(customer, &credits, &filter, page)).unwrap()
        })
    }
}

/// Everything of a list that gives the newest first, in small pages.
fn oldest_first<T>(list: impl Fn(&PageRequest) -> Page<T>) -> Vec<T> {
    let (mut all, mut page) = (Vec::new(), PageRequest::first(3).unwrap());
    loop {
        let found = list(&page);
        all.extend(found.data);
        let Some(next) = found.next_cursor else { break };
        page = page.after(next);
    }
    all.reverse();
    all
}

/// What a test reads of an entry: `kind amount = ending balance`.
pub(crate) fn show(entry: &LedgerEntry) -> String {
    format!("{} {} = {}", entry.entry_type.kind().name(), entry.amount, entry.ending_balance)
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
