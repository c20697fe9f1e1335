use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use accrue::store::{
    Batch, Change, Commit, Expected, Key, Order, Row, Scan, Store, StoreError, Version,
};
use async_trait::async_trait;

use super::ProcessesFlaw;

/// Rows that all handles have in common.
#[derive(Debug, Default)]
pub(super) struct Rows {
    all: BTreeMap<Key, Row>,
    /// How many versions were given.
    versions: u64,
    /// How many calls there were.
    calls: u64,
    /// Numbers of the handles that are open.
    open: BTreeSet<u64>,
    pub(super) is_failing: bool,
}

/// One handle, with what it keeps for itself.
#[derive(Debug)]
pub(super) struct Handle {
    flaw: ProcessesFlaw,
    rows: Arc<Mutex<Rows>>,
    number: u64,
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    /// Rows that it has read or written.
    seen: BTreeMap<Key, Option<Row>>,
    scans: BTreeMap<String, Vec<Row>>,
    /// Rows when it was opened, with its own commits.
    opening: BTreeMap<Key, Row>,
    /// Rows before its last commit.
    before: Vec<(Key, Option<Row>)>,
    /// A commit that is to be applied.
    late: Option<(Vec<Change>, Version)>,
    versions: u64,
}

impl Handle {
    pub(super) fn open(flaw: ProcessesFlaw, rows: &Arc<Mutex<Rows>>) -> Self {
        let mut all = lock(rows);
        let number = (0..).find(|number| !all.open.contains(number)).unwrap_or_default();
        all.open.insert(number);
        let own = Own { opening: all.all.clone(), ..Own::default() };
        Self { flaw, rows: Arc::clone(rows), number, own: Mutex::new(own) }
    }

    /// Begins a call: what was left over is applied.
    fn call(&self) -> MutexGuard<'_, Rows> {
        let late = lock(&self.own).late.take();
        let mut rows = lock(&self.rows);
        rows.calls = rows.calls.wrapping_add(1);
        if let Some((changes, version)) = late {
            changes.into_iter().for_each(|change| rows.apply(change, version));
        }
        rows
    }

    /// Lets others in until one of them has called, or for a short while, as there may be no other.
    fn let_others_in(&self) {
        let before = lock(&self.rows).calls;
        for _ in 0..30 {
            if lock(&self.rows).calls != before {
                return;
            }
            thread::yield_now();
        }
    }

    fn row(&self, rows: &Rows, key: &Key) -> Option<Row> {
        let mut own = lock(&self.own);
        let kept = own.seen.get(key);
        let found = match (self.flaw, kept) {
            (ProcessesFlaw::KeepsRows, Some(Some(row))) => Some(row.clone()),
            (ProcessesFlaw::KeepsAbsence, Some(None)) => None,
            (ProcessesFlaw::SeesItsOpening, _) => own.opening.get(key).cloned(),
            _ => rows.all.get(key).cloned(),
        };
        own.seen.insert(key.clone(), found.clone());
        found
    }

    fn first_failed(&self, rows: &Rows, batch: &Batch) -> Option<Key> {
        let own = lock(&self.own);
        let version = |row: Option<&Row>| row.map(|row| row.version);
        let there = |key: &Key| version(rows.all.get(key));
        let found = |key: &Key, expected| match (self.flaw, expected, own.seen.get(key)) {
            (ProcessesFlaw::JudgesByItsOwn, Expected::Version(_), Some(row)) => {
                version(row.as_ref())
            }
            (ProcessesFlaw::InsertsByItsOwn, Expected::Absent, row) => {
                row.and_then(|row| version(row.as_ref()))
            }
            _ => there(key),
        };
        let mut failed =
            batch.expectations().filter(|(key, expected)| !expected.holds(found(key, *expected)));
        failed.next().map(|(key, _)| key.clone())
    }

    fn next_version(&self, rows: &mut Rows, changes: &[Change]) -> Version {
        let mut own = lock(&self.own);
        own.versions = own.versions.wrapping_add(1);
        rows.versions = rows.versions.wrapping_add(1);
        let number = match self.flaw {
            ProcessesFlaw::SharesVersions => own.versions,
            ProcessesFlaw::ReusesVersions => (self.number << 32).wrapping_add(own.versions),
            ProcessesFlaw::VersionsByContent => {
                let mut hasher = DefaultHasher::new();
                let documents = changes.iter().filter_map(Change::document);
                documents.for_each(|document| document.as_str().hash(&mut hasher));
                hasher.finish()
            }
            _ => rows.versions,
        };
        Version::new(number)
    }

    /// Keeps what it has written.
    fn note(&self, rows: &Rows, changes: &[Change], version: Version) {
        let mut own = lock(&self.own);
        own.scans.clear();
        own.before.clear();
        for change in changes {
            let (key, document) = change.clone().into_row();
            let row = document.map(|document| Row { key: key.clone(), document, version });
            own.before.push((key.clone(), rows.all.get(&key).cloned()));
            match &row {
                Some(row) => drop(own.opening.insert(key.clone(), row.clone())),
                None => drop(own.opening.remove(&key)),
            }
            own.seen.insert(key, row);
        }
    }

    fn apply(&self, mut rows: MutexGuard<'_, Rows>, changes: Vec<Change>, version: Version) {
        self.note(&rows, &changes, version);
        match self.flaw {
            ProcessesFlaw::ShowsCommitsLate => lock(&self.own).late = Some((changes, version)),
            ProcessesFlaw::AppliesOneByOne => {
                drop(rows);
                for change in changes {
                    lock(&self.rows).apply(change, version);
                    self.let_others_in();
                }
            }
            _ => changes.into_iter().for_each(|change| rows.apply(change, version)),
        }
    }
}

impl Rows {
    fn apply(&mut self, change: Change, version: Version) {
        match change.into_row() {
            (key, Some(document)) => {
                self.all.insert(key.clone(), Row { key, document, version });
            }
            (key, None) => drop(self.all.remove(&key)),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let before = mem::take(&mut lock(&self.own).before);
        let mut rows = self.call();
        rows.open.remove(&self.number);
        if self.flaw == ProcessesFlaw::LosesCommitsOfClosed {
            for (key, row) in before {
                match row {
                    Some(row) => drop(rows.all.insert(key, row)),
                    None => drop(rows.all.remove(&key)),
                }
            }
        }
    }
}

#[async_trait]
impl Store for Handle {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let rows = self.call();
        if self.flaw != ProcessesFlaw::GetsOneByOne {
            return Ok(keys.iter().map(|key| self.row(&rows, key)).collect());
        }
        drop(rows);
        let row = |key| {
            self.let_others_in();
            self.row(&lock(&self.rows), key)
        };
        Ok(keys.iter().map(row).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let rows = self.call();
        let mut own = lock(&self.own);
        let asked = format!("{scan:?}");
        if self.flaw == ProcessesFlaw::KeepsScans
            && let Some(kept) = own.scans.get(&asked)
        {
            return Ok(kept.clone());
        }
        let all = if self.flaw == ProcessesFlaw::SeesItsOpening { &own.opening } else { &rows.all };
        let is_within = |key: &Key| {
            let bytes = key.bytes();
            let is_before_end = scan.until.as_deref().is_none_or(|until| bytes < until);
            key.table() == scan.table && bytes >= &*scan.from && is_before_end
        };
        let mut found: Vec<_> = all.values().filter(|row| is_within(&row.key)).cloned().collect();
        found.sort_by(|one, other| one.key.bytes().cmp(other.key.bytes()));
        if scan.order == Order::Descending {
            found.reverse();
        }
        found.truncate(scan.limit);
        own.scans.insert(asked, found.clone());
        Ok(found)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let mut rows = self.call();
        if rows.is_failing && self.flaw == ProcessesFlaw::AppliesLate {
            let version = self.next_version(&mut rows, &batch.changes);
            lock(&self.own).late = Some((batch.changes, version));
            return Err(StoreError::indeterminate("the connection was lost"));
        }
        if let Some(key) = self.first_failed(&rows, &batch) {
            return Ok(Commit::Conflict(key));
        }
        if batch.changes.is_empty() {
            return Ok(Commit::Committed(Version::new(rows.versions)));
        }
        if self.flaw == ProcessesFlaw::JudgesThenApplies {
            drop(rows);
            self.let_others_in();
            rows = lock(&self.rows);
        }
        let version = self.next_version(&mut rows, &batch.changes);
        let is_failing = rows.is_failing;
        self.apply(rows, batch.changes, version);
        if is_failing && self.flaw == ProcessesFlaw::RefusesWhatItApplied {
            return Err(StoreError::unavailable("the connection was lost"));
        }
        Ok(Commit::Committed(version))
    }
}

// A case that fails may panic anywhere; the store goes on for the threads that it leaves.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
