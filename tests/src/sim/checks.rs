//! What is compared with the engine, as one that nothing befalls reads it.

use accrue::{
    BackfillId, PageRequest, PricingUnit, SubscriptionId,
    backfill::BackfillStatus,
    credit::{EntryKind, LedgerEntry, LedgerFilter},
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    model::{CUSTOMERS, FIRST},
    plan::ACCOUNTS,
    world::{World, account},
};
use crate::{corrected::State, model::At, world::big};

fn failed(error: impl std::fmt::Debug) -> String {
    format!("a read fails: {error:?}")
}

impl World {
    /// Compares the usage of the customers that were written.
    pub(super) fn check_touched(&mut self) -> Result<(), String> {
        for (of, customer) in std::mem::take(&mut self.touched) {
            self.check_customer(of, customer)?;
            for index in 0..self.tenants[of].subscriptions.len() {
                if self.tenants[of].subscriptions[index].customer == customer {
                    self.check_usage(of, index)?;
                }
            }
        }
        Ok(())
    }

    /// Compares what a customer is named.
    fn check_customer(&self, of: At, customer: At) -> Result<(), String> {
        let customer = &self.tenants[of].customers[customer];
        let Some(id) = &customer.id else { return Ok(()) };
        let id: accrue::CustomerId = id.parse().map_err(failed)?;
        let found = block_on(self.observer.account(account(of)).fetch_customer(id));
        let found = found.map_err(failed)?;
        match customer.names.last().map(String::as_str) == Some(found.name.as_str()) {
            true => Ok(()),
            false => Err(format!("{found:?} is named otherwise than {:?}", customer.names.last())),
        }
    }

    /// Compares the usage of a subscription by all metrics, the oldest first.
    fn check_usage(&self, of: At, index: At) -> Result<(), String> {
        let tenant = &self.tenants[of];
        let id: SubscriptionId = tenant.subscriptions[index].id.parse().map_err(failed)?;
        let found = block_on(self.observer.account(account(of)).subscription_usage(id));
        let found = found.map_err(failed)?;
        let (span, expected) = tenant.usage(index, self.now());
        let timeframe = (found.timeframe.start().micros(), found.timeframe.end().micros());
        if timeframe != span {
            let of = &tenant.subscriptions[index];
            return Err(format!("{of:?}: period {timeframe:?}, expected {span:?}"));
        }
        let told = found.metrics.iter().map(|metric| metric.metric_id.to_string());
        let (told, known): (Vec<_>, Vec<_>) =
            (told.collect(), tenant.metrics.iter().map(|(id, _)| id.clone()).collect());
        if told != known {
            return Err(format!("usage of {told:?} metrics, expected {known:?}"));
        }
        for (metric, expected) in found.metrics.iter().zip(expected) {
            let quantity = metric.quantity.as_ref().map(big);
            if quantity != expected {
                let name = &metric.metric_id;
                return Err(format!(
                    "subscription {id}, metric {name}: {quantity:?}, expected {expected:?}"
                ));
            }
        }
        Ok(())
    }

    /// Compares everything, once nothing is under way and nothing is due.
    pub(super) fn check_all(&mut self) -> Result<(), String> {
        self.check_inbox()?;
        if let Some(message) = self.messages.unseen() {
            return Err(format!("a message was never delivered: {message:?}"));
        }
        let now = self.now();
        for of in 0..ACCOUNTS {
            self.tenants[of].check_fired(now)?;
            self.tenants[of].check_migrations(now)?;
            for index in 0..self.tenants[of].subscriptions.len() {
                self.check_usage(of, index)?;
                self.check_costs(of, index)?;
            }
            for customer in 0..CUSTOMERS {
                self.check_customer(of, customer)?;
            }
            for customer in 0..FIRST {
                self.check_ledger(of, customer)?;
            }
            self.check_money(of)?;
            self.check_backfills(of)?;
            self.check_lists(of)?;
        }
        Ok(())
    }

    fn check_costs(&self, of: At, index: At) -> Result<(), String> {
        let tenant = &self.tenants[of];
        let id: SubscriptionId = tenant.subscriptions[index].id.parse().map_err(failed)?;
        let query = accrue::cost::CostQuery::default();
        let found = block_on(self.observer.account(account(of)).subscription_costs(id, &query));
        let found = found.map_err(failed)?;
        let (span, _) = tenant.usage(index, self.now());
        let expected = tenant.cost(index, span, self.now());
        let total: BigDecimal = found.iter().map(|cost| big(&cost.total)).sum();
        match total == expected {
            true => Ok(()),
            false => {
                let of = &tenant.subscriptions[index];
                Err(format!("{of:?} costs {total}, expected {expected} in {span:?}"))
            }
        }
    }

    /// A balance is what was given, less what was taken, used and lost; and its entries and blocks
    /// add up to it.
    fn check_ledger(&self, of: At, customer: At) -> Result<(), String> {
        let (tenant, credits) = (&self.tenants[of], PricingUnit::parse("credits").unwrap());
        let observed = self.observer.account(account(of));
        let Some(id) = &tenant.customers[customer].id else { return Ok(()) };
        let id: accrue::CustomerId = id.parse().map_err(failed)?;
        let balance = block_on(observed.credit_balance(id, &credits)).map_err(failed)?;
        let entries = self.entries(of, id)?;
        let mut running = BigDecimal::from(0);
        let mut lost = BigDecimal::from(0);
        for entry in &entries {
            if big(&entry.starting_balance) != running {
                return Err(format!("entry {entry:?} begins elsewhere than at {running}"));
            }
            running += big(&entry.amount);
            if big(&entry.ending_balance) != running {
                return Err(format!("entry {entry:?} ends elsewhere than at {running}"));
            }
            if entry.entry_type.kind() == EntryKind::CreditBlockExpiry {
                lost += big(&entry.amount);
            }
        }
        let found = balance.balance.as_ref().map(big).unwrap_or_default();
        let given = tenant.customers[customer].granted;
        let drawn = tenant.drawn(customer);
        let expected = BigDecimal::from(given - drawn) + lost.clone();
        if found != running || found != expected {
            return Err(format!(
                "a balance of {found}, entries of {running}, expected {expected}: given {given}, \
                 drawn {drawn}, lost {lost}; customer {id}, {entries:#?}"
            ));
        }
        Ok(())
    }

    /// The entries of a ledger, oldest first.
    fn entries(&self, of: At, id: accrue::CustomerId) -> Result<Vec<LedgerEntry>, String> {
        let credits = PricingUnit::parse("credits").unwrap();
        let observed = self.observer.account(account(of));
        let mut page = PageRequest::first_of_ledger(1_000).map_err(failed)?;
        let mut entries = Vec::new();
        loop {
            let filter = LedgerFilter::default();
            let found = block_on(observed.list_ledger_entries(id, &credits, &filter, &page));
            let found = found.map_err(failed)?;
            entries.extend(found.data);
            let Some(next) = found.next_cursor else { break };
            page = page.after(next);
        }
        entries.reverse();
        Ok(entries)
    }

    fn check_backfills(&self, of: At) -> Result<(), String> {
        let tenant = &self.tenants[of];
        for backfill in &tenant.backfills {
            let id: BackfillId = backfill.id.parse().map_err(failed)?;
            let found = block_on(self.observer.account(account(of)).fetch_backfill(id));
            let found = found.map_err(failed)?;
            for piece in backfill.pieces.iter().flatten() {
                let mut events = tenant.history.events.iter();
                if !events.any(|event| event.brought_by == Some(*piece)) {
                    continue;
                }
                let expected = match tenant.history.backfills[*piece].state {
                    State::Taking => BackfillStatus::Pending,
                    State::Reflected => BackfillStatus::Reflected,
                    State::Reverted => BackfillStatus::Reverted,
                };
                if found.status != expected {
                    return Err(format!("{found:?}, expected to be {expected:?}"));
                }
            }
        }
        Ok(())
    }

    /// Each item and customer that was accepted is there once.
    fn check_lists(&self, of: At) -> Result<(), String> {
        let observed = self.observer.account(account(of));
        let mut page = PageRequest::first(100).map_err(failed)?;
        let mut found = Vec::new();
        loop {
            let items = block_on(observed.list_items(&accrue::ListFilter::default(), &page));
            let items = items.map_err(failed)?;
            found.extend(items.data.iter().map(|item| item.id.to_string()));
            let Some(next) = items.next_cursor else { break };
            page = page.after(next);
        }
        let mut expected = self.tenants[of].items.clone();
        expected.sort();
        found.sort();
        match found == expected {
            true => Ok(()),
            false => Err(format!("items {found:?}, expected {expected:?}")),
        }
    }
}
