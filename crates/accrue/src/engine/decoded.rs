use std::{any::Any, sync::Arc};

use foldhash::fast::RandomState;
use quick_cache::{
    Weighter,
    sync::{Cache, DefaultLifecycle},
};
use serde::de::DeserializeOwned;

use crate::{
    Error, limits,
    schema::Slot,
    store::{Key, Row, Version},
};

/// What an entry takes beside what its document says, in bytes.
const ENTRY_BYTES: u64 = 200;
/// How much longer than its document is what it says, about.
const GROWTH: u64 = 2;

/// What a document says.
pub(super) trait Says: DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: DeserializeOwned + Clone + Send + Sync + 'static> Says for T {}

/// What the rows say that are read often, decoded once for each version of a row.
///
/// It spares no look-up in the store: a row that has another version there is decoded again.
pub(super) struct Decoded {
    values: Cache<Key, Value, Weight, RandomState>,
}

#[derive(Clone)]
struct Value {
    version: Version,
    bytes: u64,
    says: Arc<dyn Any + Send + Sync>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Value> for Weight {
    fn weight(&self, _: &Key, value: &Value) -> u64 {
        value.bytes
    }
}

impl Decoded {
    pub(super) fn new() -> Self {
        let (bytes, entries) = (limits::DECODED_BYTES, limits::DECODED_BYTES / 1_000);
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        let lifecycle = DefaultLifecycle::default();
        Self { values: Cache::with(entries, bytes, Weight, RandomState::default(), lifecycle) }
    }

    /// Returns what a row says.
    pub(super) fn decode<T: Says>(&self, slot: &Slot<T>, row: &Row) -> Result<T, Error> {
        if !slot.is_read_often() {
            return slot.decode(&row.document);
        }
        let known = self.values.get(slot.key()).filter(|known| known.version == row.version);
        if let Some(says) = known.as_ref().and_then(|known| known.says.downcast_ref::<T>()) {
            return Ok(says.clone());
        }
        let says = slot.decode(&row.document)?;
        let text = u64::try_from(row.document.as_str().len()).unwrap_or(u64::MAX);
        let bytes = text.saturating_mul(GROWTH).saturating_add(ENTRY_BYTES);
        let value = Value { version: row.version, bytes, says: Arc::new(T::clone(&says)) };
        self.values.insert(slot.key().clone(), value);
        Ok(says)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::store::{Document, Table};

    #[derive(Clone, Debug, PartialEq, Deserialize)]
    struct Named {
        name: String,
    }

    const TABLE: Table = Table::new("item");

    fn row(key: &str, version: u64, name: &str) -> Row {
        let document = Document::parse(format!(r#"{{"v":1,"name":"{name}"}}"#)).unwrap();
        Row { key: Key::new(TABLE, key.as_bytes()), document, version: Version::new(version) }
    }

    fn slot<T>(row: &Row) -> Slot<T> {
        Slot::new(row.key.clone())
    }

    #[test]
    fn a_version_is_decoded_once() {
        let decoded = Decoded::new();
        let (first, second) = (row("a", 1, "first"), row("a", 2, "second"));
        let name = |slot: Slot<Named>, row| decoded.decode(&slot, row).unwrap().name;
        assert_eq!(name(slot(&first).read_often(), &first), "first");
        // No store has two documents of one version: that shows what was decoded.
        let same_version = row("a", 1, "never decoded");
        assert_eq!(name(slot(&first).read_often(), &same_version), "first");
        assert_eq!(name(slot(&first), &same_version), "never decoded");
        assert_eq!(name(slot(&first).read_often(), &second), "second");
        assert_eq!(name(slot(&first).read_often(), &first), "first");
    }

    #[test]
    fn what_a_row_says_is_told_by_type() {
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        struct Other {
            name: String,
        }

        let decoded = Decoded::new();
        let row = row("a", 1, "ada");
        let named: Named = decoded.decode(&slot(&row).read_often(), &row).unwrap();
        let other: Other = decoded.decode(&slot(&row).read_often(), &row).unwrap();
        assert_eq!(named.name, other.name);
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        let decoded = Decoded::new();
        let bad = Row { document: Document::parse(r#"{"v":1}"#).unwrap(), ..row("a", 1, "") };
        let good = row("a", 1, "ada");
        assert!(
            decoded.decode::<Named>(&slot(&bad).read_often(), &bad).unwrap_err().is_corruption()
        );
        let named: Named = decoded.decode(&slot(&good).read_often(), &good).unwrap();
        assert_eq!(named.name, "ada");
    }
}
