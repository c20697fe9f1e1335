use std::{collections::HashMap, error::Error, fmt, sync::Arc};

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
    /// [`WriteError::refused`] where nothing of the group was written, for certain, and otherwise
    /// [`WriteError::unknown`].
    fn write(&mut self, group: Group) -> Result<(), WriteError>;

    /// Keeps what a panic has left half written from being written later.
    fn abandon(&mut self);

    /// Lets go of the store. When this returns, it can be opened again.
    fn close(self);
}

/// The changes of all batches that were accepted together.
#[derive(Debug, Default)]
pub struct Group {
    /// What each row becomes that changes: a document of a version, or no row.
    pub rows: HashMap<Key, Option<(Version, Document)>>,
    /// What is to be stored in the same write as the ceiling of versions, where it rises.
    ///
    /// [`Writer::start`](crate::Writer::start) is given what was stored last.
    pub ceiling: Option<u64>,
}

/// Why a group was not written. No store can be written to after that, until it is opened again.
#[derive(Debug)]
pub struct WriteError {
    pub(crate) is_refused: bool,
    pub(crate) reason: &'static str,
    pub(crate) source: Arc<dyn Error + Send + Sync>,
}

impl WriteError {
    /// Nothing of the group was written, for certain.
    pub fn refused(reason: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self { is_refused: true, reason, source: Arc::new(source) }
    }

    /// The group may have been written or not: all of it or nothing.
    pub fn unknown(reason: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self { is_refused: false, reason, source: Arc::new(source) }
    }
}
