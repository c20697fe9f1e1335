//! Stores that tests reach into.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll},
};

use accrue::store::{Batch, Change, Commit, Key, MemoryStore, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store in memory that asks before each call. Every call is pending once before it is made and
/// once before it is answered.
#[derive(Clone, Default)]
pub(crate) struct HookedStore {
    pub(crate) inner: Arc<MemoryStore>,
    hook: Arc<Mutex<Option<Hook>>>,
}

/// Says what a call fails with, where it does.
type Hook = Arc<dyn Fn(&Call<'_>) -> Option<StoreError> + Send + Sync>;

/// A call that is about to be made.
pub(crate) enum Call<'a> {
    Get,
    Scan,
    Commit(&'a Batch),
}

impl HookedStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Asks this from now on.
    pub(crate) fn hook(
        &self,
        hook: impl Fn(&Call<'_>) -> Option<StoreError> + Send + Sync + 'static,
    ) {
        *self.hook.lock().unwrap() = Some(Arc::new(hook));
    }

    /// Does something before the next commit, once.
    pub(crate) fn before_commit(
        &self,
        act: impl Fn(&Batch) -> Option<StoreError> + Send + Sync + 'static,
    ) {
        let is_done = AtomicBool::new(false);
        self.hook(move |call| match call {
            Call::Commit(batch) if !is_done.swap(true, Ordering::SeqCst) => act(batch),
            _ => None,
        });
    }

    /// Holds the next commit back.
    pub(crate) fn gate(&self) -> Gate {
        let (arrive, arrived) = channel();
        let (open, opened) = channel::<()>();
        let opened = Mutex::new(opened);
        self.before_commit(move |_| {
            arrive.send(()).unwrap();
            // A test that failed meanwhile has dropped its end.
            let _ = opened.lock().unwrap().recv();
            None
        });
        Gate { arrived, open }
    }

    pub(crate) fn unhook(&self) {
        *self.hook.lock().unwrap() = None;
    }

    fn ask(&self, call: &Call<'_>) -> Result<(), StoreError> {
        // Let go of before it is called: it may panic, and block.
        let hook = self.hook.lock().unwrap().clone();
        hook.and_then(|hook| hook(call)).map_or(Ok(()), Err)
    }
}

/// Where a commit is held back: opened by [`open`](Self::open), or when it is dropped.
pub(crate) struct Gate {
    arrived: Receiver<()>,
    open: Sender<()>,
}

impl Gate {
    /// Waits until the commit is there.
    pub(crate) fn wait(&self) {
        self.arrived.recv().unwrap();
    }

    /// Lets the commit through.
    pub(crate) fn open(self) {
        self.open.send(()).unwrap();
    }
}

/// Returns the key of a row of a table that a batch writes.
pub(crate) fn key_in(batch: &Batch, table: &str) -> Option<Key> {
    let mut keys = batch.changes.iter().map(Change::key);
    keys.find(|key| key.table().name() == table).cloned()
}

#[async_trait]
impl Store for HookedStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.ask(&Call::Get)?;
        Pause::default().await;
        let rows = self.inner.get(keys).await;
        Pause::default().await;
        rows
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.ask(&Call::Scan)?;
        Pause::default().await;
        let rows = self.inner.scan(scan).await;
        Pause::default().await;
        rows
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.ask(&Call::Commit(&batch))?;
        Pause::default().await;
        let commit = self.inner.commit(batch).await;
        Pause::default().await;
        commit
    }
}

impl fmt::Debug for HookedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedStore").finish_non_exhaustive()
    }
}

/// Is pending once, and asks to be polled again.
#[derive(Default)]
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
