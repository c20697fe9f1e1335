//! Rows as a process knows them, each decoded at most once.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use super::{Decoded, Says};
use crate::{Error, schema::Slot, store::Row};

/// What a row says, once it was decoded or before it was written.
pub(super) type Said = Arc<dyn Any + Send + Sync>;

/// Row that was read, or that a commit has left, with what it says as soon as somebody knows.
#[derive(Debug)]
pub(in crate::engine) struct Known {
    row: Row,
    says: OnceLock<Said>,
}

impl Known {
    /// Takes a row that nobody has decoded.
    pub(super) fn new(row: Row) -> Self {
        Self { row, says: OnceLock::new() }
    }

    /// Takes a row that says what was written.
    pub(super) fn saying(row: Row, said: Option<Said>) -> Self {
        Self { row, says: said.map_or_else(OnceLock::new, OnceLock::from) }
    }

    pub(super) const fn row(&self) -> &Row {
        &self.row
    }

    /// Returns what it says. Rows that copies keep, or that are read often, are decoded once.
    pub(super) fn says<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
        decoded: &Decoded,
    ) -> Result<Arc<T>, Error> {
        if let Some(known) = self.says.get().and_then(as_said) {
            return Ok(known);
        }
        let says = decoded.shared(slot, &self.row)?;
        if slot.is_kept() {
            // What another type has made of it first stays.
            let _ = self.says.set(Arc::<T>::clone(&says));
        }
        Ok(says)
    }
}

/// Returns what was said, where it is of this type.
pub(super) fn as_said<T: Says>(said: &Said) -> Option<Arc<T>> {
    Arc::clone(said).downcast().ok()
}
