use std::{error::Error as StdError, io, sync::Arc};

use accrue::store::StoreError;
use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};

/// Why there is no answer. The batches of a call share it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    kind: Kind,
    reason: &'static str,
    source: Arc<dyn StdError + Send + Sync>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    NotApplied,
    /// Nothing was applied, since the server refused what it was told to do.
    Refused,
    Unknown,
    Corrupt,
}

/// What an error says of the statement that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It was rolled back, and may be done when it is made again.
    Again,
    /// It was rolled back, since the server has no room for its locks.
    NoLocks,
    /// It was rolled back, by a server that takes no writes.
    Elsewhere,
    /// It was rolled back.
    RolledBack,
    /// It was done, or not, or will be.
    Doubtful,
}

impl Failure {
    /// Nothing was applied.
    pub(crate) fn not_applied(
        reason: &'static str,
        source: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self { kind: Kind::NotApplied, reason, source: Arc::new(source) }
    }

    /// Nobody knows.
    pub(crate) fn unknown(
        reason: &'static str,
        source: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self { kind: Kind::Unknown, reason, source: Arc::new(source) }
    }

    /// A commit was rolled back.
    pub(crate) fn of_commit(error: Error) -> Self {
        let is_refusal = Meaning::of(&error) == Meaning::RolledBack;
        let failure = Self::of_statement("the commit was rolled back", error);
        match failure.kind {
            Kind::NotApplied if is_refusal => Self { kind: Kind::Refused, ..failure },
            _ => failure,
        }
    }

    /// Tells whether the server refused what it was told to do.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.kind, Kind::Refused | Kind::Corrupt)
    }

    /// A statement was rolled back, or only read.
    pub(crate) fn of_statement(reason: &'static str, error: Error) -> Self {
        let damaged = [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED];
        let is_damaged = error.code().is_some_and(|code| damaged.contains(code));
        let kind = if is_damaged { Kind::Corrupt } else { Kind::NotApplied };
        Self { kind, reason, source: Arc::new(error) }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let error = match failure.kind {
            Kind::NotApplied | Kind::Refused => Self::unavailable(failure.reason),
            Kind::Unknown => Self::indeterminate(failure.reason),
            Kind::Corrupt => Self::corrupt(failure.reason),
        };
        error.with_source(failure.source)
    }
}

impl Meaning {
    pub(crate) fn of(error: &Error) -> Self {
        match error.as_db_error() {
            Some(error) if is_rolled_back(error) => Self::of_rolled_back(error.code()),
            _ => Self::Doubtful,
        }
    }

    fn of_rolled_back(code: &SqlState) -> Self {
        match *code {
            SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::UNIQUE_VIOLATION => Self::Again,
            SqlState::OUT_OF_MEMORY => Self::NoLocks,
            SqlState::READ_ONLY_SQL_TRANSACTION => Self::Elsewhere,
            _ => Self::RolledBack,
        }
    }
}

/// Tells whether a server ended a session while it was made.
pub(crate) fn is_ended(error: &PoolError) -> bool {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
            let is_reset = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
            let cause = error.source().and_then(|cause| cause.downcast_ref());
            error.is_closed()
                || error.code() == Some(&SqlState::ADMIN_SHUTDOWN)
                || cause.is_some_and(is_reset)
        }
        _ => false,
    }
}

/// An error ends the transaction and leaves the session. What ends the session may have come behind the commit.
fn is_rolled_back(error: &DbError) -> bool {
    let code = error.code();
    let is_unknown = *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        || *code == SqlState::TRANSACTION_RESOLUTION_UNKNOWN
        || code.code().starts_with("08");
    error.parsed_severity() == Some(Severity::Error) && !is_unknown
}
