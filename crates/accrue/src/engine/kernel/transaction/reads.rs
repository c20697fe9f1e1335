//! What a run has read: the rows, what holds each of them, and what copies may learn of it.

use std::{collections::HashMap, sync::Arc};

use foldhash::fast::RandomState;

use super::super::{
    resident::{Learned, Resident, Residents},
    trace::RowsRead,
};
use crate::{
    limits, schema,
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
    /// Rows that copies are to learn, each once: those that the store was asked for under a guard, or that
    /// are written, with its place.
    under: Vec<(usize, Key)>,
    /// Those of them that are to be found by their keys alone.
    found: Vec<(usize, Key)>,
}

struct Fetched {
    row: Option<Row>,
    holder: Holder,
    /// Whether a copy is to learn it.
    is_noted: bool,
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
    was_read: bool,
}

impl Reads {
    /// Returns a row that was read.
    pub(super) fn get(&self, key: &Key) -> Option<Option<&Row>> {
        self.rows.get(key).map(|fetched| fetched.row.as_ref())
    }

    /// Tells whether a row was read; it is a precondition from now on, where it is to be one.
    pub(super) fn has(&mut self, key: &Key, holder: Holder) -> bool {
        let Some(fetched) = self.rows.get_mut(key) else { return false };
        if fetched.holder == Holder::Guard && holder == Holder::Row {
            fetched.holder = Holder::Row;
            self.preconditions.push(precondition(key, fetched.row.as_ref()));
        }
        true
    }

    /// Notes a row that was read.
    pub(super) fn add(&mut self, key: Key, row: Option<Row>, holder: Holder) {
        if holder == Holder::Row {
            self.preconditions.push(precondition(&key, row.as_ref()));
        }
        self.rows.insert(key, Fetched { row, holder, is_noted: false });
    }

    /// Returns the place of a guard that was read as one.
    pub(super) fn guard(&self, key: &Key) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Returns the place of a guard that was read.
    pub(super) fn guard_read(&self, key: &Key) -> Option<usize> {
        let place = self.guard(key)?;
        self.guards.get(place).is_some_and(|guard| guard.was_read).then_some(place)
    }

    /// Adds a guard, which was read or will be, and returns its place.
    pub(super) fn add_guard(&mut self, key: &Key, resident: Option<Arc<Resident>>) -> usize {
        let place = self.guards.len();
        self.places.insert(key.clone(), place);
        self.guards.push(GuardRead { key: key.clone(), version: None, resident, was_read: false });
        self.settle_guards(&[place]);
        place
    }

    /// Notes of guards which version of them was read.
    pub(super) fn settle_guards(&mut self, places: &[usize]) {
        for place in places {
            let Some(guard) = self.guards.get_mut(*place) else { continue };
            if let Some(fetched) = self.rows.get(&guard.key) {
                guard.was_read = true;
                guard.version = fetched.row.as_ref().map(|row| row.version);
            }
        }
    }

    /// Tells whether another run of this process is known to have moved on a guard since it was read.
    pub(super) fn are_left_behind(&self, residents: &Residents) -> bool {
        let is_left_behind = |guard: &GuardRead| {
            let now = residents.of(&guard.key).and_then(|resident| resident.guard());
            now.is_some_and(|now| Some(now.version) != guard.version)
        };
        self.guards.iter().any(is_left_behind)
    }

    /// Returns what the copy of a guard has, which was not read yet: but for rows that are found by their
    /// names, which may be another's by now.
    pub(super) fn keys_of_copy(&self, guard: usize, residents: &Residents) -> Vec<Key> {
        let resident = self.guards.get(guard).and_then(|guard| guard.resident.as_ref());
        let keys = resident.map(|resident| resident.keys()).unwrap_or_default().into_iter();
        let keys = keys.map(|(key, _)| key).filter(|key| residents.guard_of(key).is_none());
        keys.filter(|key| !self.rows.contains_key(key)).collect()
    }

    /// Reads a row from the copy of its guard, and tells whether it is there.
    pub(super) fn take_copy(&mut self, guard: usize, key: &Key) -> bool {
        let found = self.guards.get(guard).and_then(|guard| {
            let resident = guard.resident.as_ref()?;
            resident.row(guard.version?, key)
        });
        let Some(row) = found else { return false };
        self.add(key.clone(), row, Holder::Guard);
        true
    }

    /// Reads a row from the copy of its guard, where it is there.
    ///
    /// A row that is not there may be about to be another's: nothing guards that.
    pub(super) fn find_copy(&mut self, guard: usize, key: &Key) {
        let found = self.guards.get(guard).and_then(|guard| {
            let resident = guard.resident.as_ref()?;
            resident.row(guard.version?, key)?
        });
        if let Some(row) = found {
            self.add(key.clone(), Some(row), Holder::Guard);
        }
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

    /// Notes a row that the store was asked for under a guard.
    pub(super) fn add_under(&mut self, guard: usize, key: Key, row: Option<Row>) {
        let is_noted = schema::is_resident(key.table());
        if is_noted {
            self.under.push((guard, key.clone()));
        }
        self.rows.insert(key, Fetched { row, holder: Holder::Guard, is_noted });
    }

    /// Notes a row that is written under a guard for the first time.
    pub(super) fn note_written(&mut self, guard: usize, key: &Key) {
        let is_noted = self.rows.get(key).is_some_and(|fetched| fetched.is_noted);
        if !is_noted && schema::is_resident(key.table()) {
            self.under.push((guard, key.clone()));
        }
    }

    /// Returns the preconditions, and what its commit leaves under guards.
    pub(super) fn into_preconditions(
        self,
        changes: &[Change],
        written: &HashMap<Key, usize, RandomState>,
    ) -> (Vec<Precondition>, Findings) {
        let Self { rows, preconditions, guards, under, found, .. } = self;
        let left = |key: &Key| match written.get(key).and_then(|at| changes.get(*at)) {
            Some(change) => Left::Written(change.document().cloned()),
            None => Left::Read(rows.get(key).and_then(|fetched| fetched.row.clone())),
        };
        let guards = guards.into_iter().map(|GuardRead { key, version, was_read, .. }| Finding {
            left: left(&key),
            read: version,
            was_read,
            rows: Vec::new(),
            found: Vec::new(),
            key,
        });
        let mut guards: Vec<_> = guards.collect();
        for (guard, key) in under {
            // Of a row that was to be written, and was neither read nor is written, nothing is known.
            let is_known = written.contains_key(&key) || rows.contains_key(&key);
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
        // One whose copy was asked in vain was not read.
        guards.retain(|guard| guard.was_read);
        (preconditions, Findings(guards))
    }
}

/// What a run has found under guards: it holds where its commit happens.
pub(in crate::engine) struct Findings(Vec<Finding>);

struct Finding {
    key: Key,
    was_read: bool,
    read: Option<Version>,
    left: Left,
    rows: Vec<(Key, Left)>,
    found: Vec<Key>,
}

/// What a commit leaves of a row.
enum Left {
    /// It, as it was read.
    Read(Option<Row>),
    /// What is written.
    Written(Option<Document>),
}

impl Left {
    fn row(self, key: &Key, version: Version) -> Option<Row> {
        match self {
            Self::Read(row) => row,
            Self::Written(document) => {
                let document = document?;
                Some(Row { key: key.clone(), document, version })
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
        let mut wanted = Vec::new();
        for Finding { key, .. } in &self.0 {
            let rows = residents.of(key).map(|resident| resident.keys()).unwrap_or_default();
            wanted.push(Wanted::Guard(key.clone(), rows.len()));
            wanted.extend(rows.into_iter().map(|(key, known)| Wanted::Row(key, known)));
        }
        if wanted.is_empty() || wanted.len() > limits::REFRESHED_ROWS {
            self.doubt(residents);
            return Ok(());
        }
        let keys: Vec<_> = wanted.iter().map(|wanted| wanted.key().clone()).collect();
        let mut found = store.get(&keys).await?.into_iter().zip(wanted);
        rows_read.add(keys.len());
        while let Some((left, guard)) = found.next() {
            let Wanted::Guard(key, rows) = guard else { continue };
            let mut learned =
                Learned { key, read: None, left, rows: Vec::new(), found: Vec::new() };
            for (row, wanted) in found.by_ref().take(rows) {
                let Wanted::Row(key, known) = wanted else { continue };
                // One that is found by its name, and is another row now, may be another's.
                let is_same = row.as_ref().map(|row| row.version) == known;
                if is_same || residents.guard_of(&key).is_none() {
                    learned.rows.push((key, row));
                }
            }
            residents.keep(learned);
        }
        Ok(())
    }

    /// Has copies keep them: their commit has happened, and has given what it wrote a version.
    pub(in crate::engine) fn keep(self, residents: &Residents, version: Version) {
        for Finding { key, read, left, rows, found, .. } in self.0 {
            let row = |(key, left): (Key, Left)| {
                let row = left.row(&key, version);
                (key, row)
            };
            let (left, rows) = (left.row(&key, version), rows.into_iter().map(row).collect());
            residents.keep(Learned { key, read, left, rows, found });
        }
    }
}

/// Row that is read anew: a guard, and how many rows of its copy follow; or one of those, as it was.
enum Wanted {
    Guard(Key, usize),
    Row(Key, Option<Version>),
}

impl Wanted {
    const fn key(&self) -> &Key {
        match self {
            Self::Guard(key, _) | Self::Row(key, _) => key,
        }
    }
}

pub(super) fn precondition(key: &Key, row: Option<&Row>) -> Precondition {
    Precondition { key: key.clone(), expected: expected(row.map(|row| row.version)) }
}

pub(super) const fn expected(version: Option<Version>) -> Expected {
    match version {
        Some(version) => Expected::Version(version),
        None => Expected::Absent,
    }
}
