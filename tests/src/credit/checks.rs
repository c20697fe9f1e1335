//! What of the engine is held against the bank.

use std::collections::BTreeMap;

use accrue::credit::{CreditBlockFilter, LedgerFilter};
use accrue::{
    PageRequest,
    alert::{BalanceCrossed, Cause as EngineCause},
    credit::{CreditBlock, EntryStatus, EntryType, LedgerEntry},
    webhook,
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    Bench, Block, Body, Cause, Entry, EntryKind, Kind, Ledger, Message, Place, UNITS, changes::unit,
};
use crate::{bill, model::At, world::big};

// Ledgers.

impl Bench {
    /// Compares the balances, the blocks and the entries of all ledgers.
    pub(super) fn check_ledgers(&mut self) {
        for customer in 0..self.bill.customers.len() {
            for unit in UNITS {
                self.learn_blocks((customer, unit));
                self.check_ledger((customer, unit));
            }
        }
    }

    fn check_ledger(&mut self, place: Place) {
        let ledger = self.bank.ledgers.get(&place).cloned().unwrap_or_default();
        let now = self.bank.now;
        let found = block_on(
            self.bill.host.account.credit_balance(self.bill.customers[place.0], &unit(place)),
        );
        let found = found.unwrap();
        let expected = self.bank.balance(place);
        assert_eq!(found.balance.as_ref().map(big), expected, "the balance of {place:?}");
        assert_eq!(big(&found.available), ledger.available(now), "available of {place:?}");
        assert_eq!(big(&found.overdraft), ledger.overdrawn(), "the overdraft of {place:?}");

        let entries = self.entries(place);
        let amounts = entries.iter().map(|entry| (entry.entry_type.kind(), big(&entry.amount)));
        let amounts: Vec<_> = amounts.collect();
        let expected_entries = &ledger.entries;
        assert_eq!(amounts.len(), expected_entries.len(), "{amounts:?}, and {expected_entries:#?}");
        let mut balance = BigDecimal::default();
        for (index, entry) in entries.iter().enumerate() {
            self.check_entry(place, index, entry);
            assert_eq!(big(&entry.starting_balance), balance, "a chain: {entry:?}");
            balance += big(&entry.amount);
            assert_eq!(big(&entry.ending_balance), balance, "a chain: {entry:?}");
            let known = self.committed.get(&entry.id);
            assert!(known.is_none_or(|known| known == entry), "{known:?} became {entry:?}");
            if entry.entry_status == EntryStatus::Committed {
                self.committed.insert(entry.id, entry.clone());
            }
        }

        let all = self.check_blocks(place, &ledger, true);
        let open = self.check_blocks(place, &ledger, false);
        let is_there = |block: &At| ledger.blocks[*block].instead.is_none();
        let there: Vec<_> = (0..ledger.blocks.len()).filter(is_there).collect();
        assert_eq!(all, there, "all blocks of {place:?}");
        assert_eq!(open, ledger.open(now), "the open blocks of {place:?}");
        let sum: BigDecimal = ledger.blocks.iter().map(|block| &block.balance).sum();
        assert_eq!(sum, expected.unwrap_or_default(), "the blocks of the bank add up");
    }

    /// Learns the ids of the blocks that the entries name, in the order of the bank.
    pub(super) fn learn_blocks(&mut self, place: Place) {
        let Some(ledger) = self.bank.ledgers.get(&place) else { return };
        if self.blocks.get(&place).is_some_and(|known| known.len() == ledger.blocks.len()) {
            return;
        }
        let mut found = BTreeMap::new();
        for (entry, expected) in self.entries(place).iter().zip(&ledger.entries) {
            found.entry(expected.block).or_insert(entry.credit_block.id);
            if let (
                EntryKind::ExpirationChange { to, .. },
                EntryType::ExpirationChange { new_block_id, .. },
            ) = (&expected.kind, &entry.entry_type)
            {
                found.entry(*to).or_insert(*new_block_id);
            }
        }
        self.blocks.insert(place, found.into_values().collect());
    }

    /// All entries, the first one first.
    fn entries(&self, place: Place) -> Vec<LedgerEntry> {
        let (account, customer) = (&self.bill.host.account, self.bill.customers[place.0]);
        let mut page = PageRequest::first_of_ledger(50).unwrap();
        let (unit, mut all) = (unit(place), Vec::new());
        loop {
            let filter = LedgerFilter::default();
            let found = account.list_ledger_entries(customer, &unit, &filter, &page);
            let found = block_on(found).unwrap();
            all.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        all.sort_by_key(|entry| entry.ledger_sequence_number);
        all
    }

    pub(super) fn check_entry(&self, place: Place, index: At, found: &LedgerEntry) {
        let ledger = &self.bank.ledgers[&place];
        let Entry { kind, amount, block, at, is_pending, price } = &ledger.entries[index];
        let of = &ledger.blocks[*block];
        let number = u64::try_from(index + 1).unwrap();
        let what = format!("entry {number} of {place:?}: {found:#?}");
        assert_eq!(found.ledger_sequence_number, number, "{what}");
        assert_eq!(found.customer_id, self.bill.customers[place.0], "{what}");
        assert_eq!(found.currency, unit(place), "{what}");
        assert_eq!(big(&found.amount), *amount, "{what}");
        assert_eq!(found.entry_status == EntryStatus::Pending, *is_pending, "{what}");
        assert_eq!(found.created_at.micros(), *at, "{what}");
        assert_eq!(found.credit_block.id, self.block(place, *block), "{what}");
        assert_eq!(found.credit_block.expiry_date.map(|at| at.micros()), of.expiry, "{what}");
        let basis =
            found.credit_block.per_unit_cost_basis.as_ref().map(|basis| big(basis.number()));
        assert_eq!(basis, of.basis, "{what}");
        let price = price.map(|(plan, index)| self.bill.price(plan, index));
        assert_eq!(found.price_id, price, "{what}");
        let is_same = match (&found.entry_type, kind) {
            (EntryType::Increment, EntryKind::Increment)
            | (EntryType::Decrement, EntryKind::Decrement)
            | (EntryType::CreditBlockExpiry, EntryKind::Expiry)
            | (EntryType::Amendment, EntryKind::Amendment) => true,
            (
                EntryType::ExpirationChange { moved, new_block_id, new_block_expiry_date },
                EntryKind::ExpirationChange { moved: expected, to },
            ) => {
                big(moved) == *expected
                    && *new_block_id == self.block(place, *to)
                    && Some(new_block_expiry_date.micros()) == ledger.blocks[*to].expiry
            }
            (EntryType::VoidInitiated { void_amount, .. }, EntryKind::VoidInitiated(expected))
            | (EntryType::Void { void_amount, .. }, EntryKind::Void(expected)) => {
                big(void_amount) == *expected
            }
            _ => false,
        };
        assert!(is_same, "{kind:?} is {what}");
    }

    /// Compares the blocks of a list; says which they are.
    fn check_blocks(&self, place: Place, ledger: &Ledger, all: bool) -> Vec<At> {
        let (account, customer) = (&self.bill.host.account, self.bill.customers[place.0]);
        let filter = CreditBlockFilter { include_all_blocks: all, ..Default::default() };
        let mut page = PageRequest::first(7).unwrap();
        let (unit, mut found) = (unit(place), Vec::new());
        loop {
            let list = account.list_credit_blocks(customer, &unit, &filter, &page);
            let list = block_on(list).unwrap();
            found.extend(list.data);
            let Some(next) = list.next_cursor else { break };
            page = page.after(next);
        }
        assert!(found.is_sorted_by(|a, b| a.created_at >= b.created_at), "newest first");
        let mut places: Vec<_> =
            found.iter().map(|block| self.check_block(place, ledger, block)).collect();
        places.sort_unstable();
        places
    }

    fn check_block(&self, place: Place, ledger: &Ledger, found: &CreditBlock) -> At {
        let ids = self.blocks.get(&place).map(Vec::as_slice).unwrap_or_default();
        let index = ids.iter().position(|id| *id == found.id);
        let index = index.unwrap_or_else(|| panic!("{found:?} of {place:?} is not known"));
        let Block { balance, given, effective, expiry, basis, created, .. } = &ledger.blocks[index];
        let what = format!("block {index} of {place:?}: {found:#?}");
        assert_eq!(big(&found.balance), *balance, "{what}");
        assert_eq!(found.maximum_initial_balance.as_ref().map(big), *given, "{what}");
        let effective = given.as_ref().map(|_| *effective);
        assert_eq!(found.effective_date.map(|at| at.micros()), effective, "{what}");
        assert_eq!(found.expiry_date.map(|at| at.micros()), *expiry, "{what}");
        assert_eq!(
            found.per_unit_cost_basis.as_ref().map(|basis| big(basis.number())),
            *basis,
            "{what}"
        );
        assert_eq!(found.created_at.micros(), *created, "{what}");
        assert_eq!(found.is_overdraft(), given.is_none(), "{what}");
        let fetched = block_on(self.bill.host.account.fetch_credit_block(found.id));
        assert_eq!(fetched.unwrap(), *found);
        index
    }
}

// Messages.

impl Bench {
    /// Compares the messages of each subscription and of each ledger, and the order of those that an
    /// event brings.
    pub(super) fn check_messages(&self) {
        let told = self.bill.host.drain();
        self.bill.check_messages(&told);
        let mut found = BTreeMap::<Place, Vec<Message>>::new();
        for message in told.iter().filter_map(|message| self.to_bank(message)) {
            found.entry(message.place).or_default().push(message);
        }
        for customer in 0..self.bill.customers.len() {
            for place in UNITS.map(|unit| (customer, unit)) {
                let of_place = |message: &&Message| message.place == place;
                let expected: Vec<_> =
                    self.bank.messages.iter().filter(of_place).cloned().collect();
                let found = found.remove(&place).unwrap_or_default();
                assert_eq!(found, expected, "the messages of {place:?}");
            }
            self.check_order(customer, &told);
        }
    }

    /// Within an event: usage, cost, then what it does to each ledger.
    fn check_order(&self, customer: At, told: &[webhook::Message]) {
        let id = self.bill.customers[customer];
        let is_own = |message: &&webhook::Message| {
            message.customer.as_ref().is_some_and(|customer| customer.id == id)
        };
        let found: Vec<_> = told.iter().filter(is_own).filter_map(of_event).collect();
        let of_customer = |of: &&crate::model::Event| of.customer == customer;
        let mut expected = Vec::new();
        for event in self.bill.biller.events.iter().filter(of_customer) {
            let on_lives =
                self.bill.biller.messages.iter().filter_map(|message| match &message.body {
                    bill::Body::Exceeded { alert, cause: bill::Cause::Event(key, _), .. } => {
                        Some((key, *alert))
                    }
                    _ => None,
                });
            for (_, alert) in on_lives.filter(|(key, _)| **key == event.key) {
                let kind = match self.bill.biller.alerts[alert].condition {
                    bill::Condition::Usage(_) => "subscription.usage_exceeded",
                    bill::Condition::Cost(_) => "subscription.cost_exceeded",
                    bill::Condition::Spend(..) => "subscription.spend_exceeded",
                    bill::Condition::Groups(..) => "subscription.grouped_cost_exceeded",
                };
                expected.push((event.key.clone(), kind));
            }
            for message in &self.bank.messages {
                if let Body::Crossed { alert, cause: Cause::Event(key, _), .. } = &message.body
                    && *key == event.key
                {
                    expected.push((key.clone(), self.bank.alerts[*alert].kind.message_type()));
                }
            }
        }
        assert_eq!(found, expected, "the order of messages of customer {customer}");
    }

    fn to_bank(&self, message: &webhook::Message) -> Option<Message> {
        let customer = message.customer.as_ref()?.id;
        let customer = self.bill.customers.iter().position(|id| *id == customer)?;
        let at = message.created_at.micros();
        let (place, body) = match &message.body {
            webhook::Body::CreditLedgerIncremented { block } => {
                let place = (customer, known_unit(&block.currency));
                let ids = &self.blocks[&place];
                let block = ids.iter().position(|id| *id == block.id).unwrap();
                (place, Body::Incremented { block })
            }
            webhook::Body::CreditBalanceDropped(of)
            | webhook::Body::CreditBalanceDepleted(of)
            | webhook::Body::CreditBalanceRecovered(of) => {
                let alert = self.alerts.iter().position(|id| *id == of.alert.id).unwrap();
                let watching = &self.bank.alerts[alert];
                assert_eq!(watching.place.0, customer);
                assert_eq!(message.message_type(), watching.kind.message_type());
                (watching.place, self.crossed(alert, of))
            }
            _ => return None,
        };
        Some(Message { at, place, body })
    }

    fn crossed(&self, alert: At, of: &BalanceCrossed) -> Body {
        let place = self.bank.alerts[alert].place;
        let mut thresholds: Vec<_> =
            of.thresholds.iter().map(|threshold| big(threshold).normalized()).collect();
        thresholds.sort();
        let smallest = thresholds.first().cloned();
        assert_eq!(of.threshold.as_ref().map(|value| big(value).normalized()), smallest, "{of:?}");
        let cause = match &of.cause {
            EngineCause::Event { idempotency_key, timestamp } => {
                Cause::Event(idempotency_key.to_string(), timestamp.micros())
            }
            EngineCause::Configuration { alert_id } => {
                assert_eq!(*alert_id, of.alert.id);
                Cause::Configuration
            }
            EngineCause::Subscription { subscription_id } => {
                let mut lives = self.bill.lives.iter();
                Cause::Subscription(lives.position(|id| id == subscription_id).unwrap())
            }
            EngineCause::Credit { entry_id } => {
                let entries = self.entries(place);
                Cause::Credit(entries.iter().position(|entry| entry.id == *entry_id).unwrap())
            }
            EngineCause::Expiry { block_id } => {
                let ids = &self.blocks[&place];
                Cause::Expiry(ids.iter().position(|id| id == block_id).unwrap())
            }
            other => panic!("{other:?} is no cause of a balance"),
        };
        let (before, after) = (of.value_before.as_ref().map(big), big(&of.value_after));
        Body::Crossed { alert, before, after, thresholds, cause }
    }
}

impl Kind {
    const fn message_type(self) -> &'static str {
        match self {
            Self::Dropped => "customer.credit_balance_dropped",
            Self::Depleted => "customer.credit_balance_depleted",
            Self::Recovered => "customer.credit_balance_recovered",
        }
    }
}

/// The key of the event that a message comes of, and its type.
fn of_event(message: &webhook::Message) -> Option<(String, &'static str)> {
    let cause = match &message.body {
        webhook::Body::UsageExceeded(of)
        | webhook::Body::CostExceeded(of)
        | webhook::Body::SpendExceeded(of) => &of.cause,
        webhook::Body::CreditBalanceDropped(of)
        | webhook::Body::CreditBalanceDepleted(of)
        | webhook::Body::CreditBalanceRecovered(of) => &of.cause,
        _ => return None,
    };
    match cause {
        EngineCause::Event { idempotency_key, .. } => {
            Some((idempotency_key.to_string(), message.message_type()))
        }
        _ => None,
    }
}

fn known_unit(unit: &str) -> &'static str {
    UNITS.into_iter().find(|known| *known == unit).unwrap()
}
