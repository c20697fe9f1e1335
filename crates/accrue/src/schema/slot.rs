use std::marker::PhantomData;

use crate::{AccountId, store::Key};

/// The place of one row: a key, and what its document says. A row with a guard is written through it
/// alone ([`Guards`]).
pub(crate) struct Slot<T, G = ()> {
    key: Key,
    is_read_often: bool,
    is_resident: bool,
    document: PhantomData<fn() -> (T, G)>,
}

/// What a row says that guards others: whoever writes one of those writes it too.
///
/// So whoever has read it needs no others of them as preconditions, nor the ranges that they lie in.
pub(crate) trait Guards: Default {
    /// Whose rows it guards.
    type Of: Copy + Send + Sync;

    /// The place of the guard.
    fn slot(account: &AccountId, of: Self::Of) -> Slot<Self>;

    /// Bytes that tell one owner from the others.
    fn owner(of: Self::Of) -> [u8; 16];
}

impl<T, G> Slot<T, G> {
    /// The place of a row that says this: `key` is of its table.
    pub(crate) const fn new(key: Key) -> Self {
        Self { key, is_read_often: false, is_resident: false, document: PhantomData }
    }

    /// The place of a row that is read far more often than it is written.
    pub(crate) fn read_often(self) -> Self {
        Self { is_read_often: true, ..self }
    }

    /// The place of a row that the copy of its guard keeps.
    pub(crate) fn resident(self) -> Self {
        Self { is_resident: true, ..self }
    }

    pub(crate) const fn is_read_often(&self) -> bool {
        self.is_read_often
    }

    /// Tells whether the copy of its guard keeps it.
    pub(crate) const fn is_resident(&self) -> bool {
        self.is_resident
    }

    /// Tells whether what it says is kept once it is known.
    pub(crate) const fn is_kept(&self) -> bool {
        self.is_resident || self.is_read_often
    }

    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }
}
