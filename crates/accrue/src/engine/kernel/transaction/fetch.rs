//! Reads of rows that hold: each is a precondition, or is read under a guard that is one.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use foldhash::fast::RandomState;

use super::{
    super::{
        Says,
        known::{Known, as_said},
        resident::Resident,
    },
    Transaction,
    reads::{Holder, Reads, Touched},
};
use crate::{
    Error, Pace, limits,
    schema::Slot,
    store::{Change, Key, Row},
};

impl Transaction<'_> {
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
    pub(in crate::engine::kernel) async fn read_guards(
        &mut self,
        keys: &[Key],
        under: &[(usize, Key)],
    ) -> Result<Vec<usize>, Error> {
        let mut asked = HashSet::<_, RandomState>::default();
        let (mut wanted, mut copies) = (Vec::new(), HashMap::<_, _, RandomState>::default());
        for (at, key) in keys.iter().enumerate() {
            let copy = self.copy_of(key);
            if self.take_guard(key, copy.as_ref()).is_some() || !asked.insert(key.clone()) {
                continue;
            }
            wanted.push((key.clone(), None));
            if let Some(copy) = copy {
                let room = limits::REFRESHED_ROWS.saturating_sub(wanted.len());
                let mut known = copy.keys();
                known.retain(|key| !self.reads.has(key, Holder::Guard));
                wanted.extend(known.into_iter().take(room).map(|key| (key, Some(at))));
                copies.insert(key, copy);
            }
        }
        for (at, key) in under {
            let guard = keys.get(*at).and_then(|guard| self.reads.guard(guard));
            let is_known = match guard {
                Some(guard) => self.knows(guard, key),
                None => self.reads.has(key, Holder::Guard),
            };
            if !is_known && asked.insert(key.clone()) {
                wanted.push((key.clone(), Some(*at)));
            }
        }
        let place = |reads: &Reads, key| reads.guard(key).ok_or_else(guard_missing);
        for (key, row, guard) in self.load(wanted).await? {
            match guard.and_then(|at: usize| keys.get(at)) {
                None => {
                    self.reads.add(key.clone(), row, Holder::Row);
                    self.reads.add_guard(&key, copies.remove(&key));
                }
                Some(guard) => self.reads.add_under(place(&self.reads, guard)?, key, row, true),
            }
        }
        keys.iter().map(|key| place(&self.reads, key)).collect()
    }

    /// Reads a row that guards others, and returns its place among the guards.
    pub(in crate::engine::kernel) async fn read_guard(
        &mut self,
        key: &Key,
    ) -> Result<usize, Error> {
        match self.reads.guard(key) {
            Some(place) => Ok(place),
            None => {
                let places = self.read_guards(std::slice::from_ref(key), &[]).await?;
                places.first().copied().ok_or_else(guard_missing)
            }
        }
    }

    /// Tells whether a row under a guard was read, or its copy has it.
    pub(in crate::engine::kernel) fn knows(&mut self, guard: usize, key: &Key) -> bool {
        self.reads.has(key, Holder::Guard) || self.reads.take_copy(guard, key)
    }

    /// Returns the copy of a guard, where copies are used.
    fn copy_of(&self, guard: &Key) -> Option<Arc<Resident>> {
        self.uses_copies.then(|| self.shared.residents.of(guard)).flatten()
    }

    /// Returns the place of a guard that was read, or whose copy knows how it was last.
    fn take_guard(&mut self, key: &Key, copy: Option<&Arc<Resident>>) -> Option<usize> {
        if let Some(place) = self.reads.guard(key) {
            return Some(place);
        }
        if !self.reads.has(key, Holder::Row) {
            let known = copy.and_then(|copy| copy.guard())?;
            self.reads.add(key.clone(), Some(known), Holder::Row);
        }
        Some(self.reads.add_guard(key, copy.cloned()))
    }

    /// Reads rows under guards that were read, with the places of those: none becomes a precondition,
    /// unless it is read without its guard too.
    pub(in crate::engine::kernel) async fn fetch_guarded(
        &mut self,
        keys: impl IntoIterator<Item = (usize, &Key)> + Send,
    ) -> Result<(), Error> {
        let mut missing = self.missing(keys.into_iter().map(|(at, key)| (key, at)), Holder::Guard);
        missing.retain(|(key, guard)| !self.reads.take_copy(*guard, key));
        for (key, row, guard) in self.load(missing).await? {
            self.reads.add_under(guard, key, row, false);
        }
        Ok(())
    }

    /// Reads rows of one owner, whose guard is not known: from its copy, where that has the first, and else
    /// as preconditions of their own. Their owner is the same for ever.
    pub(in crate::engine) async fn find_first(&mut self, keys: &[Key]) -> Result<(), Error> {
        keys.iter().for_each(|key| self.take_copy_of(key));
        match keys.first() {
            Some(first) if self.reads.get(first).is_none() => self.fetch(keys).await,
            _ => Ok(()),
        }
    }

    /// Takes a row from the copy that knows it.
    fn take_copy_of(&mut self, key: &Key) {
        let is_known = self.written.contains_key(key) || self.reads.get(key).is_some();
        if is_known || !self.uses_copies {
            return;
        }
        let Some(guard) = self.shared.residents.guard_of(key) else { return };
        let copy = self.copy_of(&guard);
        if let Some(place) = self.take_guard(&guard, copy.as_ref()) {
            self.reads.take_copy(place, key);
        }
    }

    /// Takes a row that was read, and that a guard has turned out to guard, for one of its copy.
    pub(in crate::engine::kernel) fn adopt(&mut self, guard: usize, key: &Key) {
        self.reads.adopt(guard, key);
    }

    /// Tells whether a row was read or written here, or is in a copy by which its guard is known.
    pub(in crate::engine) fn has_found(&self, key: &Key) -> bool {
        let is_here = self.reads.get(key).is_some() || self.written.contains_key(key);
        is_here || (self.uses_copies && self.shared.residents.guard_of(key).is_some())
    }

    /// Tells whether a guard was read, or there is a copy of it.
    pub(in crate::engine) fn has_guard(&self, guard: &Key) -> bool {
        self.reads.guard(guard).is_some() || self.copy_of(guard).is_some()
    }

    pub(in crate::engine::kernel) fn touched_under(
        &self,
        guards: impl Iterator<Item = usize>,
    ) -> Vec<Touched> {
        self.reads.touched(guards)
    }

    /// Returns what was worked out from the settled rows of a guard, and of another one beside it.
    pub(in crate::engine::kernel) fn recall<T: Send + Sync + 'static>(
        &self,
        guard: usize,
        beside: Option<usize>,
    ) -> Option<Arc<T>> {
        self.reads.recall(guard, beside)?.downcast().ok()
    }

    /// Notes what was worked out so.
    pub(in crate::engine::kernel) fn remember<T: Send + Sync + 'static>(
        &mut self,
        guard: usize,
        beside: Option<usize>,
        value: Arc<T>,
    ) {
        self.reads.remember(guard, beside, value);
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
    ) -> Result<Vec<(Key, Option<Arc<Known>>, W)>, Error> {
        let (keys, with): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let rows = match keys.is_empty() {
            true => Vec::new(),
            false => self.rows_now(&keys).await?,
        };
        self.pace.spend(keys.len().saturating_mul(Pace::ROW)).await;
        Ok(keys
            .into_iter()
            .zip(rows)
            .zip(with)
            .map(|((key, row), with)| (key, row.map(Known::new).map(Arc::new), with))
            .collect())
    }

    /// Returns the decoded row that was fetched, or was written here.
    pub(in crate::engine) fn row<T: Says, G>(&self, slot: &Slot<T, G>) -> Result<Option<T>, Error> {
        Ok(self.shared_row(slot)?.map(Arc::unwrap_or_clone))
    }

    /// Returns the decoded row that was fetched, or was written here, without a copy where it is read
    /// often.
    pub(in crate::engine::kernel) fn shared_row<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
    ) -> Result<Option<Arc<T>>, Error> {
        if let Some(at) = self.written.get(slot.key()) {
            let said = self.said.get(*at).and_then(Option::as_ref).and_then(as_said);
            let document = self.writes.get(*at).and_then(Change::document);
            return match (said, document) {
                (Some(said), _) => Ok(Some(said)),
                (None, document) => {
                    document.map(|document| slot.decode(document).map(Arc::new)).transpose()
                }
            };
        }
        match self.reads.get(slot.key()) {
            Some(known) => known.map(|known| known.says(slot, &self.shared.decoded)).transpose(),
            None => Err(Error::corrupt(format!("the row {} was not fetched", slot.key()))),
        }
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

    /// Fetches a row whose guard is not known before it is read, and may be another one by now: it is a
    /// precondition of its own, also where a copy knows it. Whoever finds it [adopts](super::Guard::adopt) it.
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
        keys.iter().for_each(|key| self.take_copy_of(key));
        self.fetch(&keys).await?;
        self.read_all(slots).await
    }

    /// Fetches rows so, and in the same call of the store others as they are now, which hold nothing.
    pub(in crate::engine) async fn find_rows_beside<T: Says, G, U: Says>(
        &mut self,
        slots: &[Slot<T, G>],
        others: &[Slot<U>],
    ) -> Result<(Vec<Option<T>>, Vec<Option<U>>), Error> {
        slots.iter().for_each(|slot| self.take_copy_of(slot.key()));
        let wanted = self.missing(slots.iter().map(|slot| (slot.key(), true)), Holder::Row);
        let beside = others.iter().map(|slot| (slot.key().clone(), false));
        let (mut found, mut slots_left) =
            (Vec::with_capacity(others.len()), others.iter().peekable());
        for (key, row, holds) in self.load(wanted.into_iter().chain(beside).collect()).await? {
            match slots_left.next_if(|_| !holds) {
                None => self.reads.add(key, row, Holder::Row),
                Some(slot) => {
                    let says = row.map(|known| known.says(slot, &self.shared.decoded));
                    found.push(says.transpose()?.map(Arc::unwrap_or_clone));
                }
            }
        }
        Ok((self.read_all(slots).await?, found))
    }

    /// Fetches rows and returns them decoded, in the order asked.
    pub(in crate::engine) async fn get_all<T: Says>(
        &mut self,
        slots: &[Slot<T>],
    ) -> Result<Vec<Option<T>>, Error> {
        self.fetch(slots.iter().map(Slot::key)).await?;
        self.read_all(slots).await
    }

    pub(in crate::engine::kernel) async fn read_all<T: Says, G>(
        &self,
        slots: &[Slot<T, G>],
    ) -> Result<Vec<Option<T>>, Error> {
        let mut all = Vec::with_capacity(slots.len());
        for slot in slots {
            let known = self.reads.get(slot.key()).flatten();
            self.pace.spend(work_of(known.map(|known| known.row()))).await;
            all.push(self.row(slot)?);
        }
        Ok(all)
    }

    pub(super) async fn rows_now(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, Error> {
        let rows = self.shared.store.get(keys).await?;
        self.rows_read.add(rows.len());
        if rows.len() == keys.len() { Ok(rows) } else { Err(wrong_count()) }
    }
}

/// Returns the work of reading and decoding a row.
pub(super) fn work_of(row: Option<&Row>) -> usize {
    let bytes = row.map_or(0, |row| row.document.as_str().len());
    Pace::work_of_bytes(bytes).saturating_add(Pace::ROW)
}

fn guard_missing() -> Error {
    Error::corrupt("a guard was not read")
}

pub(super) fn wrong_count() -> Error {
    Error::corrupt("the store gave another number of rows than was asked for")
}
