//! Door with a key: the answer of a request goes into the commit of its effect.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    super::{
        apply::{Door, Request},
        transaction::{Stop, Transaction},
    },
    claim::{Claim, Found},
    group::Member,
};
use crate::{
    Error, Timestamp, limits,
    store::{Key, Version},
};

/// Writer of an answer.
pub(super) type Encode<'a, T> = dyn Fn(Result<&T, &Error>) -> String + Send + Sync + 'a;

/// Door of a request that runs by itself.
pub(super) struct KeyedDoor<'a, T> {
    pub(super) claim: &'a Claim,
    pub(super) found: &'a Found,
    pub(super) encode: &'a Encode<'a, T>,
    /// Whether an error is an answer.
    pub(super) keeps_errors: bool,
}

impl<T> Door<T> for KeyedDoor<'_, T> {
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        self.claim.records(self.found, now)
    }

    fn is_unasked(&self) -> bool {
        self.found.rows.is_empty()
    }

    fn keep(
        &self,
        result: &Result<T, Error>,
        tx: &mut Transaction<'_>,
    ) -> Result<Option<String>, Error> {
        if result.as_ref().is_err_and(|error| !(self.keeps_errors && error.is_an_answer())) {
            return Ok(None);
        }
        keep(self.claim, (self.encode)(result.as_ref()), tx).map(Some)
    }
}

/// Request that may run together with others: whatever it finds that is no success, it runs by itself.
pub(super) struct KeyedMember<T> {
    pub(super) claim: Arc<Claim>,
    pub(super) request: Arc<dyn Request<Outcome = T>>,
    pub(super) encode: Arc<Encode<'static, T>>,
}

#[async_trait]
impl<T: Send> Member for KeyedMember<T> {
    async fn run(&self, tx: &mut Transaction<'_>) -> Result<String, Stop> {
        let outcome = self.request.run(tx).await?;
        Ok(keep(&self.claim, (self.encode)(Ok(&outcome)), tx)?)
    }

    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        self.claim.records(&Found::default(), now)
    }
}

/// Writes the record of an answer, which it returns.
fn keep(claim: &Claim, text: String, tx: &mut Transaction<'_>) -> Result<String, Error> {
    if text.len() > limits::ANSWER_BYTES {
        return Err(Error::too_large(format!(
            "the answer would have {} bytes, expected at most {} under an idempotency key",
            text.len(),
            limits::ANSWER_BYTES
        )));
    }
    claim.write(&text, tx.now, tx)?;
    Ok(text)
}
