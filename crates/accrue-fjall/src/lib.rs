//! [`FjallStore`]: a durable [`Store`](accrue::store::Store) on [fjall](https://docs.rs/fjall), and
//! the one to take where nothing speaks for another.
//!
//! ```
//! use accrue::store::{Batch, Commit, Document, Key, Store, Table};
//! use accrue_fjall::FjallStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # pollster::block_on(async {
//! let store = FjallStore::open(folder.path())?;
//! let key = Key::new(Table::new("greeting"), *b"hello");
//! let batch = Batch::new().put(key.clone(), Document::parse(r#"{"v":1}"#)?);
//! let Commit::Committed(version) = store.commit(batch).await? else { unreachable!() };
//!
//! drop(store);
//! let store = FjallStore::open(folder.path())?;
//! let rows = store.get(&[key]).await?;
//! assert_eq!(rows[0].as_ref().map(|row| row.version), Some(version));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a commit becomes durable
//!
//! One thread writes. It takes the batches that wait, judges them one after the other, and writes
//! the accepted ones as **one** batch of fjall with `fsync`; then it answers them all. So a commit
//! costs a share of a flush, and at any time at most one batch of the journal is not durable.
//!
//! fjall shows a batch after its `fsync`, and whole. A read looks at a snapshot of that on the
//! caller's thread, and waits for no flush.
//!
//! When a write fails, the commits that waited for it are
//! [`Indeterminate`](accrue::store::StoreError::Indeterminate), and everything later is
//! [`Unavailable`](accrue::store::StoreError::Unavailable) until the store is opened again. That
//! takes another process: what fjall still holds of the write must not reach the journal beside
//! what a newly opened store puts there, so the folder stays locked until the process has ended.
//!
//! # What it relies on
//!
//! That the disk keeps what `fsync` has confirmed. After a flush that failed, some file systems
//! show what the disk does not hold until the machine is started again; open the store after that,
//! not before.
//!
//! # Threads and memory
//!
//! fjall has a thread of its own, which writes tables and merges them. New rows are in memory until there are 64 MiB of them, while up to four
//! times as much may be on its way to the disk; the journal holds the same. What is read from
//! tables is cached, [256 MiB](FjallOptions::cache_bytes) at most if nothing else is said, and rows
//! that were read lately are kept ready, [64 MiB](FjallOptions::row_cache_bytes) at most.
//!
//! Of keys without a row most are known, by a filter of 1.5 to 6 bytes for each row, 1.5 MiB at least and
//! 60 at most. Now and then another thread reads all keys for the next one, which is then there beside it.

mod absences;
mod encode;
mod engine;
mod error;
mod filter;
mod folder;
mod journal;
mod open;
mod rows;
mod step;
mod store;

#[cfg(test)]
mod tests;

pub use self::{
    error::{OpenError, OpenErrorKind},
    open::FjallOptions,
    store::FjallStore,
};
