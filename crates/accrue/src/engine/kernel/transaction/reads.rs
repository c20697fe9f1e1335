//! What a run has read: the rows, what holds each of them, and what copies may learn of it.

mod touched;

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};

use foldhash::fast::RandomState;

pub(in crate::engine) use self::touched::Touched;
use super::super::{
    known::{Known, Said},
    resident::{Learned, Memo, Memory, Resident, Residents},
    trace::RowsRead,
};
use crate::{
    Error, limits, schema,
    store::{Change, Document, Expected, Key, Precondition, Row, Store, StoreError, Version},
};

/// Rows that were read, as the store has them.
///
/// Keys are hashed with a seed of their own, and faster than by the standard library: an ingest hashes each
/// several times.
#[derive(Default)]
pub(super) struct Reads {
    rows: HashMap<Key, Fetched, RandomState>,
    /// Preconditions in read order; guarded rows excluded.
    preconditions: Vec<Precondition>,
    guards: Vec<GuardRead>,
    /// Place of a guard among them.
    places: HashMap<Key, usize, RandomState>,
    /// Places of guards of which it is known what their rows say.
    opened: HashMap<GuardOf, usize, RandomState>,
    /// Rows that copies are to learn, each once: those that the store was asked for under a guard, or that
    /// are written, with its place.
    under: Vec<(usize, Key)>,
    /// Those of them that are to be found by their keys alone.
    found: Vec<(usize, Key)>,
}

/// Kind of a guard, and whose it is.
pub(super) type GuardOf = (TypeId, [u8; 16]);

/// What is worked out from rows.
type Memoized = dyn Any + Send + Sync;

struct Fetched {
    row: Option<Arc<Known>>,
    holder: Holder,
    /// Place of the guard under which it was read.
    under: Option<usize>,
    /// Whether a copy is to learn it.
    is_noted: bool,
    /// Whether nobody has asked for it yet: it was read with its guard.
    is_ahead: bool,
}

impl Fetched {
    const fn new(row: Option<Arc<Known>>, holder: Holder, under: Option<usize>) -> Self {
        Self { row, holder, under, is_noted: false, is_ahead: false }
    }
}

/// Holder of a row that was read: what has to be as it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// The row itself, which is a precondition.
    Row,
    /// Its guard.
    Guard,
}

/// Guard that was read, and its copy.
struct GuardRead {
    key: Key,
    version: Option<Version>,
    resident: Option<Arc<Resident>>,
    memory: Memory,
    /// What its copy remembers that was worked out.
    memo: Option<Memo>,
    head: Option<Head>,
}

/// What the row of a guard says, as it was read or as it is to be written.
struct Head {
    says: Said,
    /// Writer of its document, where it is to be written.
    write: Option<WriteHead>,
}

/// Writes the document of a guard, by way of a buffer.
pub(super) type WriteHead =
    fn(&Key, &(dyn Any + Send + Sync), &mut Vec<u8>) -> Result<Document, Error>;

impl GuardRead {
    /// Tells whether none of its settled rows is written here.
    const fn is_settled(&self) -> bool {
        !matches!(self.memory, Memory::Void)
    }
}

impl Reads {
    /// Returns a row that was read.
    pub(super) fn get(&self, key: &Key) -> Option<Option<&Arc<Known>>> {
        self.rows.get(key).map(|fetched| fetched.row.as_ref())
    }

    /// Tells whether a row was read; it is a precondition from now on, where it is to be one.
    pub(super) fn has(&mut self, key: &Key, holder: Holder) -> bool {
        let Some(fetched) = self.rows.get_mut(key) else { return false };
        fetched.is_ahead = false;
        if fetched.holder == Holder::Guard && holder == Holder::Row {
            fetched.holder = Holder::Row;
            self.preconditions.push(precondition(key, fetched.row.as_deref()));
        }
        true
    }

    /// Notes a row that was read.
    pub(super) fn add(&mut self, key: Key, row: Option<Arc<Known>>, holder: Holder) {
        if holder == Holder::Row {
            self.preconditions.push(precondition(&key, row.as_deref()));
        }
        self.rows.insert(key, Fetched::new(row, holder, None));
    }

    /// Returns the place of a row that was read as a guard.
    pub(super) fn guard(&self, key: &Key) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Takes a row that was read for a guard, with its copy, and returns its place.
    pub(super) fn add_guard(&mut self, key: &Key, resident: Option<Arc<Resident>>) -> usize {
        let known = self.get(key).flatten();
        let (place, version) = (self.guards.len(), known.map(|known| known.row().version));
        self.places.insert(key.clone(), place);
        let (key, memory) = (key.clone(), Memory::Unchanged);
        let memo = resident.as_ref().and_then(|copy| copy.memo(version?));
        self.guards.push(GuardRead { key, version, resident, memory, memo, head: None });
        place
    }

    /// Tells whether it is known what the row of a guard says.
    pub(super) fn has_head(&self, guard: usize) -> bool {
        self.guards.get(guard).is_some_and(|guard| guard.head.is_some())
    }

    /// Keeps what the row of a guard says.
    pub(super) fn open_head(&mut self, guard: usize, of: GuardOf, says: Said) {
        self.opened.insert(of, guard);
        if let Some(guard) = self.guards.get_mut(guard) {
            guard.head = Some(Head { says, write: None });
        }
    }

    /// Returns the place of a guard of which it is known what its row says.
    pub(super) fn opened(&self, of: GuardOf) -> Option<usize> {
        self.opened.get(&of).copied()
    }

    /// Returns what the row of a guard says.
    pub(super) fn head(&self, guard: usize) -> Option<&Said> {
        Some(&self.guards.get(guard)?.head.as_ref()?.says)
    }

    /// Returns what the row of a guard says, to be changed.
    pub(super) fn head_mut(&mut self, guard: usize) -> Option<&mut Said> {
        Some(&mut self.guards.get_mut(guard)?.head.as_mut()?.says)
    }

    /// Has the row of a guard written.
    pub(super) fn touch_head(&mut self, guard: usize, write: WriteHead) {
        if let Some(head) = self.guards.get_mut(guard).and_then(|guard| guard.head.as_mut()) {
            head.write = Some(write);
        }
    }

    /// Takes the rows of guards that are to be written, each with what it says.
    pub(super) fn take_heads(&mut self) -> Vec<(Key, Said, WriteHead)> {
        let heads = self.guards.iter_mut().filter_map(|guard| {
            let head = guard.head.as_mut()?;
            Some((guard.key.clone(), Arc::clone(&head.says), head.write.take()?))
        });
        heads.collect()
    }

    /// Forgets what the rows of guards say, with what was changed of it.
    pub(super) fn forget_heads(&mut self) {
        self.guards.iter_mut().for_each(|guard| guard.head = None);
        self.opened.clear();
    }

    /// Tells whether another run of this process is known to have moved on a guard since it was read.
    pub(super) fn are_left_behind(&self, residents: &Residents) -> bool {
        let is_left_behind = |guard: &GuardRead| {
            let now = residents.of(&guard.key).and_then(|resident| resident.guard());
            now.is_some_and(|now| Some(now.row().version) != guard.version)
        };
        self.guards.iter().any(is_left_behind)
    }

    /// Reads a row from the copy of its guard, and tells whether that knows it.
    pub(super) fn take_copy(&mut self, guard: usize, key: &Key) -> bool {
        let found = self.guards.get(guard).and_then(|guard| {
            let resident = guard.resident.as_ref()?;
            resident.row(guard.version?, key)
        });
        let Some(row) = found else { return false };
        self.rows.insert(key.clone(), Fetched::new(row, Holder::Guard, Some(guard)));
        true
    }

    /// Returns what was worked out from the settled rows of a guard, and of another one: not where some of
    /// the first are written here.
    pub(super) fn recall(&self, guard: usize, beside: Option<usize>) -> Option<Arc<Memoized>> {
        let beside = self.settled(beside)?;
        let guard = self.guards.get(guard)?;
        let memo = match &guard.memory {
            Memory::Void => None,
            Memory::New(memo) => Some(memo),
            Memory::Unchanged => guard.memo.as_ref(),
        };
        memo.filter(|memo| memo.beside == beside).map(|memo| Arc::clone(&memo.value))
    }

    /// Notes what was worked out so.
    pub(super) fn remember(&mut self, guard: usize, beside: Option<usize>, value: Arc<Memoized>) {
        let Some(beside) = self.settled(beside) else { return };
        if let Some(guard) = self.guards.get_mut(guard).filter(|guard| guard.is_settled()) {
            guard.memory = Memory::New(Memo { beside, value });
        }
    }

    /// Returns the version of a guard of which no settled row is written here; none where one is.
    fn settled(&self, guard: Option<usize>) -> Option<Option<Version>> {
        let Some(guard) = guard else { return Some(None) };
        self.guards.get(guard).filter(|guard| guard.is_settled()).map(|guard| guard.version)
    }

    /// Takes a row that was read for one that a guard guards.
    pub(super) fn adopt(&mut self, guard: usize, key: &Key) {
        if let Some(fetched) = self.rows.get_mut(key)
            && fetched.holder == Holder::Row
            && !fetched.is_noted
            && fetched.row.is_some()
        {
            fetched.is_noted = true;
            self.under.push((guard, key.clone()));
            self.found.push((guard, key.clone()));
        }
    }

    /// Notes a row that the store was asked for under a guard, or ahead with it.
    pub(super) fn add_under(
        &mut self,
        guard: usize,
        key: Key,
        row: Option<Arc<Known>>,
        is_ahead: bool,
    ) {
        let is_noted = schema::is_resident(key.table());
        if is_noted {
            self.under.push((guard, key.clone()));
        }
        let fetched = Fetched::new(row, Holder::Guard, Some(guard));
        self.rows.insert(key, Fetched { is_noted, is_ahead, ..fetched });
    }

    /// Notes a row that is written under a guard for the first time.
    pub(super) fn note_written(&mut self, guard: usize, key: &Key, is_settled: bool) {
        if let Some(guard) = self.guards.get_mut(guard).filter(|_| is_settled) {
            guard.memory = Memory::Void;
        }
        if !self.rows.get(key).is_some_and(|fetched| fetched.is_noted) {
            self.under.push((guard, key.clone()));
        }
    }

    /// Returns the preconditions, and what its commit leaves under guards.
    pub(super) fn into_preconditions(self, writes: Writes<'_>) -> (Vec<Precondition>, Findings) {
        let Self { rows, preconditions, guards, under, found, .. } = self;
        let left = |key: &Key| match writes.of(key) {
            Some(left) => left,
            None => Left::Read(rows.get(key).and_then(|fetched| fetched.row.clone())),
        };
        let guards = guards.into_iter().map(|GuardRead { key, version, memory, .. }| Finding {
            left: left(&key),
            read: version,
            rows: Vec::new(),
            found: Vec::new(),
            memory,
            key,
        });
        let mut guards: Vec<_> = guards.collect();
        for (guard, key) in under {
            // Of a row that was to be written, and was neither read nor is written, nothing is known.
            let is_known = writes.places.contains_key(&key) || rows.contains_key(&key);
            if let Some(of) = guards.get_mut(guard).filter(|_| is_known) {
                let row = left(&key);
                of.rows.push((key, row));
            }
        }
        for (guard, key) in found {
            if let Some(of) = guards.get_mut(guard) {
                of.found.push(key);
            }
        }
        (preconditions, Findings(guards))
    }
}

/// What a run writes.
#[derive(Clone, Copy)]
pub(super) struct Writes<'w> {
    pub(super) changes: &'w [Change],
    /// What each of them says, where that is known and kept.
    pub(super) said: &'w [Option<Said>],
    /// Place of a key among them.
    pub(super) places: &'w HashMap<Key, usize, RandomState>,
}

impl Writes<'_> {
    /// Returns what is written of a row.
    fn of(&self, key: &Key) -> Option<Left> {
        let at = *self.places.get(key)?;
        let said = self.said.get(at).cloned().flatten();
        Some(Left::Written(self.changes.get(at)?.document().cloned(), said))
    }
}

/// What a run has found under guards: it holds where its commit happens.
pub(in crate::engine) struct Findings(Vec<Finding>);

struct Finding {
    key: Key,
    read: Option<Version>,
    left: Left,
    rows: Vec<(Key, Left)>,
    found: Vec<Key>,
    memory: Memory,
}

/// What a commit leaves of a row.
enum Left {
    /// It, as it was read.
    Read(Option<Arc<Known>>),
    /// What is written, and what that says where it is to be kept.
    Written(Option<Document>, Option<Said>),
}

impl Left {
    fn row(self, key: &Key, version: Version) -> Option<Arc<Known>> {
        match self {
            Self::Read(row) => row,
            Self::Written(document, said) => {
                let row = Row { key: key.clone(), document: document?, version };
                Some(Arc::new(Known::saying(row, said)))
            }
        }
    }
}

impl Findings {
    /// Has the guards read before their copies are used again: somebody has moved on, or may have.
    pub(in crate::engine) fn doubt(&self, residents: &Residents) {
        self.0.iter().for_each(|finding| residents.doubt(&finding.key));
    }

    /// Reads the guards anew with everything that their copies have, all in one call of the store: somebody
    /// has moved on.
    pub(in crate::engine) async fn refresh(
        &self,
        residents: &Residents,
        store: &dyn Store,
        rows_read: &RowsRead,
    ) -> Result<(), StoreError> {
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for Finding { key, .. } in &self.0 {
            let rows = residents.of(key).map(|resident| resident.keys()).unwrap_or_default();
            counts.push(rows.len());
            keys.push(key.clone());
            keys.extend(rows);
        }
        if keys.is_empty() || keys.len() > limits::REFRESHED_ROWS {
            self.doubt(residents);
            return Ok(());
        }
        rows_read.add(keys.len());
        let read = store.get(&keys).await?.into_iter();
        let known = read.map(|row| row.map(Known::new).map(Arc::new));
        let mut read = keys.iter().zip(known);
        for (Finding { key, .. }, count) in self.0.iter().zip(counts) {
            let left = read.next().and_then(|(_, guard)| guard);
            let rows = read.by_ref().take(count).map(|(key, row)| (key.clone(), row)).collect();
            let (key, found) = (key.clone(), Vec::new());
            let (read, memory) = (None, Memory::Unchanged);
            residents.keep(Learned { key, read, left, rows, found, memory });
        }
        Ok(())
    }

    /// Has copies keep them: their commit has happened, and has given what it wrote a version.
    pub(in crate::engine) fn keep(self, residents: &Residents, version: Version) {
        for Finding { key, read, left, rows, found, memory } in self.0 {
            let row = |(key, left): (Key, Left)| {
                let row = left.row(&key, version);
                (key, row)
            };
            let (left, rows) = (left.row(&key, version), rows.into_iter().map(row).collect());
            residents.keep(Learned { key, read, left, rows, found, memory });
        }
    }
}

pub(super) fn precondition(key: &Key, known: Option<&Known>) -> Precondition {
    let version = known.map(|known| known.row().version);
    Precondition { key: key.clone(), expected: expected(version) }
}

pub(super) const fn expected(version: Option<Version>) -> Expected {
    match version {
        Some(version) => Expected::Version(version),
        None => Expected::Absent,
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::{
        AccountId, CustomerId, ExternalId,
        schema::{CustomerHead, Guards as _},
        store::MemoryStore,
    };

    /// Keeps copies of customers, each with so many rows, and returns what a run has found of them.
    fn copies(residents: &Residents, customers: u8, rows: usize) -> Findings {
        let account = AccountId::parse("acme").unwrap();
        let finding = |number: u8| {
            let slot = CustomerHead::slot(&account, CustomerId::from_bytes([number; 16]));
            let document = slot.encode(&CustomerHead::default(), &mut Vec::new()).unwrap();
            let (key, version) = (slot.key().clone(), Version::new(1));
            let left = Some(Arc::new(Known::new(Row { key: key.clone(), document, version })));
            let leaf = |row: usize| {
                let name = ExternalId::parse(format!("{number} {row}")).unwrap();
                (schema::customer_external(&account, &name).key().clone(), None)
            };
            let (rows, found, memory) =
                ((0..rows).map(leaf).collect(), Vec::new(), Memory::Unchanged);
            residents.keep(Learned { key: key.clone(), read: None, left, rows, found, memory });
            let (read, left, rows) = (Some(version), Left::Read(None), Vec::new());
            Finding { key, read, left, rows, found: Vec::new(), memory: Memory::Unchanged }
        };
        Findings((0..customers).map(finding).collect())
    }

    /// How many copies are there, and how many of them are trusted, once they were refreshed from a store
    /// that has none of their rows.
    fn refreshed(customers: u8, rows: usize) -> (usize, usize) {
        let residents = Residents::new();
        let findings = copies(&residents, customers, rows);
        block_on(findings.refresh(&residents, &MemoryStore::new(), &RowsRead::default())).unwrap();
        let copies = findings.0.iter().filter_map(|finding| residents.of(&finding.key));
        let copies: Vec<_> = copies.collect();
        (copies.len(), copies.iter().filter(|copy| copy.guard().is_some()).count())
    }

    #[test]
    fn copies_are_refreshed_unless_they_have_too_many_rows() {
        let rows = limits::RESIDENT_ROWS;
        let most = u8::try_from(limits::REFRESHED_ROWS / (rows + 1)).unwrap();
        assert_eq!(refreshed(most, rows), (0, 0), "the store was asked, and has none of them");
        assert_eq!(refreshed(most + 1, rows), (usize::from(most) + 1, 0), "they are doubted");
    }
}
