//! Reads of rows as they are now, which hold nothing: walks of any length, and ranges.

use std::collections::BTreeMap;

use super::{
    super::Says,
    Transaction,
    fetch::{work_of, wrong_count},
};
use crate::{
    Error, Pace,
    schema::Slot,
    store::{Document, Key, Order, Row, Scan},
};

/// Part of a range, from its beginning on.
pub(in crate::engine) struct Part {
    pub(in crate::engine) rows: Vec<(Key, Document)>,
    /// Rest of it that is still to be read.
    pub(in crate::engine) rest: Option<Scan>,
}

impl Transaction<'_> {
    /// Reads rows as they are now, or are written here, and keeps none: for walks of any length.
    pub(in crate::engine) async fn peek<T: Says, G>(
        &self,
        slots: &[Slot<T, G>],
    ) -> Result<Vec<Option<T>>, Error> {
        let keys: Vec<_> = slots.iter().map(|slot| slot.key().clone()).collect();
        let rows = self.rows_now(&keys).await?;
        let mut found = Vec::with_capacity(slots.len());
        for (slot, row) in slots.iter().zip(&rows) {
            found.push(self.said_now(slot, row.as_ref()).await?);
        }
        Ok(found)
    }

    /// Reads two kinds of rows so, all in one call of the store.
    pub(in crate::engine) async fn peek_both<T: Says, U: Says, G>(
        &self,
        ones: &[Slot<T, G>],
        others: &[Slot<U, G>],
    ) -> Result<Vec<(Option<T>, Option<U>)>, Error> {
        let keys = ones.iter().map(Slot::key).chain(others.iter().map(Slot::key));
        let rows = self.rows_now(&keys.cloned().collect::<Vec<_>>()).await?;
        let (first, second) = rows.split_at_checked(ones.len()).ok_or_else(wrong_count)?;
        let mut found = Vec::with_capacity(ones.len());
        for ((one, other), (first, second)) in ones.iter().zip(others).zip(first.iter().zip(second))
        {
            let one = self.said_now(one, first.as_ref()).await?;
            found.push((one, self.said_now(other, second.as_ref()).await?));
        }
        Ok(found)
    }

    async fn said_now<T: Says, G>(
        &self,
        slot: &Slot<T, G>,
        row: Option<&Row>,
    ) -> Result<Option<T>, Error> {
        self.pace.spend(work_of(row)).await;
        match self.written.get(slot.key()) {
            Some(_) => self.row(slot),
            None => row.map(|row| self.shared.decoded.decode(slot, row)).transpose(),
        }
    }

    /// Reads a range as the store has it now, without the rows that are written here: its rows are no
    /// preconditions.
    pub(in crate::engine) async fn scan_now(&self, scan: &Scan) -> Result<Vec<Row>, Error> {
        let rows = self.shared.store.scan(scan).await?;
        self.rows_read.add(rows.len());
        self.pace.spend(rows.len().saturating_add(1).saturating_mul(Pace::ROW)).await;
        Ok(rows)
    }

    /// Reads the keys of a range as it is now, with those of the rows that are written here: a read can
    /// see the transitions that it has applied.
    pub(in crate::engine) async fn keys_now(&self, scan: &Scan) -> Result<Vec<Key>, Error> {
        let keys = self.range_now(scan).await?.rows.into_iter().map(|(key, _)| key);
        Ok(keys.take(scan.limit).collect())
    }

    /// Reads a part of a range as it is now, with the rows that are written here: they are no
    /// preconditions.
    pub(in crate::engine) async fn range_now(&self, scan: &Scan) -> Result<Part, Error> {
        if scan.bounds().is_none() {
            return Ok(Part { rows: Vec::new(), rest: None });
        }
        let stored = self.scan_now(scan).await?;
        // Beyond the last of a full answer, the store has rows that are still to come.
        let last = stored.last().filter(|_| stored.len() >= scan.limit).map(|row| row.key.clone());
        let rest = last.as_ref().map(|last| scan.clone().after(last.bytes()));
        let mut rows: Vec<_> = stored.into_iter().map(|row| (row.key, row.document)).collect();
        let written: Vec<_> = self.written_in(scan, last.as_ref()).collect();
        if !written.is_empty() {
            let mut merged: BTreeMap<_, _> = rows.into_iter().collect();
            for (key, document) in written {
                match document {
                    Some(document) => merged.insert(key.clone(), document.clone()),
                    None => merged.remove(key),
                };
            }
            rows = match scan.order {
                Order::Ascending => merged.into_iter().collect(),
                Order::Descending => merged.into_iter().rev().collect(),
            };
        }
        Ok(Part { rows, rest })
    }

    /// Returns the writes in a range, up to and including a key.
    fn written_in(
        &self,
        scan: &Scan,
        last: Option<&Key>,
    ) -> impl Iterator<Item = (&Key, Option<&Document>)> {
        let within = move |key: &Key| key.table() == scan.table && scan.contains(key.bytes());
        let is_known = move |key: &Key| match (scan.order, last) {
            (_, None) => true,
            (Order::Ascending, Some(last)) => key <= last,
            (Order::Descending, Some(last)) => key >= last,
        };
        let written = self.writes.iter().map(|change| (change.key(), change.document()));
        written.filter(move |(key, _)| within(key) && is_known(key))
    }
}
