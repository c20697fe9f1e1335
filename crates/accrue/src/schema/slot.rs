use std::marker::PhantomData;

use crate::store::Key;

/// The place of one row: a key, and what its document says.
pub(crate) struct Slot<T> {
    key: Key,
    is_read_often: bool,
    document: PhantomData<fn() -> T>,
}

impl<T> Slot<T> {
    /// The place of a row that says this: `key` is of its table.
    pub(crate) const fn new(key: Key) -> Self {
        Self { key, is_read_often: false, document: PhantomData }
    }

    /// The place of a row that is read far more often than it is written.
    pub(crate) fn read_often(self) -> Self {
        Self { is_read_often: true, ..self }
    }

    pub(crate) const fn is_read_often(&self) -> bool {
        self.is_read_often
    }

    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }
}
