//! Claim of a request on its key: the rows in which the record may lie, how it is found, and how it is written.

use super::super::{Account, transaction::Transaction};
use crate::{
    Error, IdempotencyKey, Timestamp,
    idempotency::{
        Admission, Answer, Epoch, Fingerprint, Freshness, Mark, Record, StoredAnswer, admit,
    },
    schema,
    store::{Key, Row, Version},
};

/// What an attempt claims its key with.
pub(super) struct Claim {
    pub(super) account: Account,
    pub(super) key: IdempotencyKey,
    pub(super) fingerprint: Fingerprint,
    pub(super) mark: Mark,
}

/// Rows in which the record of a key may lie, as they were found, and the last record that does.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<(Key, Option<Version>)>,
    record: Option<Record>,
}

/// Whether a commit of this attempt may have happened of which nobody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    No,
    Perhaps,
}

impl Claim {
    /// Reads the rows in which the record may lie.
    pub(super) async fn find(&self) -> Result<Found, Error> {
        let shared = self.account.shared();
        let epochs = Record::epochs_at(shared.now());
        let slot = |epoch| schema::record(epoch, self.account.id(), &self.key);
        let slots: Vec<_> = epochs.map(slot).collect();
        let keys: Vec<_> = slots.iter().map(|slot| slot.key().clone()).collect();
        let mut found = Found::default();
        for (slot, row) in slots.iter().zip(shared.store.get(&keys).await?) {
            found.rows.push((slot.key().clone(), row.as_ref().map(|row| row.version)));
            if let Some(Row { document, .. }) = row {
                found.record = Some(slot.decode(&document)?);
            }
        }
        Ok(found)
    }

    /// Returns the rows in which the record may lie at an instant: those that were found, and others, which were not
    /// looked for and are not to be there.
    pub(super) fn records(&self, found: &Found, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        let mut rows = found.rows.clone();
        for epoch in Record::epochs_at(now) {
            let slot = schema::record(epoch, self.account.id(), &self.key);
            if rows.iter().all(|(found, _)| found != slot.key()) {
                rows.push((slot.key().clone(), None));
            }
        }
        rows
    }

    /// Returns the answer of the earlier request that a record is of.
    pub(super) async fn answer(&self, found: &Found) -> Result<Option<Answer<String>>, Error> {
        self.answer_of(found, Tried::No).await
    }

    /// Returns the answer of the request that a record is of: an earlier one, or this where it was tried.
    pub(super) async fn answer_of(
        &self,
        found: &Found,
        tried: Tried,
    ) -> Result<Option<Answer<String>>, Error> {
        match admit(found.record.as_ref(), &self.fingerprint, self.account.shared().now()) {
            Admission::Run => Ok(None),
            Admission::Mismatch => Err(Error::key_reused()),
            Admission::Replay(record) => {
                let freshness = match tried == Tried::Perhaps && record.mark == self.mark {
                    true => Freshness::Fresh,
                    false => Freshness::Replayed,
                };
                Ok(Some(Answer { outcome: self.stored(record).await?, freshness }))
            }
        }
    }

    /// Returns the answer that a record keeps.
    async fn stored(&self, record: &Record) -> Result<String, Error> {
        match &record.answer {
            StoredAnswer::Inline(text) => Ok(text.clone()),
            StoredAnswer::Parts(count) => self.parts(record.epoch(), *count).await,
        }
    }

    async fn parts(&self, epoch: Epoch, count: u32) -> Result<String, Error> {
        let slot = |number| schema::record_part(epoch, self.account.id(), number, &self.key);
        let slots: Vec<_> = (0..count).map(slot).collect();
        let keys: Vec<Key> = slots.iter().map(|slot| slot.key().clone()).collect();
        let rows = self.account.shared().store.get(&keys).await?;
        let mut text = String::new();
        for (slot, row) in slots.iter().zip(rows) {
            let row = row.ok_or_else(|| Error::corrupt("a piece of a stored answer is missing"))?;
            text.push_str(&slot.decode(&row.document)?.text);
        }
        Ok(text)
    }

    /// Writes the record of an answer.
    pub(super) fn write(
        &self,
        text: &str,
        now: Timestamp,
        tx: &mut Transaction<'_>,
    ) -> Result<(), Error> {
        let epoch = Epoch::of(now);
        let answer = match StoredAnswer::pieces(text).as_slice() {
            [whole] => StoredAnswer::Inline((*whole).to_owned()),
            pieces => {
                let mut count = 0;
                for (number, piece) in (0_u32..).zip(pieces) {
                    let part = schema::RecordPart { text: (*piece).to_owned() };
                    let slot = schema::record_part(epoch, self.account.id(), number, &self.key);
                    tx.put(&slot, &part)?;
                    count = number.saturating_add(1);
                }
                StoredAnswer::Parts(count)
            }
        };
        let (fingerprint, mark) = (self.fingerprint, self.mark.clone());
        let record = Record { fingerprint, mark, completed_at: now, answer };
        tx.put(&schema::record(epoch, self.account.id(), &self.key), &record)
    }
}
