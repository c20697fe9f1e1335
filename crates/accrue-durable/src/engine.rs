use std::{error::Error, fmt, sync::Arc};

use accrue::store::{Document, Key, StoreError, Version};

/// What a store is written to. The thread of a [`Writer`](crate::Writer) owns it.
pub trait Engine: fmt::Debug + Send + 'static {
    /// Returns the version that a row has after all groups written so far; none where there is no
    /// row.
    ///
    /// # Errors
    ///
    /// If the row cannot be read. Nothing of the batch that asked is accepted then.
    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError>;

    /// Writes a group as a whole, and returns once it is durable.
    ///
    /// It is not called again after an error or a panic.
    ///
    /// # Errors
    ///
    /// If it may not be durable. Those who wait for the group are told that its outcome is unknown.
    fn write(&mut self, group: Group) -> Result<(), WriteError>;

    /// Keeps what a panic has left half written from being written later.
    fn abandon(&mut self);

    /// Lets go of the store. When this returns, it can be opened again.
    fn close(self);
}

/// The changes of all batches that were accepted together.
#[derive(Debug, Default)]
pub struct Group {
    /// What each row becomes that changes, once and in any order: a document of a version, or no row.
    pub rows: Vec<(Key, Option<(Version, Document)>)>,
    /// What is to be stored in the same write as the ceiling of versions, where it rises.
    ///
    /// [`Writer::start`](crate::Writer::start) is given what was stored last.
    pub ceiling: Option<u64>,
}

/// Why a group may not be durable: all of it is, or nothing.
#[derive(Debug)]
pub struct WriteError {
    pub(crate) reason: &'static str,
    pub(crate) source: Arc<dyn Error + Send + Sync>,
}

impl WriteError {
    /// Says what failed, in a few words, and why.
    pub fn new(reason: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self { reason, source: Arc::new(source) }
    }
}
