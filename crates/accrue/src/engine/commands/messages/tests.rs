use async_trait::async_trait;
use pollster::block_on;

use super::*;
use crate::{
    AccountId, BackfillId, Billing, Email, ManualClock, Name, SeededEntropy, Timeframe, Timestamp,
    backfill::{Backfill, NewBackfill},
    customer::{Customer, NewCustomer},
    engine::{
        kernel::{Command, apply_open},
        rows::outbox,
    },
    store::MemoryStore,
    webhook::Body,
};

/// Tells that a backfill was reverted, and before that it was reflected.
struct Notified(Backfill);

#[async_trait]
impl Command for Notified {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "notified"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let (of, now, backfill_id) = (&self.0, tx.now, self.0.id);
        outbox::tell_of_backfill(tx, of, now, Body::BackfillReflected { backfill_id }).await?;
        Ok(outbox::tell_of_backfill(tx, of, now, Body::BackfillReverted { backfill_id }).await?)
    }
}

fn account() -> Account {
    let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
    let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(1));
    billing.account(AccountId::parse("acme").unwrap())
}

fn customer(account: &Account) -> Customer {
    let email = Email::parse("a@example.com").unwrap();
    let new = NewCustomer::new(Name::parse("ada").unwrap(), email);
    block_on(account.create_customer(new).into_future()).unwrap()
}

/// Creates a backfill, for a customer or for all, and tells of it.
fn notified(account: &Account, customer: Option<&Customer>, minute: u64) -> Backfill {
    let minute = std::time::Duration::from_secs(60 * minute);
    let start = Timestamp::parse("2026-03-01T00:00:00Z").unwrap().saturating_add(minute);
    let timeframe = Timeframe::nothing_at(start)
        .until(start.saturating_add(std::time::Duration::from_secs(60)));
    let mut new = NewBackfill::new(timeframe);
    new.customer = customer.map(|of| of.id.into());
    let backfill = block_on(account.create_backfill(new).into_future()).unwrap();
    block_on(apply_open(account, &Notified(backfill.clone()))).unwrap();
    backfill
}

/// Reads a page of the messages that wait.
fn page(account: &Account, limit: usize) -> Page<Message> {
    block_on(account.list_messages(&PageRequest::first_of_messages(limit).unwrap())).unwrap()
}

fn read(account: &Account) -> Vec<(&'static str, Option<Customer>, Option<BackfillId>)> {
    let messages = page(account, 10).data;
    let read = messages.into_iter().map(|of| {
        let backfill_id = of.backfill.as_ref().map(|of| of.id);
        (of.message_type(), of.customer, backfill_id)
    });
    read.collect()
}

#[test]
fn wire_6_8_messages_of_a_backfill_for_all_customers_are_no_customers() {
    let account = account();
    let backfill = notified(&account, None, 0);
    let id = Some(backfill.id);
    let expect = [("backfill.reflected", None, id), ("backfill.reverted", None, id)];
    assert_eq!(read(&account), expect);
    let messages = page(&account, 10).data;
    assert_eq!(messages[0].backfill.as_ref(), Some(&backfill));
    let behind = PageRequest::default().after(page(&account, 1).next_cursor.unwrap());
    let behind = block_on(account.list_messages(&behind)).unwrap();
    assert_eq!((&behind.data[..], behind.has_more()), (&messages[1..], false));
    block_on(account.acknowledge([messages[0].place]).into_future()).unwrap();
    assert_eq!(read(&account), expect[1..]);
}

#[test]
fn wire_6_8_messages_of_a_customers_backfill_are_in_its_queue() {
    let account = account();
    let ada = customer(&account);
    let backfill = notified(&account, Some(&ada), 0);
    let of_ada = |kind, id| (kind, Some(ada.clone()), id);
    assert_eq!(
        read(&account),
        [
            of_ada("customer.created", None),
            of_ada("backfill.reflected", Some(backfill.id)),
            of_ada("backfill.reverted", Some(backfill.id)),
        ]
    );
}

#[test]
fn a_walk_over_the_queues_passes_all_of_them() {
    let account = account();
    let ada = customer(&account);
    notified(&account, None, 0);
    notified(&account, Some(&ada), 1);
    notified(&account, None, 2);
    let all = page(&account, 7);
    assert_eq!((all.data.len(), all.has_more()), (7, false));
    for limit in 1..=8 {
        let (mut walked, mut next) = (Vec::new(), PageRequest::first_of_messages(limit).unwrap());
        loop {
            let found = block_on(account.list_messages(&next)).unwrap();
            let is_full = found.data.len() == limit;
            walked.extend(found.data);
            let Some(cursor) = found.next_cursor else { break };
            assert!(is_full, "a page with more is full");
            next = next.after(cursor);
        }
        assert_eq!(walked, all.data, "{limit} at a time");
    }
}
