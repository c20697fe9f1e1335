//! Operations that are run again: they lose a race, or took too long to decide.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use accrue::{
    AccountId, Billing, Clock as _, CustomerId, Email, Error, ErrorKind, ExternalId, ManualClock,
    SeededEntropy,
    customer::NewCustomer,
    limits,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use async_trait::async_trait;

use crate::support::fixture::{Fixture, UNKNOWN, name, run};

/// A store on which somebody else is first, whatever is committed, or nobody knows.
#[derive(Debug, Default)]
struct Lost {
    store: MemoryStore,
    commits: AtomicUsize,
    is_unknown: bool,
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
        if self.is_unknown {
            return Err(StoreError::indeterminate("nobody knows"));
        }
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

/// That there is no such customer is said only where it is known to hold, and asking again is safe.
#[test]
fn a_refusal_that_could_not_be_checked_is_not_given() {
    let clock = Fixture::new().clock;
    let store = Lost { is_unknown: true, ..Lost::default() };
    let billing = Billing::new(store, clock, SeededEntropy::new(7));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let id: CustomerId = UNKNOWN.parse().unwrap();
    let error = run(account.delete_customer(id)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.can_be_retried(), "{error:?}");
}

/// A store whose first few answers take long.
#[derive(Debug)]
struct Slow {
    store: MemoryStore,
    clock: ManualClock,
    answers: AtomicUsize,
    take: Duration,
}

#[async_trait]
impl Store for Slow {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            self.clock.advance(self.take);
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

/// Creates a customer where so many answers take so long, and tells when it was decided to, from the
/// beginning on.
fn created_after(answers: usize, take: Duration) -> Result<Duration, Error> {
    let clock = Fixture::new().clock;
    let (store, answers) = (MemoryStore::new(), AtomicUsize::new(answers));
    let store = Slow { store, clock: clock.clone(), answers, take };
    let began = clock.now();
    let billing = Billing::new(store, clock, SeededEntropy::new(7));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(ExternalId::parse("ada").unwrap());
    let created_at = run(account.create_customer(new))?.created_at;
    let micros = u64::try_from(created_at.micros() - began.micros()).unwrap();
    Ok(Duration::from_micros(micros))
}

#[test]
fn what_took_long_to_decide_is_decided_anew() {
    let minute = Duration::from_secs(limits::DECISION_SECONDS);
    let longer = minute + Duration::from_micros(1);
    assert_eq!(created_after(1, minute).unwrap(), Duration::ZERO);
    assert_eq!(created_after(1, longer).unwrap(), longer);
    let error = created_after(usize::MAX, longer).unwrap_err();
    assert!(error.can_be_retried(), "{error:?}");
}
