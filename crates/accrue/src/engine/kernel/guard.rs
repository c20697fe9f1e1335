//! Guards: rows that stand for others (`docs/decisions/rows-that-the-head-guards.md`).

use std::sync::Arc;

use serde::Serialize;

use super::{
    Says, Transaction,
    transaction::{Part, Touched},
};
use crate::{
    Error,
    schema::{Guards, Slot},
    store::{Change, Document, Key, Scan},
};

/// Guard: a row that was read and guards others, which hold as long as it does when read under it.
///
/// It is a precondition of the commit; the rows that it guards are none. Whoever writes a row that it
/// guards, which can be done through it alone, writes it too. So two that meet conflict at the guard.
///
/// What its own row says is kept while the transaction lasts, and is written once, when that ends.
pub(in crate::engine) struct Guard<G: Guards> {
    of: G::Of,
    /// Place among the guards that were read.
    at: usize,
}

impl Transaction<'_> {
    /// Reads a row that guards others.
    pub(in crate::engine) async fn guard<G: Guards + Says>(
        &mut self,
        of: G::Of,
    ) -> Result<Guard<G>, Error> {
        if let Some(at) = self.opened::<G>(of) {
            return Ok(Guard { of, at });
        }
        let slot = G::slot(self.account, of);
        let at = self.read_guard(slot.key()).await?;
        self.open_head(at, of, &slot)?;
        Ok(Guard { of, at })
    }

    /// Reads several guards, all in one call of the store.
    pub(in crate::engine) async fn guards<G: Guards + Says>(
        &mut self,
        of: impl IntoIterator<Item = G::Of> + Send,
    ) -> Result<Vec<Guard<G>>, Error> {
        let alone: Vec<_> = of.into_iter().map(|of| (of, Vec::new())).collect();
        self.guards_with(alone).await
    }

    /// Reads several guards, and with each rows that it guards, all in one call of the store.
    pub(in crate::engine) async fn guards_with<G: Guards + Says>(
        &mut self,
        of: impl IntoIterator<Item = (G::Of, Vec<Key>)> + Send,
    ) -> Result<Vec<Guard<G>>, Error> {
        let of: Vec<_> = of.into_iter().collect();
        let opened = of.iter().map(|(of, rows)| match rows.is_empty() {
            true => self.opened::<G>(*of).map(|at| Guard { of: *of, at }),
            false => None,
        });
        if let Some(opened) = opened.collect() {
            return Ok(opened);
        }
        let (mut all, mut keys, mut under) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (of, rows)) in of.into_iter().enumerate() {
            let slot = G::slot(self.account, of);
            keys.push(slot.key().clone());
            all.push((of, slot));
            under.extend(rows.into_iter().map(|key| (at, key)));
        }
        let places = self.read_guards(&keys, &under).await?;
        let mut guards = Vec::with_capacity(all.len());
        for ((of, slot), at) in all.into_iter().zip(places) {
            self.open_head(at, of, &slot)?;
            guards.push(Guard { of, at });
        }
        Ok(guards)
    }
}

impl<G: Guards + Says + Serialize> Guard<G> {
    /// Takes a row that was [found](Transaction::find), and says that it is guarded by this: whoever asks for
    /// it next finds it in the copy. It is one that copies keep: they learn of no other one that is written.
    pub(in crate::engine) fn adopt<T>(&self, tx: &mut Transaction<'_>, slot: &Slot<T, G>) {
        debug_assert!(slot.is_resident(), "no copy keeps rows of {}", slot.key().table());
        tx.adopt(self.at, slot.key());
    }

    /// Returns what was touched under each of some guards, which differ, of the rows that copies keep.
    pub(in crate::engine) fn touched(tx: &Transaction<'_>, guards: &[Self]) -> Vec<Touched> {
        tx.touched_under(guards.iter().map(|guard| guard.at))
    }

    /// Returns the owner of the rows that it guards.
    pub(in crate::engine) const fn of(&self) -> G::Of {
        self.of
    }

    /// Returns what its own row says, as it was read or is to be written.
    pub(in crate::engine) fn head(&self, tx: &Transaction<'_>) -> Result<Arc<G>, Error> {
        tx.head(self.at)
    }

    /// Returns what its own row says, to be changed and written.
    pub(in crate::engine) fn head_mut<'t>(
        &self,
        tx: &'t mut Transaction<'_>,
    ) -> Result<&'t mut G, Error> {
        self.touch(tx);
        tx.head_mut(self.at)
    }

    /// Writes its own row, as it is unless it is changed, so that whoever has read it has to read again.
    pub(in crate::engine) fn touch(&self, tx: &mut Transaction<'_>) {
        tx.touch_head::<G>(self.at);
    }

    /// Reads rows, each of them guarded by one of these, all in one call of the store.
    pub(in crate::engine) async fn fetch<'k>(
        tx: &mut Transaction<'_>,
        rows: impl IntoIterator<Item = (&'k Self, &'k Key)> + Send,
    ) -> Result<(), Error>
    where
        G: 'k,
        G::Of: 'k,
    {
        let rows: Vec<_> = rows.into_iter().map(|(guard, key)| (guard.at, key)).collect();
        tx.fetch_guarded(rows).await
    }

    async fn fetch_one(&self, tx: &mut Transaction<'_>, key: &Key) -> Result<(), Error> {
        if tx.knows(self.at, key) { Ok(()) } else { tx.fetch_guarded([(self.at, key)]).await }
    }

    /// Fetches a row and returns it decoded.
    pub(in crate::engine) async fn get<T: Says, H>(
        &self,
        tx: &mut Transaction<'_>,
        slot: &Slot<T, H>,
    ) -> Result<Option<T>, Error> {
        self.fetch_one(tx, slot.key()).await?;
        tx.row(slot)
    }

    /// Fetches a row and returns it decoded, without a copy where it is read often.
    pub(in crate::engine) async fn get_shared<T: Says, H>(
        &self,
        tx: &mut Transaction<'_>,
        slot: &Slot<T, H>,
    ) -> Result<Option<Arc<T>>, Error> {
        self.fetch_one(tx, slot.key()).await?;
        tx.shared_row(slot)
    }

    /// Fetches rows and returns them decoded, in the order asked.
    pub(in crate::engine) async fn get_all<T: Says, H>(
        &self,
        tx: &mut Transaction<'_>,
        slots: &[Slot<T, H>],
    ) -> Result<Vec<Option<T>>, Error> {
        let mut missing: Vec<_> = slots.iter().map(Slot::key).collect();
        missing.retain(|key| !tx.knows(self.at, key));
        if !missing.is_empty() {
            tx.fetch_guarded(missing.into_iter().map(|key| (self.at, key))).await?;
        }
        tx.read_all(slots).await
    }

    /// Reads a part of a range, with the rows that are written here.
    pub(in crate::engine) async fn range(
        &self,
        tx: &Transaction<'_>,
        scan: &Scan,
    ) -> Result<Part, Error> {
        tx.range_now(scan).await
    }

    /// Reads a range to its end, with the rows that are written here.
    pub(in crate::engine) async fn range_all(
        &self,
        tx: &Transaction<'_>,
        scan: Scan,
    ) -> Result<Vec<(Key, Document)>, Error> {
        let (mut all, mut rest) = (Vec::new(), Some(scan));
        while let Some(scan) = rest {
            let part = self.range(tx, &scan).await?;
            all.extend(part.rows);
            rest = part.rest;
        }
        Ok(all)
    }

    /// Returns what a run has worked out, from rows that this guards and another guard beside it, that nobody
    /// has written since. They are settled ones, which usage does not move: those that are read often.
    pub(in crate::engine) fn recall_beside<T: Send + Sync + 'static, H: Guards>(
        &self,
        tx: &Transaction<'_>,
        other: &Guard<H>,
    ) -> Option<Arc<T>> {
        tx.recall(self.at, Some(other.at))
    }

    /// Notes what was worked out so, for the next one who asks.
    pub(in crate::engine) fn remember_beside<T: Send + Sync + 'static, H: Guards>(
        &self,
        tx: &mut Transaction<'_>,
        other: &Guard<H>,
        value: &Arc<T>,
    ) {
        tx.remember(self.at, Some(other.at), Arc::<T>::clone(value));
    }

    /// Returns what a run has worked out from settled rows that this guards alone.
    pub(in crate::engine) fn recall<T: Send + Sync + 'static>(
        &self,
        tx: &Transaction<'_>,
    ) -> Option<Arc<T>> {
        tx.recall(self.at, None)
    }

    /// Notes what was worked out so.
    pub(in crate::engine) fn remember<T: Send + Sync + 'static>(
        &self,
        tx: &mut Transaction<'_>,
        value: &Arc<T>,
    ) {
        tx.remember(self.at, None, Arc::<T>::clone(value));
    }

    /// Writes a row when the transaction is committed.
    pub(in crate::engine) fn put<T: Says + Serialize>(
        &self,
        tx: &mut Transaction<'_>,
        slot: &Slot<T, G>,
        value: &T,
    ) -> Result<(), Error> {
        self.touch(tx);
        tx.note_written(self.at, slot);
        tx.put_kept(slot, value)
    }

    /// Writes a row of which no copy is kept, and which may borrow what it says.
    pub(in crate::engine) fn put_apart<T: Serialize>(
        &self,
        tx: &mut Transaction<'_>,
        slot: &Slot<T, G>,
        value: &T,
    ) -> Result<(), Error> {
        debug_assert!(!slot.is_kept(), "copies keep rows of {}", slot.key().table());
        self.touch(tx);
        tx.put_row(slot, value, None)
    }

    /// Removes a row when the transaction is committed.
    pub(in crate::engine) fn delete<T>(
        &self,
        tx: &mut Transaction<'_>,
        slot: &Slot<T, G>,
    ) -> Result<(), Error> {
        self.touch(tx);
        tx.note_written(self.at, slot);
        tx.write(Change::Delete(slot.key().clone()), None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;
    use serde::Deserialize;

    use super::*;
    use crate::{
        AccountId, Billing, ItemId, ManualClock, PriceId, SeededEntropy, Timestamp,
        engine::Account,
        schema,
        store::{Batch, Expected, MemoryStore},
    };

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Head {
        number: u64,
    }

    impl Guards for Head {
        type Of = u8;

        fn slot(account: &AccountId, of: u8) -> Slot<Self> {
            Slot::new(schema::item(account, ItemId::from_bytes([of; 16])).key().clone())
        }

        fn owner(of: u8) -> [u8; 16] {
            [of; 16]
        }
    }

    fn leaf(account: &Account, of: u8) -> Slot<Head, Head> {
        Slot::new(schema::price(account.id(), PriceId::from_bytes([of; 16])).key().clone())
    }

    fn account() -> Account {
        let clock = ManualClock::at(Timestamp::parse("2026-01-01T00:00:00Z").unwrap());
        let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(1));
        billing.account(AccountId::parse("acme").unwrap())
    }

    /// The heads are items, what they guard are prices: each by its table and the last byte of its id.
    fn names<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<(&'k str, u8)> {
        keys.map(|key| (key.table().name(), *key.bytes().last().unwrap())).collect()
    }

    fn read(batch: &Batch) -> Vec<(&str, u8)> {
        names(batch.preconditions.iter().map(|of| &of.key))
    }

    fn written(batch: &Batch) -> Vec<(&str, u8)> {
        names(batch.changes.iter().map(|change| change.key()))
    }

    #[test]
    fn what_is_read_under_a_guard_is_no_precondition() {
        let account = account();
        let mut tx = account.reading();
        block_on(async {
            let guard = tx.guard::<Head>(7).await?;
            guard.get_all(&mut tx, &[leaf(&account, 1), leaf(&account, 2)]).await
        })
        .unwrap();
        let batch = tx.into_batch(&[]).unwrap().batch;
        assert_eq!(read(&batch), [("item", 7)]);
    }

    #[test]
    fn what_is_read_without_its_guard_too_is_one() {
        let account = account();
        let mut tx = account.reading();
        block_on(async {
            let guard = tx.guard::<Head>(7).await?;
            guard.get_all(&mut tx, &[leaf(&account, 1), leaf(&account, 2)]).await?;
            tx.find(&leaf(&account, 2)).await?;
            tx.find(&leaf(&account, 2)).await
        })
        .unwrap();
        let batch = tx.into_batch(&[]).unwrap().batch;
        assert_eq!(read(&batch), [("item", 7), ("price", 2)]);
        assert!(batch.preconditions.iter().all(|of| of.expected == Expected::Absent));
    }

    #[test]
    fn who_writes_what_is_guarded_writes_the_guard() {
        let account = account();
        let mut tx = account.reading();
        block_on(async {
            let guard = tx.guard::<Head>(7).await?;
            guard.put(&mut tx, &leaf(&account, 1), &Head { number: 1 })?;
            guard.delete(&mut tx, &leaf(&account, 2))?;
            guard.head_mut(&mut tx)?.number = 9;
            guard.touch(&mut tx);
            assert_eq!(*guard.head(&tx)?, Head { number: 9 });
            Ok::<_, Error>(())
        })
        .unwrap();
        let batch = tx.into_batch(&[]).unwrap().batch;
        let expect = [("price", 1), ("price", 2), ("item", 7)];
        assert_eq!(written(&batch), expect);
        assert_eq!(read(&batch), [("item", 7)]);
    }
}
