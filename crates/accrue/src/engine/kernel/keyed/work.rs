//! Work under a key: the answer of a request goes into the commit of its effect.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    super::{
        apply::{Command, Request, Work},
        transaction::{Stop, Transaction},
    },
    claim::{Claim, Found},
};
use crate::{
    CustomerId, Error, IdOr, Timestamp, limits,
    store::{Key, Version},
};

/// Request whose answer is a text, whatever its outcome is: so what is under keys is compiled once, and not for each type
/// of outcome.
pub(super) trait Answering: Command<Outcome = String> {
    /// Answers with an error.
    fn refuse(&self, error: &Error) -> String;

    /// Names the customer that it is for, as [`Request::customer`] does.
    fn customer(&self) -> Option<&IdOr<CustomerId>> {
        None
    }
}

/// Request with the writer of its answer.
pub(super) struct Encoded<T, E> {
    pub(super) request: Arc<dyn Request<Outcome = T>>,
    pub(super) encode: E,
}

#[async_trait]
impl<T: Send, E: Fn(Result<&T, &Error>) -> String + Send + Sync> Command for Encoded<T, E> {
    type Outcome = String;

    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<String, Stop> {
        let outcome = self.request.run(tx).await?;
        Ok((self.encode)(Ok(&outcome)))
    }
}

impl<T: Send, E: Fn(Result<&T, &Error>) -> String + Send + Sync> Answering for Encoded<T, E> {
    fn refuse(&self, error: &Error) -> String {
        (self.encode)(Err(error))
    }

    fn customer(&self) -> Option<&IdOr<CustomerId>> {
        self.request.customer()
    }
}

/// Request of a client that only reads, with its answer.
pub(super) struct NoEffect(pub(super) String);

#[async_trait]
impl Command for NoEffect {
    type Outcome = String;

    fn name(&self) -> &'static str {
        "no_effect"
    }

    async fn run(&self, _: &mut Transaction<'_>) -> Result<String, Stop> {
        Ok(self.0.clone())
    }
}

impl Answering for NoEffect {
    fn refuse(&self, _: &Error) -> String {
        self.0.clone()
    }
}

/// Work of a request that runs by itself.
pub(super) struct Keyed<'a> {
    claim: &'a Claim,
    found: &'a Found,
    request: &'a dyn Answering,
    /// Whether an error is an answer.
    keeps_errors: bool,
    /// What is kept, where it is.
    pub(super) answer: Option<String>,
}

impl<'a> Keyed<'a> {
    /// Makes work that keeps its answer, which an error can be too.
    pub(super) fn new(claim: &'a Claim, found: &'a Found, request: &'a dyn Answering) -> Self {
        Self { claim, found, request, keeps_errors: true, answer: None }
    }

    /// Has it keep successes alone.
    pub(super) fn keeping_successes(self) -> Self {
        Self { keeps_errors: false, ..self }
    }
}

#[async_trait]
impl Work for Keyed<'_> {
    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&mut self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        self.answer = Some(self.request.run(tx).await?);
        Ok(())
    }

    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        self.claim.records(self.found, now)
    }

    fn is_unasked(&self) -> bool {
        self.found.rows.is_empty()
    }

    fn keep(&mut self, refused: Option<&Error>, tx: &mut Transaction<'_>) -> Result<(), Error> {
        if let Some(error) = refused {
            let is_kept = self.keeps_errors && error.is_an_answer();
            self.answer = is_kept.then(|| self.request.refuse(error));
        }
        self.answer.as_ref().map_or(Ok(()), |answer| keep(self.claim, answer, tx))
    }
}

/// Request that may run together with others: whatever it finds that is no success, it runs by itself.
pub(super) struct Member {
    pub(super) claim: Arc<Claim>,
    pub(super) request: Arc<dyn Answering>,
}

impl Member {
    /// Runs it as if its key were new, writes its record, and returns its answer.
    pub(super) async fn run(&self, tx: &mut Transaction<'_>) -> Result<String, Stop> {
        let answer = self.request.run(tx).await?;
        keep(&self.claim, &answer, tx)?;
        Ok(answer)
    }

    /// Names the rows in which a record of its key may lie.
    pub(super) fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        self.claim.records(&Found::default(), now)
    }
}

/// Writes the record of an answer.
fn keep(claim: &Claim, answer: &str, tx: &mut Transaction<'_>) -> Result<(), Error> {
    if answer.len() > limits::ANSWER_BYTES {
        return Err(Error::too_large(format!(
            "the answer would have {} bytes, expected at most {} under an idempotency key",
            answer.len(),
            limits::ANSWER_BYTES
        )));
    }
    claim.write(answer, tx.now, tx)
}
