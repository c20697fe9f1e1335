//! The store: three methods over keys and JSON documents, and the contract that they keep.
//!
//! A backend implements [`Store`] and nothing else; it knows no domain type. The published suite
//! `accrue-conformance` tells its author whether the contract below is kept.

mod batch;
mod document;
mod error;
mod key;
mod memory;
mod scan;
mod turns;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

pub use self::{
    batch::{Batch, Change, Commit, Expected, Precondition},
    document::{Document, DocumentError},
    error::StoreError,
    key::{Key, Table},
    memory::MemoryStore,
    scan::{Bounds, Order, Scan},
    turns::{MemoryTurns, Turn, Turns},
};

/// Transactional store of JSON documents by key.
///
/// Everything that accrue promises rests on this contract, and on nothing else that a backend may
/// offer.
///
/// # To ensure correctness
///
/// 1. [`commit`](Store::commit) is atomic and isolated, and linearizable with other commits and
///    with [`get`](Store::get): the rows of one `get` are those of one instant. Where several handles have
///    one store open, of one process or of several, all of this list holds across them.
/// 2. **Every answer shows durable state only**: [`Commit::Committed`], [`Commit::Conflict`], the
///    rows of `get` and `scan`, and the absence of a row. A backend whose engine shows a write
///    before the disk has it holds the answer until everything applied before it was judged is
///    durable. When a flush fails, the commits that waited for it are
///    [`StoreError::Indeterminate`], and every later call is [`StoreError::Unavailable`] until the
///    store is opened again.
/// 3. Preconditions are judged on the state that the changes apply to, and behind them each
///    [`Change::Insert`], which expects that there is no row: [`Batch::expectations`] has them all.
///    [`Commit::Conflict`] names the **first that failed in the order given**. A batch without
///    changes is a consistent-read check: it starts no flush and makes no version.
/// 4. A [`Version`] is never used twice for a key, not after deletion and not after reopening.
/// 5. [`scan`](Store::scan) is in unsigned byte order of keys, and sees one table. Neither several
///    gets nor several scans are a snapshot.
/// 6. [`StoreError::Unavailable`] is for the case that nothing was applied for certain. Any unknown
///    outcome is [`StoreError::Indeterminate`]. Stored bytes that are not what was written are
///    [`StoreError::Corrupt`]. What became of a commit of unknown outcome is settled once a later call
///    through the same handle was answered without an error or, where one process has the store at a time,
///    it was opened again: all of it is there, or none of it will ever be. If it is applied before that, its
///    preconditions are judged then: what another handle has committed on the same rows keeps it out. No
///    commit is applied a day or more after it was asked for, whether its answer is awaited or not: the
///    record of a key, which keeps a second effect out, goes after 48 hours.
/// 7. A backend reads no clock, expires nothing and never retries a conflict. It may own threads.
/// 8. A [`Document`] comes back as an equal JSON value. The order of members, white space and the
///    spelling of numbers may differ; all numbers are integers below 2^53.
/// 9. A batch names a key at most once among its changes. Keys, documents, batches and scans keep
///    to the bounds of [`limits`](crate::limits), which the engine enforces before it calls.
///
/// Deliberately absent: interactive transactions, closures, streams, default methods, time to live
/// and watches. Decorators forward every method.
///
/// # Errors
///
/// A lost race is not an error, it is [`Commit::Conflict`]. See [`StoreError`] for the rest.
///
/// # Example
///
/// ```
/// use accrue::store::{Batch, Commit, Document, Expected, Key, MemoryStore, Store, Table};
///
/// # pollster::block_on(async {
/// let store = MemoryStore::new();
/// let key = Key::new(Table::new("greeting"), *b"hello");
/// let batch = Batch::new()
///     .expect(key.clone(), Expected::Absent)
///     .put(key.clone(), Document::parse(r#"{"v":1,"text":"world"}"#)?);
///
/// assert!(matches!(store.commit(batch.clone()).await?, Commit::Committed(_)));
/// assert_eq!(store.commit(batch).await?, Commit::Conflict(key));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns the rows of `keys`: one result per key, in the order asked.
    ///
    /// A key may be asked for more than once.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError>;

    /// Returns at most `scan.limit` rows of one table, in byte order of their keys, or in the
    /// reverse of it.
    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError>;

    /// Applies every change if every precondition holds, and none otherwise.
    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError>;
}

#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        (**self).get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        (**self).scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        (**self).commit(batch).await
    }
}

/// Stored row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Key of the row.
    pub key: Key,
    /// Document of the row.
    pub document: Document,
    /// Version of the row: of the commit that wrote it.
    pub version: Version,
}

/// Version of a row: opaque, given by the store, never used twice for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(u64);

impl Version {
    /// Creates a version from a number that the backend never gives twice for a key.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number that the backend made it from.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}
