//! The one loop that runs a command and commits it. Transitions that time has brought come first, in
//! commits of their own (`docs/decisions/transitions-before-the-operation.md`).

use std::{pin::Pin, time::Duration};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use super::{
    Account, Patience, Shared, Stop, Transaction, audit::Audit, boxed, trace::Span,
    transaction::Ended,
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

    /// Writes it down, to be run another time: its arguments under its name. None where nobody does that.
    fn written(&self) -> Result<Option<Value>, Error> {
        Ok(None)
    }

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

    fn written(&self) -> Result<Option<Value>, Error> {
        written(self.name, &self.arguments).map(Some)
    }
}

/// Writes an operation down: its arguments under its name.
pub(in crate::engine) fn written(
    operation: &str,
    arguments: &impl Serialize,
) -> Result<Value, Error> {
    let arguments = serde_json::to_value(arguments).map_err(unwritable)?;
    Ok(Value::Object([(operation.to_owned(), arguments)].into_iter().collect()))
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::corrupt(format!("a payload cannot be written: {error}"))
}

/// Takes the fingerprint of an operation of the library.
pub(in crate::engine) fn fingerprint(
    operation: &str,
    arguments: &impl Serialize,
) -> Result<Fingerprint, Error> {
    let payload = serde_json::to_string(arguments).map_err(unwritable)?;
    Ok(Fingerprint::of(["library", operation, &payload]))
}

/// Operation as the loop that commits sees it: its outcome stays with it. So the loop, with all that it needs, is compiled
/// once, and not for each type of outcome in each program of a host.
#[async_trait]
pub(in crate::engine) trait Work: Send {
    /// Names it, as [`Command::name`] does.
    fn name(&self) -> &'static str;

    /// Says what it is about, as [`Command::subject`] does.
    fn subject(&self) -> Option<String> {
        None
    }

    /// Runs it, and remembers the outcome in place of that of an earlier run.
    async fn run(&mut self, tx: &mut Transaction<'_>) -> Result<(), Stop>;

    /// Names the rows that are the first preconditions of its commit, as they were found: those in which a
    /// record of its key may lie.
    fn records(&self, _: Timestamp) -> Vec<(Key, Option<Version>)> {
        Vec::new()
    }

    /// Tells whether it has a key, and nobody has looked for a record yet.
    fn is_unasked(&self) -> bool {
        false
    }

    /// Writes the answer of its last run where it is one to keep, which an error can be too.
    fn keep(&mut self, _: Option<&Error>, _: &mut Transaction<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Work of a command that nothing is kept of beside its effect.
pub(in crate::engine) struct Open<'a, C: Command + ?Sized> {
    command: &'a C,
    outcome: Option<C::Outcome>,
}

impl<'a, C: Command + ?Sized> Open<'a, C> {
    pub(in crate::engine) const fn new(command: &'a C) -> Self {
        Self { command, outcome: None }
    }

    /// Returns the outcome of a run that has succeeded.
    pub(in crate::engine) fn outcome(self) -> Result<C::Outcome, Error> {
        self.outcome.ok_or_else(|| Error::corrupt("a success has no outcome"))
    }
}

#[async_trait]
impl<C: Command + ?Sized> Work for Open<'_, C> {
    fn name(&self) -> &'static str {
        self.command.name()
    }

    fn subject(&self) -> Option<String> {
        self.command.subject()
    }

    async fn run(&mut self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        self.outcome = Some(self.command.run(tx).await?);
        Ok(())
    }
}

/// Outcome of the attempt to apply an operation.
pub(in crate::engine) enum Applied {
    /// The operation was decided, and its writes are committed.
    Done(Result<(), Error>),
    /// Another attempt under the same key was first, or may have been: with the row in which its record is, where one was
    /// found.
    LostTheKey(Option<Key>),
    /// Nobody knows whether it was written.
    Unknown(StoreError),
}

/// Runs an operation without an idempotency key.
pub(in crate::engine) async fn apply_open<C: Command + ?Sized>(
    account: &Account,
    command: &C,
) -> Result<C::Outcome, Error> {
    let mut work = Open::new(command);
    match apply(account, &mut work).await? {
        Applied::Done(decided) => decided?,
        Applied::LostTheKey(_) => return Err(Error::contended()),
        Applied::Unknown(error) => return Err(error.into()),
    }
    work.outcome()
}

/// Runs a step that time brings, which nobody has asked for: whoever doubts whether it was taken takes it again.
pub(in crate::engine) async fn apply_step<C: Command + ?Sized>(
    shared: &Shared,
    account: &AccountId,
    command: &C,
) -> Result<C::Outcome, Error> {
    let mut work = Open::new(command);
    match apply_unaudited(shared, account, &mut work).await? {
        Applied::Done(decided) => decided?,
        Applied::LostTheKey(_) => return Err(Error::contended()),
        Applied::Unknown(error) => return Err(Error::from(error).retry_doubles_nothing()),
    }
    work.outcome()
}

/// Tells whether an operation took so long to decide that it is to be decided anew: others have gone on
/// meanwhile, and transitions that were due then have been applied.
fn decided_long_ago(at: Timestamp, now: Timestamp) -> bool {
    at.saturating_add(Duration::from_secs(limits::DECISION_SECONDS)) < now
}

/// Runs an operation of a caller and commits it, in a span of its own, with the entry of the audit log where
/// somebody acts.
#[boxed]
pub(in crate::engine) async fn apply(
    account: &Account,
    work: &mut dyn Work,
) -> Result<Applied, Error> {
    let (span, audit) = (Span::of(work.name(), account.id()), Audit::of(account));
    span.around(apply_within(&span, (account.shared(), account.id()), work, audit)).await
}

/// Runs and commits what nobody has asked for, in a span of its own.
#[boxed]
async fn apply_unaudited(
    shared: &Shared,
    account: &AccountId,
    work: &mut dyn Work,
) -> Result<Applied, Error> {
    let span = Span::of(work.name(), account);
    span.around(apply_within(&span, (shared, account), work, None)).await
}

/// The only loop that commits.
async fn apply_within(
    span: &Span,
    (shared, account): (&Shared, &AccountId),
    work: &mut dyn Work,
    audit: Option<Audit<'_>>,
) -> Result<Applied, Error> {
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
        let decided = match work.run(&mut tx).await {
            Ok(()) => {
                if let Some(audit) = audit {
                    audit.note(&mut tx, work.name(), || work.subject())?;
                }
                Ok(())
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
            Err(Stop::First(_)) if work.is_unasked() => {
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
        let records = work.records(tx.now);
        let Some(Sealed { decided, ended: Ended { batch, findings, locks } }) =
            seal(decided, tx, work, &records)?
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
            (Err(error @ StoreError::Indeterminate { .. }), _) => {
                findings.doubt(&shared.residents);
                return Ok(Applied::Unknown(error));
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    Err(Error::contended())
}

/// Run that is ready to be committed. An error that is not kept is committed too, without a change: it
/// holds only where the rows that were read still are as they were read.
struct Sealed<'a> {
    decided: Result<(), Error>,
    ended: Ended<'a>,
}

/// Makes a run ready to be committed; none where it does not fit one commit, and would perhaps with what
/// is there. What does not fit is an error like any other: it holds where what was read still is as it was.
fn seal<'a>(
    mut decided: Result<(), Error>,
    mut tx: Transaction<'a>,
    work: &mut dyn Work,
    records: &[(Key, Option<Version>)],
) -> Result<Option<Sealed<'a>>, Error> {
    let mut keep = |decided: &Result<(), Error>, tx: &mut Transaction<'a>| {
        work.keep(decided.as_ref().err(), tx)?;
        tx.check_writes(0)
    };
    match keep(&decided, &mut tx) {
        Ok(()) => {}
        Err(_) if tx.trusted().is_some() => return Ok(None),
        Err(error) => {
            tx.discard_writes();
            decided = Err(error);
            keep(&decided, &mut tx)?;
        }
    }
    Ok(Some(Sealed { decided, ended: tx.into_batch(records)? }))
}
