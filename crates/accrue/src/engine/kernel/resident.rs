//! Resident copies: what the process knows of guards and of what they guard
//! (`docs/decisions/resident-copies.md`).

use std::{
    any::Any,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use foldhash::fast::RandomState;
use quick_cache::{
    UnitWeighter, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use super::known::Known;
use crate::{
    limits,
    store::{Key, Version},
};

/// Bytes of a row in a copy, beside those of its key and its document.
const ROW_BYTES: usize = 200;
/// Size of a row in a copy with what it says, and its part of what was worked out, about, in the length of
/// its document.
const TIMES: usize = 4;
/// A copy takes its place among the others anew once it has grown, or shrunk, by this part of its bytes.
const GROWTH: usize = 8;

/// Copies of guards, each with rows that it guards; bounded, and the least recently used goes.
///
/// A copy is true as of the version of its guard. Whoever reads from it has that version as a
/// precondition: so one that is too old costs a lost race, after which it is doubted.
pub(in crate::engine) struct Residents {
    copies: Cache<Key, Entry, Weight, RandomState>,
    /// Guards of rows that are asked for by callers who do not know them, as they were last.
    guards: Cache<Key, Key, UnitWeighter, RandomState>,
}

/// Copy with what it weighed when it took its place: a cache takes no notice of an entry that grows.
#[derive(Clone)]
struct Entry {
    resident: Arc<Resident>,
    bytes: usize,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Entry> for Weight {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        u64::try_from(entry.bytes).unwrap_or(u64::MAX)
    }
}

/// Copy of one guard.
pub(super) struct Resident(Mutex<Copied>);

struct Copied {
    guard: Arc<Known>,
    /// Rows that it guards, those that are known not to be there included.
    rows: HashMap<Key, Option<Arc<Known>>, RandomState>,
    bytes: usize,
    standing: Standing,
    memo: Option<Memo>,
}

/// What was worked out from settled rows of a guard, and of another one as of a version.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    pub(super) beside: Option<Version>,
    pub(super) value: Arc<dyn Any + Send + Sync>,
}

/// What a run leaves of what was worked out from the settled rows of a guard.
#[derive(Clone, Debug, Default)]
pub(super) enum Memory {
    /// It is as it was.
    #[default]
    Unchanged,
    /// It was worked out here.
    New(Memo),
    /// Some of those rows are written.
    Void,
}

/// Standing of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nobody is known to have moved on.
    Trusted,
    /// Somebody may have: its guard is read before it is used again.
    Doubted,
}

/// What a run has learned of a guard.
#[derive(Debug)]
pub(super) struct Learned {
    pub(super) key: Key,
    /// Version at which it was read; none where it was not there.
    pub(super) read: Option<Version>,
    /// Row of it that a commit leaves; none where there is none.
    pub(super) left: Option<Arc<Known>>,
    /// Rows that it guards, as that commit leaves them.
    pub(super) rows: Vec<(Key, Option<Arc<Known>>)>,
    /// Those of them that are to be found by their keys alone.
    pub(super) found: Vec<Key>,
    pub(super) memory: Memory,
}

impl Residents {
    pub(in crate::engine) fn new() -> Self {
        let bytes = limits::RESIDENT_BYTES;
        let entries = usize::try_from(bytes / 1_000).unwrap_or(usize::MAX);
        let lifecycle = DefaultLifecycle::default();
        let copies = Cache::with(entries, bytes, Weight, RandomState::default(), lifecycle);
        let lifecycle = DefaultLifecycle::default();
        let most = limits::RESIDENT_NAMES;
        let guards = Cache::with(
            usize::try_from(most).unwrap_or(usize::MAX),
            most,
            UnitWeighter,
            RandomState::default(),
            lifecycle,
        );
        Self { copies, guards }
    }

    /// Returns the copy of a guard.
    pub(super) fn of(&self, guard: &Key) -> Option<Arc<Resident>> {
        self.copies.get(guard).map(|entry| entry.resident)
    }

    /// Returns the guard of a row, as it was known last: its copy may have the row.
    pub(super) fn guard_of(&self, row: &Key) -> Option<Key> {
        self.guards.get(row)
    }

    /// Keeps what a run has learned whose commit has happened.
    pub(super) fn keep(&self, learned: Learned) {
        let Learned { key, read, left, rows, found, memory } = learned;
        for row in found {
            self.guards.insert(row, key.clone());
        }
        let Some(guard) = left else {
            self.copies.remove(&key);
            return;
        };
        match self.copies.get(&key) {
            Some(Entry { resident, bytes }) => {
                let grown = resident.keep(read, guard, rows, memory);
                if grown.abs_diff(bytes) > bytes / GROWTH {
                    self.copies.insert(key, Entry { resident, bytes: grown });
                }
            }
            None => {
                let copied = Copied::new(guard, rows, memory);
                let bytes = copied.bytes;
                let resident = Arc::new(Resident(Mutex::new(copied)));
                self.copies.insert(key, Entry { resident, bytes });
            }
        }
    }

    /// Has a guard read before its copy is used again.
    pub(super) fn doubt(&self, guard: &Key) {
        if let Some(resident) = self.of(guard) {
            resident.copied().standing = Standing::Doubted;
        }
    }
}

impl Resident {
    /// Returns the guard as it was known last, unless that is doubted.
    pub(super) fn guard(&self) -> Option<Arc<Known>> {
        let copied = self.copied();
        (copied.standing == Standing::Trusted).then(|| copied.guard.clone())
    }

    /// Returns a row as it is under a version of the guard; none where that is not known.
    pub(super) fn row(&self, guard: Version, key: &Key) -> Option<Option<Arc<Known>>> {
        let copied = self.copied();
        (copied.guard.row().version == guard).then(|| copied.rows.get(key).cloned()).flatten()
    }

    /// Returns what was worked out from its settled rows, where that is as they are under a version of the
    /// guard.
    pub(super) fn memo(&self, guard: Version) -> Option<Memo> {
        let copied = self.copied();
        (copied.guard.row().version == guard).then(|| copied.memo.clone()).flatten()
    }

    /// Returns the keys of its rows.
    pub(super) fn keys(&self) -> Vec<Key> {
        self.copied().rows.keys().cloned().collect()
    }

    /// Takes over what a commit has left, and returns how many bytes the copy has then.
    fn keep(
        &self,
        read: Option<Version>,
        guard: Arc<Known>,
        rows: Vec<(Key, Option<Arc<Known>>)>,
        memory: Memory,
    ) -> usize {
        let mut copied = self.copied();
        let now = copied.guard.row().version;
        if read == Some(now) {
            copied.bytes = copied.bytes.saturating_add(bytes_of(Some(&guard)));
            copied.bytes = copied.bytes.saturating_sub(bytes_of(Some(&copied.guard)));
            (copied.guard, copied.standing) = (guard, Standing::Trusted);
            copied.remember(memory);
            copied.take(rows);
        } else if read != Some(guard.row().version) || copied.standing == Standing::Doubted {
            *copied = Copied::new(guard, rows, memory);
        }
        // Else it has only read, and somebody else has moved on since.
        copied.bytes
    }

    fn copied(&self) -> MutexGuard<'_, Copied> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copied {
    fn new(guard: Arc<Known>, rows: Vec<(Key, Option<Arc<Known>>)>, memory: Memory) -> Self {
        let bytes = bytes_of(Some(&guard));
        let mut copied = Self {
            guard,
            rows: HashMap::default(),
            bytes,
            standing: Standing::Trusted,
            memo: None,
        };
        copied.remember(memory);
        copied.take(rows);
        copied
    }

    fn remember(&mut self, memory: Memory) {
        match memory {
            Memory::Unchanged => {}
            Memory::New(memo) => self.memo = Some(memo),
            Memory::Void => self.memo = None,
        }
    }

    /// Takes rows.
    fn take(&mut self, rows: Vec<(Key, Option<Arc<Known>>)>) {
        for (key, row) in rows {
            let key_bytes = key.bytes().len();
            let bytes = bytes_of(row.as_deref());
            if let Some(known) = self.rows.get_mut(&key) {
                self.bytes = self.bytes.saturating_add(bytes);
                self.bytes = self.bytes.saturating_sub(bytes_of(known.as_deref()));
                *known = row;
                continue;
            }
            if self.rows.len() >= limits::RESIDENT_ROWS {
                // It begins anew: most of them are of times that are past.
                self.rows.clear();
                self.bytes = bytes_of(Some(&self.guard));
            }
            self.bytes = self.bytes.saturating_add(bytes).saturating_add(key_bytes);
            self.rows.insert(key, row);
        }
    }
}

fn bytes_of(row: Option<&Known>) -> usize {
    let document = row.map_or(0, |known| known.row().document.as_str().len());
    document.saturating_mul(TIMES).saturating_add(ROW_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::{
        AccountId, CustomerId, ExternalId,
        schema::{self, CustomerHead, Guards as _, Slot},
        store::Row,
    };

    fn row(key: &Key, version: u64, text: &str) -> Arc<Known> {
        let slot = Slot::<serde_json::Value>::new(key.clone());
        let document = slot.encode(&json!({ "text": text }), &mut Vec::new()).unwrap();
        let version = Version::new(version);
        Arc::new(Known::new(Row { key: key.clone(), document, version }))
    }

    fn account() -> AccountId {
        AccountId::parse("acme").unwrap()
    }

    fn guard() -> Key {
        CustomerHead::slot(&account(), CustomerId::from_bytes([1; 16])).key().clone()
    }

    fn leaf(name: &str) -> Key {
        schema::customer_external(&account(), &ExternalId::parse(name).unwrap()).key().clone()
    }

    /// What a run has learned that read the guard at a version, and left it at another one.
    fn learned(read: u64, left: u64, rows: &[(&str, Option<u64>)]) -> Learned {
        let rows = rows.iter().map(|(name, version)| {
            let key = leaf(name);
            let row = version.map(|version| row(&key, version, ""));
            (key, row)
        });
        Learned {
            key: guard(),
            read: Some(Version::new(read)),
            left: Some(row(&guard(), left, "")),
            rows: rows.collect(),
            found: Vec::new(),
            memory: Memory::Unchanged,
        }
    }

    /// The version of a row under one of the guard: none where it is not known, nothing where it is known
    /// not to be there.
    fn known(residents: &Residents, under: u64, name: &str) -> Option<Option<u64>> {
        let resident = residents.of(&guard())?;
        let row = resident.row(Version::new(under), &leaf(name))?;
        Some(row.map(|known| known.row().version.number()))
    }

    fn trusted(residents: &Residents) -> Option<u64> {
        Some(residents.of(&guard())?.guard()?.row().version.number())
    }

    #[test]
    fn a_copy_goes_along_with_each_commit() {
        let residents = Residents::new();
        assert_eq!(trusted(&residents), None);
        residents.keep(learned(1, 1, &[("a", Some(1)), ("b", None)]));
        assert_eq!(trusted(&residents), Some(1));
        assert_eq!(known(&residents, 1, "a"), Some(Some(1)));
        assert_eq!(known(&residents, 1, "b"), Some(None));
        assert_eq!(known(&residents, 1, "c"), None);
        residents.keep(learned(1, 2, &[("b", Some(2))]));
        assert_eq!(known(&residents, 2, "a"), Some(Some(1)));
        assert_eq!(known(&residents, 2, "b"), Some(Some(2)));
        assert_eq!(known(&residents, 1, "a"), None, "nobody reads what another version guards");
    }

    #[test]
    fn a_copy_that_others_have_left_behind_is_replaced() {
        let residents = Residents::new();
        residents.keep(learned(1, 1, &[("a", Some(1))]));
        residents.keep(learned(7, 8, &[("b", Some(8))]));
        assert_eq!(trusted(&residents), Some(8));
        assert_eq!(known(&residents, 8, "a"), None);
        assert_eq!(known(&residents, 8, "b"), Some(Some(8)));
    }

    #[test]
    fn one_that_has_only_read_does_not_replace_what_others_have_left() {
        let residents = Residents::new();
        residents.keep(learned(1, 2, &[("a", Some(2))]));
        residents.keep(learned(1, 1, &[("a", Some(1))]));
        assert_eq!(trusted(&residents), Some(2));
        residents.doubt(&guard());
        residents.keep(learned(3, 3, &[("a", Some(3))]));
        assert_eq!(trusted(&residents), Some(3));
    }

    #[test]
    fn one_that_is_doubted_is_good_again_where_its_guard_is_as_it_was() {
        let residents = Residents::new();
        residents.keep(learned(1, 1, &[("a", Some(1))]));
        residents.doubt(&guard());
        assert_eq!(trusted(&residents), None);
        assert_eq!(known(&residents, 1, "a"), Some(Some(1)));
        residents.keep(learned(1, 2, &[]));
        assert_eq!(trusted(&residents), Some(2));
        assert_eq!(known(&residents, 2, "a"), Some(Some(1)));
    }

    /// What a run has learned that has worked something out at a version beside another one.
    fn worked_out(read: u64, left: u64, value: u64, beside: u64) -> Learned {
        let (beside, value) = (Some(Version::new(beside)), Arc::new(value));
        Learned { memory: Memory::New(Memo { beside, value }), ..learned(read, left, &[]) }
    }

    /// What was worked out, as it is known under a version, with the version beside it.
    fn recalled(residents: &Residents, under: u64) -> Option<(u64, Option<u64>)> {
        let memo = residents.of(&guard())?.memo(Version::new(under))?;
        let value = memo.value.downcast_ref::<u64>()?;
        Some((*value, memo.beside.map(Version::number)))
    }

    #[test]
    fn what_was_worked_out_stays_until_a_settled_row_is_written() {
        let residents = Residents::new();
        residents.keep(worked_out(1, 2, 7, 5));
        assert_eq!(recalled(&residents, 2), Some((7, Some(5))));
        assert_eq!(recalled(&residents, 1), None);
        residents.keep(learned(2, 3, &[("a", Some(3))]));
        assert_eq!(recalled(&residents, 3), Some((7, Some(5))));
        residents.keep(worked_out(3, 4, 8, 6));
        assert_eq!(recalled(&residents, 4), Some((8, Some(6))));
        residents.keep(Learned { memory: Memory::Void, ..learned(4, 5, &[]) });
        assert_eq!(recalled(&residents, 5), None);
    }

    #[test]
    fn what_was_worked_out_goes_where_others_have_moved_on() {
        let residents = Residents::new();
        residents.keep(worked_out(1, 2, 7, 5));
        residents.keep(learned(3, 4, &[]));
        assert_eq!(recalled(&residents, 4), None);
        residents.keep(worked_out(6, 7, 8, 5));
        assert_eq!(recalled(&residents, 7), Some((8, Some(5))));
        residents.keep(worked_out(2, 2, 9, 5));
        assert_eq!(recalled(&residents, 7), Some((8, Some(5))), "who has read before is not heard");
    }

    #[test]
    fn a_guard_that_is_gone_has_no_copy() {
        let residents = Residents::new();
        residents.keep(learned(1, 1, &[]));
        residents.keep(Learned { left: None, ..learned(1, 1, &[]) });
        assert!(residents.of(&guard()).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let residents = Residents::new();
        let names: Vec<_> = (0..limits::RESIDENT_ROWS * 2).map(|at| format!("{at:05}")).collect();
        let rows: Vec<_> = names.iter().map(|name| (name.as_str(), Some(1))).collect();
        residents.keep(learned(1, 1, &rows));
        assert_eq!(known(&residents, 1, "00000"), None);
        assert_eq!(known(&residents, 1, names.last().unwrap()), Some(Some(1)));
        let text = "x".repeat(60_000);
        for number in 0..limits::RESIDENT_BYTES / 100_000 {
            let key = leaf(&number.to_string());
            let left = row(&key, 1, &text);
            residents.keep(Learned { key, read: None, left: Some(left), ..learned(1, 1, &[]) });
        }
        let kept = residents.copies.weight();
        assert!(kept <= limits::RESIDENT_BYTES && kept > limits::RESIDENT_BYTES / 2, "{kept}");
    }

    #[test]
    fn names_that_copies_are_found_by_are_bounded() {
        let residents = Residents::new();
        let most = usize::try_from(limits::RESIDENT_NAMES).unwrap();
        let names = || (0..most * 2).map(|at| leaf(&at.to_string()));
        residents.keep(Learned { found: names().collect(), ..learned(1, 1, &[]) });
        let kept = names().filter(|name| residents.guard_of(name).is_some()).count();
        assert!(kept <= most && kept > most / 2, "{kept}");
        assert_eq!(residents.guard_of(&leaf(&(most * 2 - 1).to_string())), Some(guard()));
    }
}
