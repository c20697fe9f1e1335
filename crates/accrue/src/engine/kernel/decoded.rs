//! Cache of decoded rows, by row version (`docs/decisions/documents-decoded-once.md`).

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

/// Bytes of an entry beside those of its decoded row.
const ENTRY_BYTES: u64 = 200;
/// Size of a decoded row, about, in the length of its document.
const GROWTH: u64 = 2;

/// Type that a document is decoded into.
pub(in crate::engine) trait Says:
    DeserializeOwned + Clone + Send + Sync + 'static
{
}

impl<T: DeserializeOwned + Clone + Send + Sync + 'static> Says for T {}

/// Cache of decoded rows, by row version.
///
/// It spares no look-up in the store: a row that has another version there is decoded again.
pub(in crate::engine) struct Decoded {
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
    pub(in crate::engine) fn new() -> Self {
        let (bytes, entries) = (limits::DECODED_BYTES, limits::DECODED_BYTES / 1_000);
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        let lifecycle = DefaultLifecycle::default();
        Self { values: Cache::with(entries, bytes, Weight, RandomState::default(), lifecycle) }
    }

    /// Returns the decoded row, for rows that are read often from the cache.
    pub(in crate::engine) fn decode<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
        row: &Row,
    ) -> Result<T, Error> {
        if slot.is_read_often() {
            self.shared(slot, row).map(Arc::unwrap_or_clone)
        } else {
            slot.decode(&row.document)
        }
    }

    /// Returns the decoded row without a copy, for rows that are read often from the cache.
    pub(in crate::engine) fn shared<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
        row: &Row,
    ) -> Result<Arc<T>, Error> {
        if !slot.is_read_often() {
            return slot.decode(&row.document).map(Arc::new);
        }
        let known = self.values.get(slot.key()).filter(|known| known.version == row.version);
        if let Some(Ok(says)) = known.map(|known| known.says.downcast::<T>()) {
            return Ok(says);
        }
        let says = Arc::new(slot.decode(&row.document)?);
        let text = u64::try_from(row.document.as_str().len()).unwrap_or(u64::MAX);
        let bytes = text.saturating_mul(GROWTH).saturating_add(ENTRY_BYTES);
        let value = Value { version: row.version, bytes, says: Arc::<T>::clone(&says) };
        self.values.insert(slot.key().clone(), value);
        Ok(says)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::{AccountId, ItemId, schema};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Named {
        name: String,
    }

    fn slot<T>() -> Slot<T> {
        let account = AccountId::parse("acme").unwrap();
        let item = schema::item(&account, ItemId::from_bytes([1; 16]));
        Slot::new(item.key().clone())
    }

    fn row<T: Serialize>(version: u64, says: &T) -> Row {
        let slot = slot();
        let document = slot.encode(says, &mut Vec::new()).unwrap();
        Row { key: slot.key().clone(), document, version: Version::new(version) }
    }

    fn named(version: u64, name: &str) -> Row {
        row(version, &Named { name: name.into() })
    }

    #[test]
    fn a_version_is_decoded_once() {
        let decoded = Decoded::new();
        let name = |slot: Slot<Named>, row| decoded.decode(&slot, &row).unwrap().name;
        assert_eq!(name(slot().read_often(), named(1, "first")), "first");
        // No store has two documents of one version: that shows what was decoded.
        assert_eq!(name(slot().read_often(), named(1, "never decoded")), "first");
        assert_eq!(name(slot(), named(1, "decoded again")), "decoded again");
        assert_eq!(name(slot().read_often(), named(2, "second")), "second");
        assert_eq!(name(slot().read_often(), named(1, "first")), "first");
    }

    #[test]
    fn what_a_row_says_is_told_by_type() {
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        struct Other {
            name: String,
        }

        let (decoded, row) = (Decoded::new(), named(1, "ada"));
        let one: Named = decoded.decode(&slot().read_often(), &row).unwrap();
        let other: Other = decoded.decode(&slot().read_often(), &row).unwrap();
        assert_eq!(one.name, other.name);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let decoded = Decoded::new();
        let account = AccountId::parse("acme").unwrap();
        let name = "x".repeat(60_000);
        for number in 0..200 {
            let item = schema::item(&account, ItemId::from_bytes([number; 16]));
            let slot = Slot::<Named>::new(item.key().clone()).read_often();
            let said = decoded.decode(&slot, &named(1, &name)).unwrap();
            assert_eq!(said.name, name);
        }
        let kept = decoded.values.weight();
        assert!(kept <= limits::DECODED_BYTES && kept > limits::DECODED_BYTES / 2, "{kept}");
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        #[derive(Serialize)]
        struct Nameless {}

        let decoded = Decoded::new();
        let bad = decoded.decode::<Named, ()>(&slot().read_often(), &row(1, &Nameless {}));
        assert!(bad.unwrap_err().is_corruption());
        let good = decoded.decode::<Named, ()>(&slot().read_often(), &named(1, "ada"));
        assert_eq!(good.unwrap().name, "ada");
    }
}
