//! Writes, which wait for the commit.

use std::{collections::BTreeSet, sync::Arc};

use serde::Serialize;

use super::{
    super::{Says, known::Said},
    Touched, Transaction,
    bounds::check_bounds,
};
use crate::{
    Error, limits,
    schema::{Owner, Slot},
    store::{Change, Document, Key},
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
        match self.written.get(change.key()) {
            Some(at) => {
                let earlier = self.writes.get_mut(*at).zip(self.said.get_mut(*at));
                if let Some((earlier, earlier_said)) = earlier {
                    (*earlier, *earlier_said) = (change, said);
                }
            }
            None => {
                self.written.insert(change.key().clone(), self.writes.len());
                self.writes.push(change);
                self.said.push(said);
            }
        }
    }

    /// Writes a row that was read as it is, unless it is written already.
    pub(in crate::engine::kernel) fn touch(&mut self, key: &Key) -> Touched {
        if self.written.contains_key(key) {
            return Touched::Written;
        }
        let known = self.reads.get(key).flatten();
        let Some((document, said)) =
            known.map(|of| (of.row().document.clone(), of.said().cloned()))
        else {
            return Touched::Absent;
        };
        self.write(Change::Put(key.clone(), document), said);
        Touched::Written
    }

    /// Returns the writes so far.
    pub(in crate::engine) fn writes(&self) -> &[Change] {
        &self.writes
    }

    /// Goes back to earlier writes.
    pub(in crate::engine) fn set_writes(&mut self, writes: Vec<Change>) {
        let keys = writes.iter().map(|change| change.key().clone());
        self.written = keys.enumerate().map(|(at, key)| (key, at)).collect();
        self.said = vec![None; writes.len()];
        self.writes = writes;
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
    }

    /// Makes sure that the writes behind the first ones would fit one commit.
    pub(in crate::engine) fn check_writes(&self, first: usize) -> Result<(), Error> {
        check_bounds(0, self.writes.get(first..).unwrap_or_default())
    }
}
