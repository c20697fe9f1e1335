use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Account,
    apply::{Applied, Door, Request, apply},
    unit::Unit,
};
use crate::{
    AccountId, Error, IdempotencyKey, Timestamp,
    error::StoredError,
    idempotency::{Admission, Answer, Fingerprint, Freshness, Mark, Record, StoredAnswer, admit},
    limits, schema,
    store::{Key, Row, Version},
};

/// Runs an operation under an idempotency key (§4.5): looks for the record, runs where there is none
/// that counts, and commits effect and record together.
pub(super) async fn run<T>(
    account: &Account,
    key: &IdempotencyKey,
    fingerprint: Fingerprint,
    request: &dyn Request<Outcome = T>,
) -> Result<Answer<T>, Error>
where
    T: Serialize + DeserializeOwned + Send,
{
    let shared = account.shared();
    let _place = shared.in_flight.enter(account.id(), key, fingerprint)?;
    let found = look(account, key).await?;
    match admit(found.as_ref().map(|found| &found.record), &fingerprint, shared.now()) {
        Admission::Replay(record) => return replay(account, key, record).await,
        Admission::Mismatch => return Err(Error::key_reused()),
        Admission::Run => {}
    }
    let door = KeyedDoor {
        account: account.id(),
        key,
        found,
        fingerprint,
        mark: Mark::draw(&*shared.entropy),
    };
    match apply(shared, account.id(), request, &door).await {
        Ok(Applied::Done(result)) => fresh(result),
        Ok(Applied::LostTheKey) => Err(Error::key_in_flight()),
        Ok(Applied::Unknown(result, error)) => {
            // Read the record again: it tells whether the commit happened, and whose it is.
            let unknown = || Error::unknown_outcome(error).retry_doubles_nothing();
            let record = match look(account, key).await {
                Ok(Some(Found { record, .. })) => record,
                Err(error) if error.is_corruption() => return Err(error),
                Ok(None) | Err(_) => return Err(unknown()),
            };
            if record.mark == door.mark {
                return fresh(result);
            }
            match admit(Some(&record), &fingerprint, shared.now()) {
                Admission::Replay(record) => replay(account, key, record).await,
                Admission::Mismatch => Err(Error::key_reused()),
                Admission::Run => Err(unknown()),
            }
        }
        // The key protects a retry, also where the settling before has an unknown outcome.
        Err(error) if error.kind() == crate::ErrorKind::Internal && !error.is_corruption() => {
            Err(error.retry_doubles_nothing())
        }
        Err(error) => Err(error),
    }
}

/// A record, and the version of its row.
struct Found {
    record: Record,
    version: Version,
}

async fn look(account: &Account, key: &IdempotencyKey) -> Result<Option<Found>, Error> {
    let slot = schema::record(account.id(), key);
    let rows = account.shared().store.get(std::slice::from_ref(slot.key())).await?;
    let Some(Row { document, version, .. }) = rows.into_iter().next().flatten() else {
        return Ok(None);
    };
    Ok(Some(Found { record: slot.decode(&document)?, version }))
}

fn fresh<T>(result: Result<T, Error>) -> Result<Answer<T>, Error> {
    result.map(|outcome| Answer { outcome, freshness: Freshness::Fresh })
}

/// Answers as the first time.
async fn replay<T: DeserializeOwned>(
    account: &Account,
    key: &IdempotencyKey,
    record: &Record,
) -> Result<Answer<T>, Error> {
    let text = match &record.answer {
        StoredAnswer::Inline(text) => text.clone(),
        StoredAnswer::Parts(count) => parts(account, key, *count).await?,
    };
    match serde_json::from_str(&text) {
        Ok(Kept::Outcome(outcome)) => Ok(Answer { outcome, freshness: Freshness::Replayed }),
        Ok(Kept::Error(error)) => Err(Error::from(error).replayed()),
        Err(error) => Err(Error::corrupt(format!("a stored answer cannot be read: {error}"))),
    }
}

async fn parts(account: &Account, key: &IdempotencyKey, count: u32) -> Result<String, Error> {
    let slots: Vec<_> = (0..count).map(|n| schema::record_part(account.id(), n, key)).collect();
    let keys: Vec<Key> = slots.iter().map(|slot| slot.key().clone()).collect();
    let rows = account.shared().store.get(&keys).await?;
    let mut text = String::new();
    for (slot, row) in slots.iter().zip(rows) {
        let row = row.ok_or_else(|| Error::corrupt("a piece of a stored answer is missing"))?;
        text.push_str(&slot.decode(&row.document)?.text);
    }
    Ok(text)
}

/// What the library keeps as an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept<T> {
    Outcome(T),
    Error(StoredError),
}

/// The door with a key: the answer goes into the commit of the effect.
struct KeyedDoor<'a> {
    account: &'a AccountId,
    key: &'a IdempotencyKey,
    found: Option<Found>,
    fingerprint: Fingerprint,
    mark: Mark,
}

impl<T: Serialize> Door<T> for KeyedDoor<'_> {
    fn record(&self) -> Option<(Key, Option<Version>)> {
        let version = self.found.as_ref().map(|found| found.version);
        Some((schema::record(self.account, self.key).key().clone(), version))
    }

    fn keep(&self, result: &Result<T, Error>, unit: &mut Unit<'_>) -> Result<(), Error> {
        let kept = match result {
            Ok(outcome) => Kept::Outcome(outcome),
            Err(error) if error.is_an_answer() => Kept::Error(error.to_stored()),
            Err(_) => return Ok(()),
        };
        let text = serde_json::to_string(&kept)
            .map_err(|error| Error::corrupt(format!("an answer cannot be written: {error}")))?;
        if text.len() > limits::ANSWER_BYTES {
            return Err(Error::too_large(format!(
                "the answer would have {} bytes, expected at most {} under an idempotency key",
                text.len(),
                limits::ANSWER_BYTES
            )));
        }
        self.write(&text, unit.now, unit)
    }
}

impl KeyedDoor<'_> {
    fn write(&self, text: &str, now: Timestamp, unit: &mut Unit<'_>) -> Result<(), Error> {
        let answer = match StoredAnswer::pieces(text).as_slice() {
            [whole] => StoredAnswer::Inline((*whole).to_owned()),
            pieces => {
                let mut count = 0;
                for (number, piece) in (0_u32..).zip(pieces) {
                    let part = schema::RecordPart { text: (*piece).to_owned() };
                    unit.put(&schema::record_part(self.account, number, self.key), &part)?;
                    count = number.saturating_add(1);
                }
                StoredAnswer::Parts(count)
            }
        };
        if let Some(Found { record: Record { answer: StoredAnswer::Parts(old), .. }, .. }) =
            &self.found
        {
            let kept = if let StoredAnswer::Parts(count) = answer { count } else { 0 };
            for number in kept..*old {
                unit.delete(&schema::record_part(self.account, number, self.key));
            }
        }
        let record = Record {
            fingerprint: self.fingerprint,
            mark: self.mark.clone(),
            completed_at: now,
            answer,
        };
        let owner = schema::Expiry { account: self.account.clone(), key: self.key.clone() };
        unit.put(&schema::record_expiry(record.expires_at(), self.account, self.key), &owner)?;
        unit.put(&schema::record(self.account, self.key), &record)
    }
}
