//! An operation whose every commit loses.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use accrue::{
    AccountId, Billing, Email, ErrorKind, ExternalId, SeededEntropy,
    customer::NewCustomer,
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
