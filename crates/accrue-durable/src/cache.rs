use std::fmt;

use accrue::store::{Document, Key, Row, Version};
use foldhash::fast::RandomState;
use quick_cache::{
    Weighter,
    sync::{Cache, DefaultLifecycle},
};

use crate::Group;

/// What a row takes beside its bytes: what holds it, and its place in the cache.
const ROW_BYTES: u64 = 160;
/// What is expected of the bytes of a row, for the room that is made ahead.
const USUAL_BYTES: u64 = 512;

/// Rows that were read lately, ready for the next who asks; and keys under which there is none.
///
/// It holds them at one instant: that of the last group that was [published](Self::publish), which a
/// store makes visible at that moment and not sooner. What nobody has read is not kept, nor the row
/// that comes where there was none: so the rows of a large group, which are written and seldom read
/// again, do not push others out.
///
/// The store sees to it that nobody looks or [keeps](Self::keep) while a group is published, and that
/// what is kept was read at the instant of the last one.
pub struct RowCache {
    rows: Cache<Key, Kept, Weight, RandomState>,
}

/// What there is under a key.
type Kept = Option<(Version, Document)>;

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, key: &Key, row: &Kept) -> u64 {
        let document = row.as_ref().map_or(0, |(_, document)| document.as_str().len());
        let bytes = key.bytes().len().saturating_add(document);
        u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(ROW_BYTES)
    }
}

impl RowCache {
    /// An empty cache for so many bytes of rows; with 0 it stays empty.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let rows = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX);
        let lifecycle = DefaultLifecycle::default();
        Self { rows: Cache::with(rows, bytes, Weight, RandomState::default(), lifecycle) }
    }

    /// Returns what there is under a key, if that is known: a row or none.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Option<Row>> {
        let row = self.rows.get(key)?;
        Some(row.map(|(version, document)| Row { key: key.clone(), document, version }))
    }

    /// Returns which version of a row there is, if that is known.
    #[must_use]
    pub fn version(&self, key: &Key) -> Option<Option<Version>> {
        // Who writes a row has read it before: asking again does not make it any more wanted.
        Some(self.rows.peek(key)?.map(|(version, _)| version))
    }

    /// Keeps what was read under a key.
    pub fn keep(&self, key: &Key, row: Option<&Row>) {
        self.rows.insert(key.clone(), row.map(|row| (row.version, row.document.clone())));
    }

    /// Moves on to the instant after a group.
    pub fn publish(&self, group: Group) {
        for (key, row) in group.rows {
            match self.rows.peek(&key) {
                // The error would be that it has left the cache.
                Some(Some(_)) => drop(self.rows.replace(key, row, true)),
                Some(None) => drop(self.rows.remove(&key)),
                None => {}
            }
        }
    }
}

impl fmt::Debug for RowCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowCache").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use accrue::store::Table;

    use super::*;

    fn row(name: &str, version: u64, text: &str) -> Row {
        let key = Key::new(Table::new("item"), name.as_bytes());
        let document = Document::parse(text).unwrap();
        Row { key, document, version: Version::new(version) }
    }

    fn group(rows: impl IntoIterator<Item = Row>) -> Group {
        let rows = rows.into_iter().map(|row| (row.key, Some((row.version, row.document))));
        Group { rows: rows.collect(), ceiling: None }
    }

    #[test]
    fn what_was_read_is_as_the_last_group_left_it() {
        let cache = RowCache::new(1 << 20);
        let (old, new, other) = (row("a", 1, "{}"), row("a", 2, "{\"v\":1}"), row("b", 2, "{}"));
        assert_eq!(cache.get(&old.key), None);
        cache.keep(&old.key, Some(&old));
        assert_eq!(cache.get(&old.key), Some(Some(old.clone())));
        cache.publish(group([new.clone(), other.clone()]));
        assert_eq!(cache.get(&old.key), Some(Some(new.clone())));
        assert_eq!(cache.version(&old.key), Some(Some(new.version)));
        // Nobody has read it.
        assert_eq!((cache.get(&other.key), cache.version(&other.key)), (None, None));
        cache.publish(Group { rows: vec![(old.key.clone(), None)], ceiling: None });
        assert_eq!((cache.get(&old.key), cache.version(&old.key)), (Some(None), Some(None)));
    }

    #[test]
    fn that_there_is_no_row_is_known_until_one_comes() {
        let cache = RowCache::new(1 << 20);
        let (first, other) = (row("a", 1, "{}"), row("b", 1, "{}"));
        cache.keep(&first.key, None);
        cache.publish(group([other]));
        assert_eq!((cache.get(&first.key), cache.version(&first.key)), (Some(None), Some(None)));
        cache.publish(group([first.clone()]));
        assert_eq!((cache.get(&first.key), cache.version(&first.key)), (None, None));
    }

    #[test]
    fn a_row_that_outgrows_the_cache_leaves_it() {
        let cache = RowCache::new(1_000);
        let small = row("a", 1, "{}");
        let large = row("a", 2, &format!("{{\"v\":\"{}\"}}", "x".repeat(2_000)));
        cache.keep(&small.key, Some(&small));
        assert_eq!(cache.get(&small.key), Some(Some(small.clone())));
        cache.publish(group([large]));
        assert_eq!(cache.get(&small.key), None);
    }

    #[test]
    fn a_cache_without_room_stays_empty() {
        let cache = RowCache::new(0);
        let row = row("a", 1, "{}");
        cache.keep(&row.key, Some(&row));
        assert_eq!(cache.get(&row.key), None);
    }

    #[test]
    fn it_takes_no_more_than_its_bytes() {
        let cache = RowCache::new(100_000);
        let rows = (0..10_000).map(|n| row(&n.to_string(), 1, "{}"));
        let rows: Vec<_> = rows.inspect(|row| cache.keep(&row.key, Some(row))).collect();
        let here = rows.iter().filter(|row| cache.get(&row.key).is_some()).count();
        let here = u64::try_from(here).unwrap();
        assert!((100..=100_000 / ROW_BYTES).contains(&here), "{here}");
    }
}
