//! Writes, which wait for the commit.

use std::{
    any::TypeId,
    collections::{BTreeSet, hash_map::Entry},
    sync::Arc,
};

use serde::Serialize;

use super::{
    super::{
        Says,
        known::{Said, as_said},
    },
    Transaction,
    bounds::check_bounds,
};
use crate::{
    Error, limits,
    schema::{Guards, Owner, Slot},
    store::{Change, Document, Key, Table},
};

impl Transaction<'_> {
    /// Writes a row when the transaction is committed.
    pub(in crate::engine) fn put<T: Serialize>(
        &mut self,
        slot: &Slot<T>,
        value: &T,
    ) -> Result<(), Error> {
        self.put_row(slot, value, None)
    }

    /// Writes a row with a guard or without, and what it says where that is to be kept.
    pub(in crate::engine::kernel) fn put_row<T: Serialize, G>(
        &mut self,
        slot: &Slot<T, G>,
        value: &T,
        said: Option<Said>,
    ) -> Result<(), Error> {
        let document = self.encode(slot, value)?;
        self.write(Change::Put(slot.key().clone(), document), said);
        Ok(())
    }

    /// Writes a row that says something which is kept, where rows of its kind are.
    pub(in crate::engine::kernel) fn put_kept<T: Says + Serialize, G>(
        &mut self,
        slot: &Slot<T, G>,
        value: &T,
    ) -> Result<(), Error> {
        let said = slot.is_kept().then(|| -> Said { Arc::new(value.clone()) });
        self.put_row(slot, value, said)
    }

    /// Writes a row that was not read when the transaction is committed, where there is none then: else
    /// it is not, and the operation is run again with what is there.
    pub(in crate::engine) fn insert<T: Serialize>(
        &mut self,
        slot: &Slot<T>,
        value: &T,
    ) -> Result<(), Error> {
        let document = self.encode(slot, value)?;
        self.write(Change::Insert(slot.key().clone(), document), None);
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
        self.write(Change::Delete(slot.key().clone()), None);
    }

    /// Returns the keys of the rows of a table that are put when the transaction is committed.
    pub(in crate::engine) fn keys_put(&self, table: Table) -> impl Iterator<Item = &Key> {
        let puts = self.writes.iter().filter(|change| change.document().is_some());
        puts.map(Change::key).filter(move |key| key.table() == table)
    }

    /// Tells whether a row is put when the transaction is committed.
    pub(in crate::engine) fn is_put<T, G>(&self, slot: &Slot<T, G>) -> bool {
        let change = self.written.get(slot.key()).and_then(|at| self.writes.get(*at));
        change.is_some_and(|change| change.document().is_some())
    }

    /// Tells whether a row was read, and was there.
    pub(in crate::engine) fn was_there<T, G>(&self, slot: &Slot<T, G>) -> bool {
        self.reads.get(slot.key()).flatten().is_some()
    }

    /// Notes that a row is written under a guard.
    pub(in crate::engine::kernel) fn note_written<T, G>(
        &mut self,
        guard: usize,
        slot: &Slot<T, G>,
    ) {
        if slot.is_resident() && !self.written.contains_key(slot.key()) {
            self.reads.note_written(guard, slot.key(), slot.is_read_often());
        }
    }

    pub(in crate::engine::kernel) fn write(&mut self, change: Change, said: Option<Said>) {
        match self.written.entry(change.key().clone()) {
            Entry::Occupied(at) => {
                let earlier = self.writes.get_mut(*at.get()).zip(self.said.get_mut(*at.get()));
                if let Some((earlier, earlier_said)) = earlier {
                    (*earlier, *earlier_said) = (change, said);
                }
            }
            Entry::Vacant(vacant) => {
                vacant.insert(self.writes.len());
                self.writes.push(change);
                self.said.push(said);
            }
        }
    }

    /// Keeps what the row of a guard says that was read, where that is not known yet.
    pub(in crate::engine::kernel) fn open_head<G: Guards + Says>(
        &mut self,
        guard: usize,
        of: G::Of,
        slot: &Slot<G>,
    ) -> Result<(), Error> {
        if !self.reads.has_head(guard) {
            let says = self.shared_row(slot)?.unwrap_or_default();
            self.reads.open_head(guard, (TypeId::of::<G>(), G::owner(of)), says);
        }
        Ok(())
    }

    /// Returns the place of a guard of which it is known what its row says.
    pub(in crate::engine::kernel) fn opened<G: Guards + Says>(&self, of: G::Of) -> Option<usize> {
        self.reads.opened((TypeId::of::<G>(), G::owner(of)))
    }

    /// Returns what the row of a guard says.
    pub(in crate::engine::kernel) fn head<G: Guards + Says>(
        &self,
        guard: usize,
    ) -> Result<Arc<G>, Error> {
        self.reads.head(guard).and_then(as_said).ok_or_else(head_missing)
    }

    /// Returns what the row of a guard says, to be changed: copies keep it as it was.
    pub(in crate::engine::kernel) fn head_mut<G: Guards + Says>(
        &mut self,
        guard: usize,
    ) -> Result<&mut G, Error> {
        let says = self.reads.head_mut(guard).ok_or_else(head_missing)?;
        if Arc::get_mut(says).is_none() {
            let own = says.downcast_ref::<G>().ok_or_else(head_missing)?.clone();
            *says = Arc::new(own);
        }
        Arc::get_mut(says).and_then(|says| says.downcast_mut()).ok_or_else(head_missing)
    }

    /// Has the row of a guard written.
    pub(in crate::engine::kernel) fn touch_head<G: Guards + Says + Serialize>(
        &mut self,
        guard: usize,
    ) {
        self.reads.touch_head(guard, |key, says, text| {
            let says = says.downcast_ref::<G>().ok_or_else(head_missing)?;
            Slot::<G>::new(key.clone()).encode(says, text)
        });
    }

    /// Writes the rows of guards that were changed, or touched.
    pub(super) fn write_heads(&mut self) -> Result<(), Error> {
        for (key, says, write) in self.reads.take_heads() {
            let document = write(&key, &*says, &mut self.text)?;
            self.write(Change::Put(key, document), Some(says));
        }
        Ok(())
    }

    /// Returns the writes so far, but for those of guards' own rows.
    pub(in crate::engine) fn writes(&self) -> &[Change] {
        &self.writes
    }

    /// Tells whether there are any, those of guards' own rows included.
    pub(in crate::engine::kernel) fn has_writes(&mut self) -> Result<bool, Error> {
        self.write_heads()?;
        Ok(!self.writes.is_empty())
    }

    /// Returns all writes so far.
    pub(in crate::engine) fn all_writes(&mut self) -> Result<Vec<Change>, Error> {
        self.write_heads()?;
        Ok(self.writes.clone())
    }

    /// Goes back to earlier writes.
    pub(in crate::engine) fn set_writes(&mut self, writes: Vec<Change>) {
        let keys = writes.iter().map(|change| change.key().clone());
        self.written = keys.enumerate().map(|(at, key)| (key, at)).collect();
        self.said = vec![None; writes.len()];
        self.writes = writes;
        self.reads.forget_heads();
    }

    /// Returns the document that the store has of a row that was read.
    pub(in crate::engine) fn stored(&self, key: &Key) -> Option<&Document> {
        Some(&self.reads.get(key)??.row().document)
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
        self.said.clear();
        self.written.clear();
        self.reads.forget_heads();
    }

    /// Makes sure that the writes behind the first ones would fit one commit.
    pub(in crate::engine) fn check_writes(&mut self, first: usize) -> Result<(), Error> {
        self.write_heads()?;
        check_bounds(0, self.writes.get(first..).unwrap_or_default())
    }
}

fn head_missing() -> Error {
    Error::corrupt("a guard was not read")
}
