use std::sync::Arc;

use pollster::block_on;

use super::*;
use crate::{
    Account, AccountId, Billing, Decimal, Email, ManualClock, Name, SeededEntropy, Timestamp, Zone,
    alert::{Cause, NewBalanceAlert, Thresholds},
    credit::Ledger,
    customer::NewCustomer,
    engine::rows::balance_alerts,
    store::{Batch, MemoryStore, Store},
    webhook::Body,
};

/// A customer that has credits.
struct Rich {
    store: Arc<MemoryStore>,
    account: Account,
    customer_id: CustomerId,
}

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

fn thresholds(values: &[u64]) -> Thresholds {
    Thresholds::new(values.iter().copied().map(Decimal::from)).unwrap()
}

impl Rich {
    fn new(balance: u64) -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        let email = Email::parse("a@example.com").unwrap();
        let new = NewCustomer::new(Name::parse("ada").unwrap(), email);
        let customer_id = block_on(account.create_customer(new).into_future()).unwrap().id;
        let rich = Self { store, account, customer_id };
        rich.have(balance);
        rich.notified();
        rich
    }

    /// Writes the balance into the row of the ledger, and its guard.
    fn have(&self, balance: u64) {
        let ledger = Ledger {
            customer_id: self.customer_id,
            currency: credits(),
            timezone: Zone::UTC,
            balance: Decimal::from(balance),
            entries: 1,
            latest: Timestamp::MIN,
            open: Vec::new(),
            overdraft: None,
            payers: Vec::new(),
            deleted: Vec::new(),
            pending: Vec::new(),
            day_end: Timestamp::MIN,
            unpaid: Vec::new(),
            apart: 0,
        };
        let slot = schema::ledger(self.account.id(), self.customer_id, &credits());
        let head = schema::customer_head(self.account.id(), self.customer_id).key().clone();
        let row = block_on(self.store.get(std::slice::from_ref(&head))).unwrap().pop().unwrap();
        let ledger = slot.encode(&ledger, &mut Vec::new()).unwrap();
        let batch = Batch::new().put(slot.key().clone(), ledger).put(head, row.unwrap().document);
        block_on(self.store.commit(batch)).unwrap();
    }

    fn watch(&self, new: NewBalanceAlert) -> Alert {
        let call = self.account.create_customer_alert(self.customer_id, new);
        block_on(call.into_future()).unwrap()
    }

    fn dropped(&self, values: &[u64]) -> Alert {
        self.watch(NewBalanceAlert::credit_balance_dropped(credits(), thresholds(values)))
    }

    /// Reads and acknowledges every message, as `type [thresholds]: before -> after`.
    fn notified(&self) -> Vec<String> {
        let page = crate::PageRequest::first_of_messages(100).unwrap();
        let messages = block_on(self.account.list_messages(&page)).unwrap().data;
        let places = messages.iter().map(|message| message.place);
        block_on(self.account.acknowledge(places).into_future()).unwrap();
        let describe = |body: &Body| match body {
            Body::CreditBalanceDepleted(crossed)
            | Body::CreditBalanceDropped(crossed)
            | Body::CreditBalanceRecovered(crossed) => {
                let alert_id = crossed.alert.id;
                assert_eq!(crossed.cause, Cause::Configuration { alert_id });
                assert_eq!(crossed.customer_id, self.customer_id);
                assert!(crossed.alert.balance_alert_status.iter().any(|status| status.in_alert));
                let all: Vec<_> = crossed.thresholds.iter().map(Decimal::to_string).collect();
                let before = crossed.value_before.as_ref().unwrap();
                format!("{} {all:?}: {before} -> {}", body.message_type(), crossed.value_after)
            }
            body => body.message_type().to_owned(),
        };
        messages.iter().map(|message| describe(&message.body)).collect()
    }
}

fn in_alert(alert: &Alert) -> Vec<bool> {
    alert.balance_alert_status.iter().map(|status| status.in_alert).collect()
}

#[test]
fn created_over_a_balance_it_fires_at_once_and_says_that_it_is_in_alert() {
    let rich = Rich::new(50);
    let alert = rich.dropped(&[10, 50, 70]);
    let expect = r#"customer.credit_balance_dropped ["70", "50"]: 50 -> 50"#;
    assert_eq!(rich.notified(), [expect]);
    assert_eq!(in_alert(&alert), [false, true, true]);
    assert_eq!(block_on(rich.account.fetch_alert(alert.id)).unwrap(), alert);
}

#[test]
fn depleted_fires_at_once_and_recovered_never() {
    let rich = Rich::new(0);
    rich.watch(NewBalanceAlert::credit_balance_recovered(credits()));
    rich.watch(NewBalanceAlert::credit_balance_depleted(credits()));
    assert_eq!(rich.notified(), ["customer.credit_balance_depleted []: 0 -> 0"]);
}

#[test]
fn new_thresholds_are_judged_at_once_and_those_in_alert_not_again() {
    let rich = Rich::new(50);
    let alert = rich.dropped(&[70]);
    rich.notified();
    let update = |values| {
        let call = rich.account.update_alert(alert.id, thresholds(values));
        in_alert(&block_on(call.into_future()).unwrap())
    };
    assert_eq!(update(&[80, 70, 20]), [true, true, false]);
    assert_eq!(rich.notified(), [r#"customer.credit_balance_dropped ["80"]: 50 -> 50"#]);
    assert_eq!(update(&[20]), [false]);
    assert_eq!(update(&[80]), [true]);
    assert_eq!(rich.notified(), Vec::<String>::new());
}

#[test]
fn enabled_it_is_judged_at_once() {
    let rich = Rich::new(50);
    let alert = rich.dropped(&[70, 20]);
    rich.notified();
    block_on(rich.account.disable_alert(alert.id).into_future()).unwrap();
    rich.have(20);
    let enabled = block_on(rich.account.enable_alert(alert.id).into_future()).unwrap();
    assert_eq!(in_alert(&enabled), [true, true]);
    assert_eq!(rich.notified(), [r#"customer.credit_balance_dropped ["20"]: 20 -> 20"#]);
}

#[test]
fn a_deleted_alert_is_not_watched_and_leaves_no_state() {
    let rich = Rich::new(50);
    let alert = rich.dropped(&[70]);
    block_on(rich.account.delete_alert(alert.id).into_future()).unwrap();
    let mut tx = rich.account.reading();
    let watched = (rich.customer_id, &credits());
    block_on(balance_alerts::fetch_balance_watches(&mut tx, &[watched])).unwrap();
    let watch =
        block_on(balance_alerts::balance_watch(&mut tx, rich.customer_id, &credits())).unwrap();
    assert_eq!(watch.moved().count(), 0);
    let state = schema::balance_alert_state(rich.account.id(), alert.id);
    assert_eq!(block_on(tx.find(&state)).unwrap(), None);
    rich.notified();
    rich.dropped(&[70]);
    assert_eq!(rich.notified(), [r#"customer.credit_balance_dropped ["70"]: 50 -> 50"#]);
}
