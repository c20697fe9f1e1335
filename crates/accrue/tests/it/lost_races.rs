//! Operations that are run again: they lose a race, or took too long to decide.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use accrue::{
    AccountId, Billing, Clock as _, Email, Error, ErrorKind, ExternalId, ManualClock,
    SeededEntropy, Timestamp,
    customer::{Customer, NewCustomer},
    limits,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use async_trait::async_trait;

use crate::fixture::{Fixture, name, run};

/// A store on which somebody else is first, whatever is committed.
#[derive(Debug, Default)]
struct Lost {
    store: MemoryStore,
    commits: AtomicUsize,
}

#[async_trait]
impl Store for Lost {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        Ok(Commit::Conflict(batch.preconditions[0].key.clone()))
    }
}

#[test]
fn an_operation_that_loses_64_races_is_given_up() {
    let store = Arc::new(Lost::default());
    let clock = Fixture::new().clock;
    let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(7));
    let account = billing.account(AccountId::parse("acme").unwrap());
    // It depends on a row: that the external id is free.
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(ExternalId::parse("ada").unwrap());
    let error = run(account.create_customer(new)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.can_be_retried());
    assert_eq!(store.commits.load(Ordering::SeqCst), limits::RUNS);
}

/// A store whose first few answers take two minutes each.
#[derive(Debug)]
struct Slow {
    store: MemoryStore,
    clock: ManualClock,
    slow: AtomicUsize,
}

#[async_trait]
impl Store for Slow {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let left = self.slow.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_ok() {
            self.clock.advance(Duration::from_secs(120));
        }
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.store.commit(batch).await
    }
}

fn created_on_a_slow_store(slow: usize) -> Result<(Customer, Timestamp), Error> {
    let clock = Fixture::new().clock;
    let (store, slow) = (MemoryStore::new(), AtomicUsize::new(slow));
    let store = Slow { store, clock: clock.clone(), slow };
    let billing = Billing::new(store, clock.clone(), SeededEntropy::new(7));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let began = clock.now();
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(ExternalId::parse("ada").unwrap());
    Ok((run(account.create_customer(new))?, began))
}

#[test]
fn what_took_long_to_decide_is_decided_anew() {
    let (customer, began) = created_on_a_slow_store(1).unwrap();
    assert_eq!(customer.created_at, began.saturating_add(Duration::from_secs(120)));
    let error = created_on_a_slow_store(usize::MAX).unwrap_err();
    assert!(error.can_be_retried(), "{error:?}");
}
