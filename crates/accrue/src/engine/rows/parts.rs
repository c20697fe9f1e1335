//! What may be too long for one row, in as many as it needs.

use serde::Serialize;

use crate::{Error, limits};

/// Documents that are filled one after the other.
#[derive(Default)]
pub(super) struct Parts<T> {
    pub(super) all: Vec<T>,
    /// How many the last one has.
    bytes: usize,
}

impl<T: Default> Parts<T> {
    /// Returns the part that an element goes into.
    pub(super) fn with_room(&mut self, element: &impl Serialize) -> Result<&mut T, Error> {
        let text = serde_json::to_string(element);
        let bytes = text.map_err(|error| Error::corrupt(error.to_string()))?.len();
        let is_full = self.bytes.saturating_add(bytes) > limits::TERMS_BYTES;
        if self.all.is_empty() || is_full {
            self.all.push(T::default());
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(1);
        self.all.last_mut().ok_or_else(|| Error::corrupt("a row has no part"))
    }
}
