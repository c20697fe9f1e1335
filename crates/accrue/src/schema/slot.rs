use std::marker::PhantomData;

use crate::store::Key;

/// The place of one row: a key, and what its document says.
pub(crate) struct Slot<T> {
    key: Key,
    document: PhantomData<fn() -> T>,
}

impl<T> Slot<T> {
    /// The place of a row that says this: `key` is of its table.
    pub(crate) const fn new(key: Key) -> Self {
        Self { key, document: PhantomData }
    }

    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }
}
