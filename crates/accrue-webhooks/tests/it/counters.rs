//! What a worker counts for its host.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use accrue::{
    Account, Billing, Clock, Error, PayloadRenderer, SeededEntropy,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
    webhook::{DisableReason, EndpointStatus, Message, PayloadStyle},
};
use accrue_webhooks::{Counters, Worker};
use futures_util::future::BoxFuture;

use crate::host::{Host, Types, key};

/// A renderer that fails at first.
struct Late(Arc<AtomicBool>);

#[async_trait::async_trait]
impl PayloadRenderer for Late {
    async fn render(
        &self,
        account: &Account,
        message: &Message,
        style: PayloadStyle,
    ) -> Result<String, Error> {
        if !self.0.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("what is shown cannot be read").into());
        }
        Types.render(account, message, style).await
    }
}

/// A store that cannot be looked through the first time.
#[derive(Debug)]
struct Unavailable(Arc<MemoryStore>, AtomicBool);

#[async_trait::async_trait]
impl Store for Unavailable {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.0.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        if !self.1.swap(true, Ordering::SeqCst) {
            return Err(StoreError::unavailable("the disk is away"));
        }
        self.0.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.0.commit(batch).await
    }
}

/// All numbers, in the order of the documentation.
fn all(of: &Counters) -> [u64; 6] {
    let messages = [of.messages(), of.failed_messages()];
    let attempts = [of.delivered(), of.failed_attempts()];
    let rest = [of.disabled_endpoints(), of.store_failures()];
    [messages, attempts, rest].concat().try_into().unwrap()
}

#[tokio::test]
async fn webhooks_each_message_and_each_attempt_is_counted() {
    let host = Host::new();
    for name in ["ok", "ok.too", "fails", "gone"] {
        host.endpoint(name).await;
    }
    let worker = host.worker(2);
    let counters = worker.counters();
    assert_eq!(all(&counters), [0; 6]);
    host.customer("ada").await;
    worker.deliver_due().await.unwrap();
    assert_eq!(all(&counters), [1, 0, 2, 2, 1, 0]);
    // The one that is gone is sent nothing, and what the other has failed at is made once more.
    host.customer("bob").await;
    host.clock.advance(Duration::from_secs(6));
    worker.deliver_due().await.unwrap();
    assert_eq!(all(&counters), [2, 0, 4, 4, 1, 0]);
    assert_eq!(counters.last_store_failure(), None);
}

/// After five days without a success, with a message each 12 hours so that there is always one to send.
#[tokio::test]
async fn webhooks_an_endpoint_that_fails_for_too_long_is_counted_once() {
    let host = Host::new();
    let id = host.endpoint("fails").await.id;
    let worker = host.worker(2);
    let counters = worker.counters();
    let noon = host.clock.now();
    let at = |hours: u64| noon.saturating_add(Duration::from_secs(hours * 60 * 60));
    for n in 0..20 {
        host.clock.set(at(12 * n));
        host.customer(&format!("customer {n}")).await;
        worker.deliver_due().await.unwrap();
        host.deliver_until(&worker, at(12 * (n + 1))).await;
        let is_over = at(12 * (n + 1)) > at(5 * 24);
        assert_eq!(counters.disabled_endpoints(), u64::from(is_over), "after {n} half days");
    }
    let endpoint = host.account.fetch_webhook_endpoint(id).await.unwrap();
    let EndpointStatus::Disabled { at: disabled_at, reason } = endpoint.status else {
        panic!("it is enabled")
    };
    assert_eq!(reason, DisableReason::Failing);
    assert!((at(5 * 24)..at(5 * 24 + 12)).contains(&disabled_at), "{disabled_at}");
    assert_eq!(counters.delivered(), 0);
}

#[tokio::test]
async fn webhooks_messages_without_a_body_are_counted_each_time() {
    let host = Host::new();
    host.endpoint("ok").await;
    host.customer("ada").await;
    let billing = host.account.billing().clone();
    let may_be_read = Arc::new(AtomicBool::new(false));
    let late = Late(Arc::clone(&may_be_read));
    let worker = Worker::new(billing, late, host.endpoints.clone(), key());
    for times in 1..=2 {
        worker.deliver_due().await.unwrap();
        assert_eq!(all(&worker.counters()), [0, times, 0, 0, 0, 0]);
    }
    may_be_read.store(true, Ordering::SeqCst);
    worker.deliver_due().await.unwrap();
    assert_eq!(all(&worker.counters()), [1, 2, 1, 0, 0, 0]);
}

/// It is told of, and the worker goes on.
#[tokio::test]
async fn webhooks_failures_of_the_store_are_counted_and_the_last_is_kept() {
    let host = Host::new();
    host.endpoint("ok").await;
    host.customer("ada").await;
    let store = Unavailable(Arc::clone(&host.store), AtomicBool::new(false));
    let billing = Billing::new(store, host.clock.clone(), SeededEntropy::new(2));
    let worker = Worker::new(billing, Types, host.endpoints.clone(), key());
    let counters = worker.counters();
    let timer = |_| -> BoxFuture<'static, ()> { Box::pin(tokio::task::yield_now()) };
    let endpoints = host.endpoints.clone();
    let stop = async move {
        while endpoints.received().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    worker.run_until(timer, stop).await;
    assert_eq!(all(&counters), [1, 0, 1, 0, 0, 1]);
    let last = counters.last_store_failure().unwrap();
    assert!(last.contains("the disk is away"), "{last}");
}
