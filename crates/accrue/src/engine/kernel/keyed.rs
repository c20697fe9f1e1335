//! Operations under an idempotency key: admitted, run and kept, or replayed (§4.5).

mod claim;
mod group;
mod work;

use std::{fmt, future::IntoFuture, sync::Arc};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use self::{
    claim::{Claim, Found, Tried},
    work::{Answering, Encoded, Keyed, Member, NoEffect},
};
use super::{
    Account, Call,
    apply::{Applied, Request, apply},
    boxed,
    call::Running,
    in_flight::Place,
    together::Joined,
};
use crate::{
    Error, IdempotencyKey,
    error::StoredError,
    idempotency::{Answer, Fingerprint, Freshness, Mark},
    limits,
};

/// Operation under an idempotency key, ready to be awaited.
#[must_use = "nothing happens before it is awaited"]
pub struct KeyedCall<T> {
    call: Call<T>,
    key: IdempotencyKey,
}

impl<T: Send + 'static> Call<T> {
    /// Runs it under an idempotency key (§4.5): its effect happens at most once, and for 48 hours a
    /// retry is answered as the first time.
    ///
    /// A key that is in flight, or was used with another payload, is a
    /// [`ResourceConflict`](crate::ErrorKind::ResourceConflict).
    pub fn keyed(self, key: IdempotencyKey) -> KeyedCall<T> {
        KeyedCall { call: self, key }
    }
}

impl<T> IntoFuture for KeyedCall<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
{
    type Output = Result<Answer<T>, Error>;
    type IntoFuture = Running<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { call, key } = self;
            let (account, request) = call.into_parts();
            run(&account, key, request).await
        })
    }
}

impl<T> fmt::Debug for KeyedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedCall").field("call", &self.call).field("key", &self.key).finish()
    }
}

impl Account {
    /// Takes an idempotency key for a request that comes through a door of the host's own (§4.5).
    ///
    /// Whatever the request then comes to, the key is asked: where it [runs](Attempt::run) or
    /// [completes](Attempt::complete), and, where it is refused before that, by a
    /// [look](Attempt::look). So a key that is used with another payload is a conflict however broken that
    /// payload is.
    ///
    /// # Errors
    ///
    /// [`ResourceConflict`](crate::ErrorKind::ResourceConflict) where a request under the key has not
    /// completed yet; [`TooManyRequests`](crate::ErrorKind::TooManyRequests) where too many run.
    ///
    /// ```
    /// use accrue::{IdempotencyKey, Name, idempotency::Fingerprint, item::NewItem};
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let key = IdempotencyKey::parse("order-1")?;
    /// let payload = Fingerprint::of(["create_item", "Tokens"]);
    /// let name = Name::parse("Tokens")?;
    /// let create = || account.create_item(NewItem::new(name.clone()));
    /// let attempt = account.admit(key.clone(), payload)?;
    /// let answer = attempt.run(create(), |result| format!("created: {}", result.is_ok())).await?;
    /// assert_eq!(answer.outcome, "created: true");
    /// drop(attempt);
    ///
    /// let again = account.admit(key, payload)?.run(create(), |_| "never kept".to_owned()).await?;
    /// assert!(again.is_replayed() && again.outcome == "created: true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn admit(&self, key: IdempotencyKey, fingerprint: Fingerprint) -> Result<Attempt, Error> {
        let shared = self.shared();
        let place = shared.in_flight.enter(self.id(), &key, fingerprint)?;
        let mark = Mark::draw(&*shared.entropy);
        let claim = Claim { account: self.clone(), key, fingerprint, mark };
        Ok(Attempt { claim: Arc::new(claim), _place: place })
    }
}

/// Request under an idempotency key. The key is in flight until it is dropped.
#[must_use = "it is in flight until it is dropped"]
pub struct Attempt {
    claim: Arc<Claim>,
    _place: Place,
}

impl Attempt {
    /// Runs an operation in the account of the key, and keeps its answer in the commit of its effect; or
    /// returns the answer of an earlier request, and there is no effect.
    ///
    /// `encode` writes the answer down, which is at most 12 MiB; it may be called several times. It is
    /// called for business errors too, which are answers as well.
    ///
    /// # Errors
    ///
    /// [`ResourceConflict`](crate::ErrorKind::ResourceConflict) where the key was used for another
    /// request. Errors that are no answers: nothing is kept, and the key can be used again.
    pub async fn run<T: Send + 'static>(
        &self,
        call: Call<T>,
        encode: impl Fn(Result<&T, &Error>) -> String + Send + Sync + 'static,
    ) -> Result<Answer<String>, Error> {
        let (_, request) = call.into_parts();
        self.commit(Arc::new(Encoded { request, encode })).await
    }

    /// Completes without an effect, so that a request that only reads takes its key.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn complete(&self, answer: &str) -> Result<Answer<String>, Error> {
        self.commit(Arc::new(NoEffect(answer.to_owned()))).await
    }

    /// Returns the answer of an earlier request under the key, for one that is refused before it runs.
    ///
    /// # Errors
    ///
    /// [`ResourceConflict`](crate::ErrorKind::ResourceConflict) where that was another request.
    pub async fn look(&self) -> Result<Option<String>, Error> {
        let found = self.claim.find().await?;
        Ok(self.claim.answer(&found).await?.map(|answer| answer.outcome))
    }

    /// Runs a further operation of a request that [has run](Self::run), and keeps its answer in place of
    /// `before`, the one that is kept, in the commit of its effect. Where another answer is kept already,
    /// that one is returned, and there is no effect.
    ///
    /// So a request that waits for something outside the store between two commits has an answer at each
    /// instant, and whoever sends it again can go on from there. An error keeps `before`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and those of the operation. It can be run again.
    pub async fn go_on<T: Send + 'static>(
        &self,
        before: &str,
        call: Call<T>,
        encode: impl Fn(&T) -> String + Send + Sync,
    ) -> Result<Answer<String>, Error> {
        let (_, request) = call.into_parts();
        // An error is not kept.
        let encode = |result: Result<&T, &Error>| result.map_or_else(|_| String::new(), &encode);
        self.replace(before, &Encoded { request, encode }).await
    }

    /// Keeps an answer in place of `before` without an effect, as [`go_on`](Self::go_on) does with one.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn conclude(&self, before: &str, answer: &str) -> Result<Answer<String>, Error> {
        self.replace(before, &NoEffect(answer.to_owned())).await
    }

    /// Runs it where the record still has the answer before.
    #[boxed]
    async fn replace(
        &self,
        before: &str,
        request: &dyn Answering,
    ) -> Result<Answer<String>, Error> {
        for _ in 0..limits::RUNS {
            let found = self.claim.find().await?;
            match self.claim.answer(&found).await? {
                Some(answer) if answer.outcome != before => return Ok(answer),
                // One that has expired meanwhile is written anew.
                Some(_) | None => {}
            }
            let mut work = Keyed::new(&self.claim, &found, request).keeping_successes();
            match apply(&self.claim.account, &mut work).await {
                Ok(Applied::Done(decided)) => return fresh(decided, work.answer),
                Ok(Applied::LostTheKey(_)) => {}
                Ok(Applied::Unknown(error)) => {
                    let unknown = Error::unknown_outcome(error).retry_doubles_nothing();
                    let Ok(now) = self.claim.find().await else { return Err(unknown) };
                    return match self.claim.answer(&now).await? {
                        Some(answer) if work.answer.as_ref() == Some(&answer.outcome) => {
                            fresh(Ok(()), work.answer)
                        }
                        Some(answer) if answer.outcome != before => Ok(answer),
                        _ => Err(unknown),
                    };
                }
                Err(error) => return Err(error.retry_doubles_nothing()),
            }
        }
        Err(Error::key_in_flight())
    }

    /// Runs it with others that wait for the same customer, or alone.
    #[boxed]
    async fn commit(&self, request: Arc<dyn Answering>) -> Result<Answer<String>, Error> {
        let account = &self.claim.account;
        let customer = request.customer().filter(|_| account.actor().is_none());
        let Some(customer) = customer else {
            return self.commit_alone(&*request, Tried::No).await;
        };
        let member = || Member { claim: Arc::clone(&self.claim), request: Arc::clone(&request) };
        let of = (account.id().clone(), customer.clone());
        let run = |waiting| group::run(account, waiting);
        match account.shared().together.join(of, member, run).await {
            Joined::Answered(outcome) => Ok(Answer { outcome, freshness: Freshness::Fresh }),
            Joined::Alone(lead) => {
                // Without the lead it was taken along by another, who may have committed it.
                let tried = if lead.is_some() { Tried::No } else { Tried::Perhaps };
                let answer = self.commit_alone(&*request, tried).await;
                drop(lead);
                answer
            }
        }
    }

    /// Runs it as if the key were new. The commit tells where it is not: then the record is read.
    async fn commit_alone(
        &self,
        request: &dyn Answering,
        tried: Tried,
    ) -> Result<Answer<String>, Error> {
        let (claim, mut found) = (&*self.claim, Found::default());
        for _ in 0..limits::RUNS {
            let mut work = Keyed::new(claim, &found, request);
            let failure = match apply(&claim.account, &mut work).await {
                Ok(Applied::Done(decided)) => return fresh(decided, work.answer),
                Ok(Applied::LostTheKey(_)) => None,
                // The record tells whether the commit happened, and of which attempt it is.
                Ok(Applied::Unknown(error)) => {
                    let unknown = Error::unknown_outcome(error).retry_doubles_nothing();
                    let Ok(found) = claim.find().await else { return Err(unknown) };
                    return claim.answer_of(&found, Tried::Perhaps).await?.ok_or(unknown);
                }
                // The key protects a retry, also where the applying before has an unknown outcome.
                Err(error) => Some(error.retry_doubles_nothing()),
            };
            found = match (claim.find().await, failure) {
                (Ok(now), failure) => match (claim.answer_of(&now, tried).await?, failure) {
                    (Some(answer), _) => return Ok(answer),
                    (None, Some(failure)) => return Err(failure),
                    (None, None) => now,
                },
                (Err(_), Some(failure)) => return Err(failure),
                (Err(error), None) => return Err(error),
            };
        }
        Err(Error::key_in_flight())
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt").field("key", &self.claim.key).finish_non_exhaustive()
    }
}

/// Runs an operation of the library under an idempotency key (§4.5).
pub(in crate::engine) async fn run<T>(
    account: &Account,
    key: IdempotencyKey,
    request: Arc<dyn Request<Outcome = T>>,
) -> Result<Answer<T>, Error>
where
    T: Serialize + DeserializeOwned + Send + 'static,
{
    let attempt = account.admit(key, request.fingerprint()?)?;
    let answer = attempt.commit(Arc::new(Encoded { request, encode: Kept::encode })).await?;
    let freshness = answer.freshness;
    match serde_json::from_str(&answer.outcome) {
        Ok(Kept::Outcome(outcome)) => Ok(Answer { outcome, freshness }),
        Ok(Kept::Error(error)) if answer.is_replayed() => Err(Error::from(error).replayed()),
        Ok(Kept::Error(error)) => Err(Error::from(error)),
        Err(error) => Err(Error::corrupt(format!("a stored answer cannot be read: {error}"))),
    }
}

/// Returns the answer, which is kept with every result but an error that is none: that one is told as
/// it is.
fn fresh(decided: Result<(), Error>, kept: Option<String>) -> Result<Answer<String>, Error> {
    match (kept, decided) {
        (Some(outcome), _) => Ok(Answer { outcome, freshness: Freshness::Fresh }),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(Error::corrupt("a success was not kept")),
    }
}

/// Answer as the library keeps it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept<T> {
    Outcome(T),
    Error(StoredError),
}

impl<T: Serialize> Kept<T> {
    /// Encodes a result. One that cannot be written becomes a text that cannot be read: no domain type
    /// is such.
    fn encode(result: Result<&T, &Error>) -> String {
        let kept = match result {
            Ok(outcome) => Kept::Outcome(outcome),
            Err(error) => Kept::Error(error.to_stored()),
        };
        serde_json::to_string(&kept).unwrap_or_default()
    }
}
