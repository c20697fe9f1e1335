use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
};

use accrue::store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store whose calls take a moment, in which others make theirs.
#[derive(Debug)]
pub(crate) struct Slow {
    store: Arc<MemoryStore>,
    pub(crate) calls: AtomicUsize,
    pub(crate) commits: AtomicUsize,
    pub(crate) conflicts: AtomicUsize,
    /// Whether it does not tell of the next commit whether it has happened.
    pub(crate) is_unsure: AtomicBool,
}

impl Slow {
    pub(crate) fn on(store: &Arc<MemoryStore>) -> Self {
        let [calls, commits, conflicts] = Default::default();
        Self {
            store: Arc::clone(store),
            calls,
            commits,
            conflicts,
            is_unsure: AtomicBool::new(false),
        }
    }

    async fn takes_a_moment(&self) {
        self.calls.fetch_add(1, SeqCst);
        let mut has_waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

#[async_trait]
impl Store for Slow {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.takes_a_moment().await;
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.takes_a_moment().await;
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.takes_a_moment().await;
        self.commits.fetch_add(1, SeqCst);
        let committed = self.store.commit(batch).await?;
        if self.is_unsure.swap(false, SeqCst) {
            return Err(StoreError::indeterminate("nobody knows"));
        }
        if matches!(committed, Commit::Conflict(_)) {
            self.conflicts.fetch_add(1, SeqCst);
        }
        Ok(committed)
    }
}

/// Runs a future to its end, of which it has one.
pub(crate) fn drive<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000_000 {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
    }
    panic!("it waits for ever");
}
