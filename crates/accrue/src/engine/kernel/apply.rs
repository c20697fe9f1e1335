//! The one loop that runs a command and commits it. Transitions that time has brought come first, in
//! commits of their own (`docs/decisions/transitions-before-the-operation.md`).

use std::{pin::Pin, time::Duration};

use async_trait::async_trait;
use serde::Serialize;

use super::{
    Account, Patience, Shared, Stop, Transaction, audit::Audit, trace::Span, transaction::Ended,
};
use crate::{
    AccountId, CustomerId, Error, IdOr, Timestamp,
    audit::subject_of,
    idempotency::Fingerprint,
    limits,
    store::{Commit, Key, StoreError, Version},
};

/// Operation that writes: it loads, decides and saves, in one unit of work.
///
/// It may be run several times, and must not remember an earlier run.
#[async_trait]
pub(in crate::engine) trait Command: Send + Sync {
    /// Answer of the operation.
    type Outcome: Send;

    /// Names it, in its fingerprint and its span.
    fn name(&self) -> &'static str;

    /// Says what it is about, for the audit log: the id, the alias or the name of a resource.
    fn subject(&self) -> Option<String> {
        None
    }

    /// Runs it. What it writes is dropped where it ends with an error.
    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Outcome, Stop>;
}

/// Operation that a caller asks for, and can ask for under an idempotency key.
pub(in crate::engine) trait Request: Command {
    /// Returns the fingerprint that the key is held against: of its name and its arguments.
    fn fingerprint(&self) -> Result<Fingerprint, Error>;

    /// Names the one customer that it is for, where it is short and many of its kind come at once: those that wait may be
    /// committed together.
    fn customer(&self) -> Option<&IdOr<CustomerId>> {
        None
    }
}

/// Operation of the library: its name, its arguments, and the function that runs it.
pub(in crate::engine) struct Op<A, T> {
    name: &'static str,
    arguments: A,
    run: Run<A, T>,
}

type Run<A, T> = for<'t, 'u> fn(&'t mut Transaction<'u>, &'t A) -> Running<'t, T>;

type Running<'t, T> = Pin<Box<dyn Future<Output = Result<T, Stop>> + Send + 't>>;

impl<A, T> Op<A, T> {
    pub(in crate::engine) const fn new(name: &'static str, arguments: A, run: Run<A, T>) -> Self {
        Self { name, arguments, run }
    }
}

#[async_trait]
impl<A: Serialize + Send + Sync, T: Send> Command for Op<A, T> {
    type Outcome = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn subject(&self) -> Option<String> {
        subject_of(&serde_json::to_value(&self.arguments).ok()?)
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<T, Stop> {
        (self.run)(tx, &self.arguments).await
    }
}

impl<A: Serialize + Send + Sync, T: Send> Request for Op<A, T> {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint(self.name(), &self.arguments)
    }
}

/// Takes the fingerprint of an operation of the library.
pub(in crate::engine) fn fingerprint(
    operation: &str,
    arguments: &impl Serialize,
) -> Result<Fingerprint, Error> {
    let payload = serde_json::to_string(arguments)
        .map_err(|error| Error::corrupt(format!("a payload cannot be written: {error}")))?;
    Ok(Fingerprint::of(["library", operation, &payload]))
}

/// Keeper of an answer in the commit of the effect of the operation.
pub(in crate::engine) trait Door<T>: Send + Sync {
    /// Names the rows that are the first preconditions of a commit, as they were found: those in which a
    /// record of the key may lie.
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)>;

    /// Tells whether nobody has looked for a record yet.
    fn is_unasked(&self) -> bool;

    /// Writes the answer where it is one to keep, which an error can be too, and returns it.
    fn keep(
        &self,
        result: &Result<T, Error>,
        tx: &mut Transaction<'_>,
    ) -> Result<Option<String>, Error>;
}

/// Outcome of the attempt to apply an operation.
pub(in crate::engine) enum Applied<T> {
    /// The operation was decided, and its writes are committed.
    Done(Decided<T>),
    /// Another attempt under the same key was first, or may have been: with the row in which its record is, where one was
    /// found.
    LostTheKey(Option<Key>),
    /// Nobody knows whether it was written.
    Unknown(Decided<T>, StoreError),
}

/// Decision of an operation.
pub(in crate::engine) struct Decided<T> {
    pub(in crate::engine) result: Result<T, Error>,
    /// Answer that the door keeps.
    pub(in crate::engine) answer: Option<String>,
}

/// Runs an operation without an idempotency key.
pub(in crate::engine) async fn apply_open<C: Command + ?Sized>(
    account: &Account,
    command: &C,
) -> Result<C::Outcome, Error> {
    match apply(account, command, None).await? {
        Applied::Done(decided) => decided.result,
        Applied::LostTheKey(_) => Err(Error::contended()),
        Applied::Unknown(_, error) => Err(error.into()),
    }
}

/// Runs a step that time brings: whoever doubts whether it was taken takes it again.
pub(in crate::engine) async fn apply_step<C: Command + ?Sized>(
    shared: &Shared,
    account: &AccountId,
    command: &C,
) -> Result<C::Outcome, Error> {
    match apply_unaudited(shared, account, command).await? {
        Applied::Done(done) => done.result,
        Applied::LostTheKey(_) => Err(Error::contended()),
        Applied::Unknown(_, error) => Err(Error::from(error).retry_doubles_nothing()),
    }
}

/// Tells whether an operation took so long to decide that it is to be decided anew: others have gone on
/// meanwhile, and transitions that were due then have been applied.
fn decided_long_ago(at: Timestamp, now: Timestamp) -> bool {
    at.saturating_add(Duration::from_secs(limits::DECISION_SECONDS)) < now
}

/// Runs an operation of a caller and commits it, in a span of its own, with the entry of the audit log where
/// somebody acts. Without a door nothing else is kept beside the effect.
pub(in crate::engine) async fn apply<C: Command + ?Sized>(
    account: &Account,
    command: &C,
    door: Option<&dyn Door<C::Outcome>>,
) -> Result<Applied<C::Outcome>, Error> {
    let (span, audit) = (Span::of(command.name(), account.id()), Audit::of(account));
    span.around(apply_within(&span, (account.shared(), account.id()), command, door, audit)).await
}

/// Runs and commits what nobody has asked for, in a span of its own.
pub(in crate::engine) async fn apply_unaudited<C: Command + ?Sized>(
    shared: &Shared,
    account: &AccountId,
    command: &C,
) -> Result<Applied<C::Outcome>, Error> {
    let span = Span::of(command.name(), account);
    span.around(apply_within(&span, (shared, account), command, None, None)).await
}

/// The only loop that commits.
async fn apply_within<C: Command + ?Sized>(
    span: &Span,
    (shared, account): (&Shared, &AccountId),
    command: &C,
    door: Option<&dyn Door<C::Outcome>>,
    audit: Option<Audit<'_>>,
) -> Result<Applied<C::Outcome>, Error> {
    let mut held = shared.stripes.hold_none();
    let (mut lost, mut patience) = (0_usize, Patience::of_request());
    let mut trusts_caller = true;
    while lost < limits::RUNS {
        let mut tx = Transaction::new(shared, account, shared.now(), held);
        if trusts_caller {
            tx = tx.trusting();
        }
        let rows_read = span.attempt();
        tx.rows_read = rows_read.clone();
        let decided = match command.run(&mut tx).await {
            Ok(outcome) => {
                if let Some(audit) = audit {
                    audit.note(&mut tx, command.name(), || command.subject())?;
                }
                Ok(outcome)
            }
            // It may be for something that is there already.
            Err(Stop::Error(_) | Stop::First(_)) if tx.trusted().is_some() => {
                trusts_caller = false;
                held = tx.into_held();
                continue;
            }
            Err(Stop::Error(error)) => {
                tx.discard_writes();
                Err(error)
            }
            Err(Stop::Locks(wanted)) => {
                held = tx.into_held();
                held.take(wanted).await;
                continue;
            }
            // What a key was used for has no effect again, and brings others none.
            Err(Stop::First(_)) if door.is_some_and(Door::is_unasked) => {
                return Ok(Applied::LostTheKey(None));
            }
            Err(Stop::First(owners)) => {
                // They take their own locks.
                drop(tx.into_doubts());
                shared.first.catch_up(shared, account, &owners, &mut patience).await?;
                held = shared.stripes.hold_none();
                continue;
            }
        };
        if decided_long_ago(tx.now, shared.now()) {
            held = tx.into_held();
            lost = lost.saturating_add(1);
            continue;
        }
        let (trusted, has_to_send) = (tx.trusted(), tx.has_to_send);
        let records = door.map(|door| door.records(tx.now)).unwrap_or_default();
        let Some(Sealed { decided, ended: Ended { batch, findings, locks } }) =
            seal(decided, tx, door, &records)?
        else {
            trusts_caller = false;
            held = shared.stripes.hold_none();
            continue;
        };
        held = locks;
        let changes = batch.changes.len();
        let kept = changes > 0;
        if !kept && batch.preconditions.is_empty() {
            return Ok(Applied::Done(decided));
        }
        match (shared.store.commit(batch).await, decided) {
            (Ok(Commit::Committed(version)), decided) => {
                findings.keep(&shared.residents, version);
                span.committed(changes);
                if has_to_send {
                    shared.to_send.notify(usize::MAX);
                }
                return Ok(Applied::Done(decided));
            }
            (Ok(Commit::Conflict(key)), _) => {
                span.conflict();
                if records.iter().any(|(record, _)| *record == key) {
                    return Ok(Applied::LostTheKey(Some(key)));
                }
                if trusted != Some(key.table()) {
                    held.lose().await;
                }
                findings.refresh(&shared.residents, &*shared.store, &rows_read).await?;
                if trusted == Some(key.table()) {
                    trusts_caller = false;
                } else {
                    lost = lost.saturating_add(1);
                }
            }
            // Nothing was to be changed, and nobody knows whether what was read holds together.
            (Err(error), _) if !kept => {
                return Err(Error::from(error).retry_doubles_nothing());
            }
            (Err(error @ StoreError::Indeterminate { .. }), decided) => {
                findings.doubt(&shared.residents);
                return Ok(Applied::Unknown(decided, error));
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    Err(Error::contended())
}

/// Run that is ready to be committed. An error that is not kept is committed too, without a change: it
/// holds only where the rows that were read still are as they were read.
struct Sealed<'a, T> {
    decided: Decided<T>,
    ended: Ended<'a>,
}

/// Makes a run ready to be committed; none where it does not fit one commit, and would perhaps with what
/// is there. What does not fit is an error like any other: it holds where what was read still is as it was.
fn seal<'a, T>(
    mut result: Result<T, Error>,
    mut tx: Transaction<'a>,
    door: Option<&dyn Door<T>>,
    records: &[(Key, Option<Version>)],
) -> Result<Option<Sealed<'a, T>>, Error> {
    let keep = |result: &Result<T, Error>, tx: &mut Transaction<'a>| {
        let answer = door.map(|door| door.keep(result, tx)).transpose()?.flatten();
        tx.check_writes(0).map(|()| answer)
    };
    let answer = match keep(&result, &mut tx) {
        Ok(answer) => answer,
        Err(_) if tx.trusted().is_some() => return Ok(None),
        Err(error) => {
            tx.discard_writes();
            result = Err(error);
            keep(&result, &mut tx)?
        }
    };
    let ended = tx.into_batch(records)?;
    Ok(Some(Sealed { decided: Decided { result, answer }, ended }))
}
