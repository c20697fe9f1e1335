//! [`SledStore`]: a durable [`Store`](accrue::store::Store) on [sled](https://docs.rs/sled).
//!
//! ```
//! use accrue::store::{Batch, Commit, Document, Key, Store, Table};
//! use accrue_sled::SledStore;
//!
//! # let directory = tempfile::tempdir()?;
//! # pollster::block_on(async {
//! let store = SledStore::open(directory.path())?;
//! let key = Key::new(Table::new("greeting"), *b"hello");
//! let batch = Batch::new().put(key.clone(), Document::parse(r#"{"v":1}"#)?);
//! let Commit::Committed(version) = store.commit(batch).await? else { unreachable!() };
//!
//! drop(store);
//! let store = SledStore::open(directory.path())?;
//! let rows = store.get(&[key]).await?;
//! assert_eq!(rows[0].as_ref().map(|row| row.version), Some(version));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a commit becomes durable
//!
//! One thread writes. It takes the batches that wait, judges them one after the other, applies the
//! accepted ones as **one** atomic batch of sled, flushes, asks the disk with `fdatasync`, and only
//! then answers them all. So a commit costs a share of a flush, and at any time at most one batch
//! of sled is not durable: that is what its recovery is able to drop as a whole.
//!
//! A read looks at sled on the caller's thread. Where it may have seen what is not durable yet, its
//! answer waits for the flush that is under way. No caller's thread is ever blocked on a flush.
//!
//! When a flush fails, the commits that waited for it are
//! [`Indeterminate`](accrue::store::StoreError::Indeterminate), and everything later is
//! [`Unavailable`](accrue::store::StoreError::Unavailable) until the store is opened again.
//!
//! # What it relies on
//!
//! That the disk keeps what `fdatasync` has confirmed. After a flush that failed, some file
//! systems show what the disk does not hold until the machine is started again; open the store
//! after that, not before.

mod encode;
mod engine;
mod error;
mod folder;
mod log;
mod open;
mod progress;
mod rows;
mod settings;
mod snapshots;
mod store;
mod sync;

#[cfg(test)]
mod tests;

pub use self::{
    error::{OpenError, OpenErrorKind},
    open::SledOptions,
    store::SledStore,
};
