//! One run of an operation: what it reads, what it writes, and the commit that ends it.

mod now;
mod reads;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use foldhash::fast::RandomState;
use serde::Serialize;

pub(super) use self::{now::Part, reads::Findings};
use self::reads::{Holder, Reads, expected};
use super::{Says, Shared, stripes::Held, trace::RowsRead};
use crate::{
    AccountId, CustomerId, Entropy, Error, IdOr, Pace, SeededEntropy, Timestamp, limits,
    schema::{Owner, Slot},
    store::{Batch, Change, Commit, Document, Key, Precondition, Row, Table, Version},
};

/// Unit of work: one run of an operation.
///
/// Every row read through it becomes a precondition, or is read under a [`Guard`](super::Guard) that is
/// one; every write is buffered, and one commit ends it. So the decision of an operation holds at the
/// instant of its commit, or the operation is run again.
pub(in crate::engine) struct Transaction<'a> {
    pub(in crate::engine) account: &'a AccountId,
    pub(in crate::engine) now: Timestamp,
    pub(in crate::engine) pace: Pace,
    pub(in crate::engine) rows_read: RowsRead,
    shared: &'a Shared,
    held: Held<'a>,
    /// Source of ids of a transaction that is never committed: such a one takes nothing from the host's
    /// entropy, and no locks.
    dry: Option<SeededEntropy>,
    /// Whether it takes what it reads from copies: whoever asks it then asks the store whether that holds.
    uses_copies: bool,
    /// Whether it takes names that callers choose for new ones, which the commit judges.
    trust: Trust,
    /// Owners for whom it has made something due.
    made_due: BTreeSet<Owner>,
    reads: Reads,
    /// Writes, in the order of the first write of each key.
    writes: Vec<Change>,
    /// Place of a key in `writes`.
    written: HashMap<Key, usize, RandomState>,
    /// Buffer that documents are written in.
    text: Vec<u8>,
}

/// Whether a run takes the names that its caller chooses, each once, for new ones: it does not read what
/// is there, and its commit [inserts](Change::Insert).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It reads what is there.
    Nobody,
    /// It may.
    Caller,
    /// It has done so for rows of this table. Unless it is committed, it has decided nothing.
    Given(Table),
}

/// Outcome of writing a row as it is.
pub(super) enum Touched {
    /// The row is to be written.
    Written,
    /// There is no such row.
    Absent,
}

/// Reason why a run ended without a decision.
pub(in crate::engine) enum Stop {
    /// The run failed.
    Error(Error),
    /// Owners whose transitions come first.
    First(Vec<Owner>),
    /// Locks that the run needs, all of them from the beginning.
    Locks(BTreeSet<usize>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl<'a> Transaction<'a> {
    pub(in crate::engine) fn new(
        shared: &'a Shared,
        account: &'a AccountId,
        now: Timestamp,
        held: Held<'a>,
    ) -> Self {
        Self {
            account,
            now,
            pace: Pace::new(),
            rows_read: RowsRead::default(),
            shared,
            held,
            dry: None,
            uses_copies: true,
            trust: Trust::Nobody,
            made_due: BTreeSet::new(),
            reads: Reads::default(),
            writes: Vec::new(),
            written: HashMap::default(),
            text: Vec::new(),
        }
    }

    /// Begins a transaction that is never committed.
    pub(in crate::engine) fn dry(shared: &'a Shared, account: &'a AccountId) -> Self {
        let tx = Self::new(shared, account, shared.now(), shared.stripes.hold_none());
        Self { dry: Some(SeededEntropy::new(0)), uses_copies: false, ..tx }
    }

    /// Begins a transaction that takes guards as they were known last: it says nothing unless it
    /// [holds](Self::holds).
    pub(in crate::engine) fn from_copies(self) -> Self {
        Self { uses_copies: true, ..self }
    }

    /// Begins a transaction that takes the names that its caller chooses for new ones.
    pub(super) fn trusting(self) -> Self {
        Self { trust: Trust::Caller, ..self }
    }

    /// Tells whether names that the caller chooses are taken for new ones: their rows, of a table, are not
    /// to be read, but [inserted](Self::insert).
    pub(in crate::engine) fn trust_caller(&mut self, table: Table) -> bool {
        if self.trust == Trust::Caller {
            self.trust = Trust::Given(table);
        }
        self.trust == Trust::Given(table)
    }

    /// Returns the table of the rows that were taken for new ones.
    pub(super) const fn trusted(&self) -> Option<Table> {
        match self.trust {
            Trust::Given(table) => Some(table),
            Trust::Nobody | Trust::Caller => None,
        }
    }

    pub(in crate::engine) fn entropy(&self) -> &dyn Entropy {
        match &self.dry {
            Some(entropy) => entropy,
            None => &*self.shared.entropy,
        }
    }

    /// Makes the other writers of these customers in this process wait.
    ///
    /// One that is yet to get its id is locked by its external id: another run would draw another.
    pub(in crate::engine) async fn lock(
        &mut self,
        customers: &[IdOr<CustomerId>],
    ) -> Result<(), Stop> {
        if self.dry.is_some() {
            return Ok(());
        }
        match self.held.missing(self.account, customers) {
            None => Ok(()),
            Some(wanted) if self.held.is_empty() => {
                self.held.take(wanted.clone()).await;
                match self.reads.are_left_behind(&self.shared.residents) {
                    true => Err(Stop::Locks(wanted)),
                    false => Ok(()),
                }
            }
            Some(wanted) => Err(Stop::Locks(wanted)),
        }
    }

    /// Reads rows, all in one call of the store.
    pub(in crate::engine) async fn fetch(
        &mut self,
        keys: impl IntoIterator<Item = &Key> + Send,
    ) -> Result<(), Error> {
        let rows = self.missing(keys.into_iter().map(|key| (key, ())), Holder::Row);
        for (key, row, ()) in self.load(rows).await? {
            self.reads.add(key, row, Holder::Row);
        }
        Ok(())
    }

    /// Reads rows that guard others, and rows under them, each with the place of its guard in `keys`: all
    /// in one call of the store. Returns the places of the guards among those that were read.
    ///
    /// A guard that the process has a copy of is taken as it was known last. One whose copy is doubted is
    /// read, with everything that the copy has.
    pub(super) async fn read_guards(
        &mut self,
        keys: &[Key],
        under: &[(usize, Key)],
    ) -> Result<Vec<usize>, Error> {
        let places: Vec<_> = keys.iter().map(|key| self.take_guard(key)).collect();
        let mut asked = HashSet::<_, RandomState>::default();
        let mut wanted = Vec::new();
        for (key, place) in keys.iter().zip(&places) {
            if !self.reads.has(key, Holder::Row) && asked.insert(key.clone()) {
                wanted.push((key.clone(), None));
                let known = self.reads.keys_of_copy(*place).into_iter();
                wanted.extend(known.map(|key| (key, Some(*place))));
            }
        }
        for (guard, key) in under {
            let Some(place) = places.get(*guard).copied() else { continue };
            let is_known = self.reads.has(key, Holder::Guard) || self.reads.take_copy(place, key);
            if !is_known && asked.insert(key.clone()) {
                wanted.push((key.clone(), Some(place)));
            }
        }
        for (key, row, guard) in self.load(wanted).await? {
            match guard {
                Some(guard) => self.reads.add_under(guard, key, row),
                None => self.reads.add(key, row, Holder::Row),
            }
        }
        self.reads.settle_guards(&places);
        Ok(places)
    }

    /// Takes the copy of a guard, unless it was read before, and returns its place.
    fn take_guard(&mut self, key: &Key) -> usize {
        if let Some(place) = self.reads.guard(key) {
            return place;
        }
        let copies = self.uses_copies.then_some(&self.shared.residents);
        let resident = copies.and_then(|copies| copies.of(key));
        let known = resident.as_ref().and_then(|resident| resident.guard());
        if let Some(guard) = known
            && !self.reads.has(key, Holder::Row)
        {
            self.reads.add(key.clone(), Some(guard), Holder::Row);
        }
        self.reads.add_guard(key, resident)
    }

    /// Reads rows under guards that were read, with the places of those: none becomes a precondition,
    /// unless it is read without its guard too.
    pub(super) async fn fetch_guarded(
        &mut self,
        keys: impl IntoIterator<Item = (usize, &Key)> + Send,
    ) -> Result<(), Error> {
        let mut missing = self.missing(keys.into_iter().map(|(at, key)| (key, at)), Holder::Guard);
        missing.retain(|(key, guard)| !self.reads.take_copy(*guard, key));
        for (key, row, guard) in self.load(missing).await? {
            self.reads.add_under(guard, key, row);
        }
        Ok(())
    }

    /// Reads rows whose guards are not known: from the copies that have them, where they are there, and
    /// else as preconditions of their own.
    pub(in crate::engine) async fn find_all(&mut self, keys: &[Key]) -> Result<(), Error> {
        for key in keys {
            if !self.uses_copies || self.written.contains_key(key) || self.reads.get(key).is_some() {
                continue;
            }
            let Some(guard) = self.shared.residents.guard_of(key) else { continue };
            let place = self.take_guard(&guard);
            self.reads.find_copy(place, key);
        }
        self.fetch(keys).await
    }

    /// Takes a row that was read, and that a guard has turned out to guard, for one of its copy.
    pub(super) fn adopt(&mut self, guard: usize, key: &Key) {
        self.reads.adopt(guard, key);
    }

    /// Returns the rows, each once, that were not read yet.
    fn missing<'k, W>(
        &mut self,
        keys: impl Iterator<Item = (&'k Key, W)>,
        holder: Holder,
    ) -> Vec<(Key, W)> {
        let mut asked = HashSet::<_, RandomState>::default();
        let missing = keys.filter(|(key, _)| !self.reads.has(key, holder) && asked.insert(*key));
        missing.map(|(key, with)| (key.clone(), with)).collect()
    }

    /// Reads rows, all in one call of the store.
    async fn load<W: Send>(
        &self,
        wanted: Vec<(Key, W)>,
    ) -> Result<Vec<(Key, Option<Row>, W)>, Error> {
        let (keys, with): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let rows = match keys.is_empty() {
            true => Vec::new(),
            false => self.rows_now(&keys).await?,
        };
        self.pace.spend(keys.len().saturating_mul(Pace::ROW)).await;
        Ok(keys.into_iter().zip(rows).zip(with).map(|((key, row), with)| (key, row, with)).collect())
    }

    /// Returns the decoded row that was fetched, or was written here.
    pub(in crate::engine) fn row<T: Says, G>(&self, slot: &Slot<T, G>) -> Result<Option<T>, Error> {
        let written = self.written.get(slot.key()).and_then(|at| self.writes.get(*at));
        if let Some(written) = written {
            return written.document().map(|document| slot.decode(document)).transpose();
        }
        match self.reads.get(slot.key()) {
            Some(row) => row.map(|row| self.shared.decoded.decode(slot, row)).transpose(),
            None => Err(Error::corrupt(format!("the row {} was not fetched", slot.key()))),
        }
    }

    /// Returns the decoded row that was fetched, or was written here, without a copy where it is read
    /// often.
    pub(super) fn shared_row<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
    ) -> Result<Option<Arc<T>>, Error> {
        if self.written.contains_key(slot.key()) {
            return Ok(self.row(slot)?.map(Arc::new));
        }
        let row = self.reads.get(slot.key()).flatten();
        row.map(|row| self.shared.decoded.shared(slot, row)).transpose()
    }

    /// Fetches a row and returns it decoded.
    pub(in crate::engine) async fn get<T: Says>(
        &mut self,
        slot: &Slot<T>,
    ) -> Result<Option<T>, Error> {
        if !self.written.contains_key(slot.key()) {
            self.fetch([slot.key()]).await?;
        }
        self.row(slot)
    }

    /// Fetches a row whose guard is not known before it is read: which guard that is, it says itself. Whoever
    /// finds it [adopts](super::Guard::adopt) it.
    pub(in crate::engine) async fn find<T: Says, G>(
        &mut self,
        slot: &Slot<T, G>,
    ) -> Result<Option<T>, Error> {
        Ok(self.find_rows(std::slice::from_ref(slot)).await?.pop().flatten())
    }

    /// Fetches rows so.
    pub(in crate::engine) async fn find_rows<T: Says, G>(
        &mut self,
        slots: &[Slot<T, G>],
    ) -> Result<Vec<Option<T>>, Error> {
        let keys: Vec<_> = slots.iter().map(|slot| slot.key().clone()).collect();
        self.find_all(&keys).await?;
        self.read_all(slots).await
    }

    /// Fetches rows and returns them decoded, in the order asked.
    pub(in crate::engine) async fn get_all<T: Says>(
        &mut self,
        slots: &[Slot<T>],
    ) -> Result<Vec<Option<T>>, Error> {
        self.fetch(slots.iter().map(Slot::key)).await?;
        self.read_all(slots).await
    }

    pub(super) async fn read_all<T: Says, G>(
        &self,
        slots: &[Slot<T, G>],
    ) -> Result<Vec<Option<T>>, Error> {
        let mut all = Vec::with_capacity(slots.len());
        for slot in slots {
            let row = self.reads.get(slot.key()).flatten();
            self.pace.spend(work_of(row)).await;
            all.push(self.row(slot)?);
        }
        Ok(all)
    }

    async fn rows_now(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, Error> {
        let rows = self.shared.store.get(keys).await?;
        self.rows_read.add(rows.len());
        if rows.len() == keys.len() { Ok(rows) } else { Err(wrong_count()) }
    }

    /// Tells whether all rows that were read still are as they were read: all of them at one instant.
    ///
    /// Rows that were written here, to read as if they were there, are dropped.
    pub(in crate::engine) async fn holds(mut self) -> Result<bool, Error> {
        let shared = self.shared;
        self.discard_writes();
        let Ended { batch, findings, .. } = self.into_batch(&[])?;
        if batch.preconditions.is_empty() {
            return Ok(true);
        }
        match shared.store.commit(batch).await {
            Ok(Commit::Committed(version)) => {
                findings.keep(&shared.residents, version);
                Ok(true)
            }
            Ok(Commit::Conflict(_)) => {
                findings.doubt(&shared.residents);
                Ok(false)
            }
            // Nothing was to be changed, so asking again doubles nothing.
            Err(error) => Err(Error::from(error).retry_doubles_nothing()),
        }
    }

    /// Writes a row when the transaction is committed.
    pub(in crate::engine) fn put<T: Serialize>(
        &mut self,
        slot: &Slot<T>,
        value: &T,
    ) -> Result<(), Error> {
        self.put_row(slot, value)
    }

    /// Writes a row with a guard or without.
    pub(super) fn put_row<T: Serialize, G>(
        &mut self,
        slot: &Slot<T, G>,
        value: &T,
    ) -> Result<(), Error> {
        let document = self.encode(slot, value)?;
        self.write(Change::Put(slot.key().clone(), document));
        Ok(())
    }

    /// Writes a row that was not read when the transaction is committed, where there is none then: else
    /// it is not, and the operation is run again with what is there.
    pub(in crate::engine) fn insert<T: Serialize>(
        &mut self,
        slot: &Slot<T>,
        value: &T,
    ) -> Result<(), Error> {
        let document = self.encode(slot, value)?;
        self.write(Change::Insert(slot.key().clone(), document));
        Ok(())
    }

    fn encode<T: Serialize, G>(&mut self, slot: &Slot<T, G>, value: &T) -> Result<Document, Error> {
        if slot.key().bytes().len() > limits::KEY_BYTES {
            return Err(Error::too_large("a key would be too long for the store"));
        }
        slot.encode(value, &mut self.text)
    }

    /// Removes a row when the transaction is committed.
    pub(in crate::engine) fn delete<T>(&mut self, slot: &Slot<T>) {
        self.write(Change::Delete(slot.key().clone()));
    }

    /// Notes that a row is written under a guard.
    pub(super) fn note_written(&mut self, guard: usize, key: &Key) {
        if !self.written.contains_key(key) {
            self.reads.note_written(guard, key);
        }
    }

    pub(super) fn write(&mut self, change: Change) {
        match self.written.get(change.key()).and_then(|at| self.writes.get_mut(*at)) {
            Some(earlier) => *earlier = change,
            None => {
                self.written.insert(change.key().clone(), self.writes.len());
                self.writes.push(change);
            }
        }
    }

    /// Writes a row that was read as it is, unless it is written already.
    pub(super) fn touch(&mut self, key: &Key) -> Touched {
        if self.written.contains_key(key) {
            return Touched::Written;
        }
        match self.stored(key).cloned() {
            Some(document) => {
                self.write(Change::Put(key.clone(), document));
                Touched::Written
            }
            None => Touched::Absent,
        }
    }

    /// Returns the writes so far.
    pub(in crate::engine) fn writes(&self) -> &[Change] {
        &self.writes
    }

    /// Goes back to earlier writes.
    pub(in crate::engine) fn set_writes(&mut self, writes: Vec<Change>) {
        let keys = writes.iter().map(|change| change.key().clone());
        self.written = keys.enumerate().map(|(at, key)| (key, at)).collect();
        self.writes = writes;
    }

    /// Returns the document that the store has of a row that was read.
    pub(in crate::engine) fn stored(&self, key: &Key) -> Option<&Document> {
        Some(&self.reads.get(key)??.document)
    }

    /// Notes that it makes something due for an owner.
    pub(in crate::engine) fn make_due(&mut self, owner: Owner) {
        self.made_due.insert(owner);
    }

    /// Returns the owners for whom something was made due.
    pub(in crate::engine) fn take_made_due(&mut self) -> BTreeSet<Owner> {
        std::mem::take(&mut self.made_due)
    }

    /// Forgets the writes.
    pub(in crate::engine) fn discard_writes(&mut self) {
        self.writes.clear();
        self.written.clear();
    }

    /// Makes sure that the writes behind the first ones would fit one commit.
    pub(in crate::engine) fn check_writes(&self, first: usize) -> Result<(), Error> {
        let changes = self.writes.get(first..).unwrap_or_default().to_vec();
        check_bounds(&Batch { preconditions: Vec::new(), changes })
    }

    /// Ends the transaction: returns the batch to commit, and what goes on.
    ///
    /// `first` are listed first, so that a race for an idempotency key is told from any other.
    pub(in crate::engine) fn into_batch(
        self,
        first: &[(Key, Option<Version>)],
    ) -> Result<Ended<'a>, Error> {
        let first = first.iter().map(|(key, version)| {
            let (key, expected) = (key.clone(), expected(*version));
            Precondition { key, expected }
        });
        let (read, findings) = self.reads.into_preconditions(&self.writes, &self.written);
        let batch =
            Batch { preconditions: first.chain(read).collect(), changes: self.writes };
        check_bounds(&batch)?;
        Ok(Ended { batch, findings, locks: self.held })
    }

    /// Ends the transaction without a commit: others come first, and move on.
    pub(in crate::engine) fn into_doubts(self) -> Held<'a> {
        let (_, findings) = self.reads.into_preconditions(&[], &self.written);
        findings.doubt(&self.shared.residents);
        self.held
    }

    /// Ends the transaction without a commit.
    pub(in crate::engine) fn into_held(self) -> Held<'a> {
        self.held
    }
}

/// Transaction that has ended.
pub(in crate::engine) struct Ended<'a> {
    /// Batch to commit.
    pub(in crate::engine) batch: Batch,
    /// What copies learn of it then.
    pub(in crate::engine) findings: Findings,
    /// Locks that go on to be held.
    pub(in crate::engine) locks: Held<'a>,
}

/// Returns the work of reading and decoding a row.
fn work_of(row: Option<&Row>) -> usize {
    let bytes = row.map_or(0, |row| row.document.as_str().len());
    Pace::work_of_bytes(bytes).saturating_add(Pace::ROW)
}

fn wrong_count() -> Error {
    Error::corrupt("the store gave another number of rows than was asked for")
}

/// Refuses a batch that no store needs to take, before it is called.
fn check_bounds(batch: &Batch) -> Result<(), Error> {
    let bytes =
        batch.changes.iter().fold(0_usize, |bytes, change| bytes.saturating_add(change.bytes()));
    for (what, found, most) in [
        ("preconditions", batch.preconditions.len(), limits::COMMIT_PRECONDITIONS),
        ("changes", batch.changes.len(), limits::COMMIT_CHANGES),
        ("bytes", bytes, limits::COMMIT_BYTES),
    ] {
        if found > most {
            return Err(Error::too_large(format!(
                "one commit would have {found} {what}, expected at most {most}: a split into \
                 smaller requests helps"
            )));
        }
    }
    Ok(())
}
