use std::{fmt, io};

use deadpool_postgres::{BuildError, PoolError};
use tokio_postgres::error::SqlState;

use crate::migrate::LAYOUT;

/// Why a store could not be opened or migrated.
#[derive(Debug)]
pub struct OpenError {
    cause: Box<Cause>,
}

/// What kind of failure an [`OpenError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// The connection string, the name of the schema or the certificate authorities cannot be used.
    Configuration,
    /// There are no tables of a store: [`migrate`](crate::PostgresStore::migrate) makes them.
    NotMigrated,
    /// The tables are of a newer version of this crate, or of an older one that `migrate` changes.
    Layout,
    /// The server may lose what it confirms, or the database cannot hold every text.
    Server,
    /// No connection, or a statement that the server refused.
    Unavailable,
    /// The operating system failed.
    Io,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("the connection string cannot be read")]
    Connection(#[source] tokio_postgres::Error),
    #[error("the schema {name:?} is not one of lower-case letters, digits and underscores")]
    Schema { name: String },
    #[error("there is no certificate authority in what was given")]
    NoAuthorities,
    #[error("certificate authorities: {what}")]
    Authorities {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the schema {schema:?} has no tables of a store: call PostgresStore::migrate")]
    NotMigrated { schema: String },
    #[error("its tables have layout {found}, expected at most {LAYOUT}")]
    Newer { found: i32 },
    #[error("its tables have layout {found}, expected {LAYOUT}: call PostgresStore::migrate")]
    Older { found: i32 },
    #[error("the database has encoding {found}, expected UTF8")]
    Encoding { found: String },
    #[error("a table number of the server is out of range")]
    Table,
    #[error("{what}")]
    Server {
        what: &'static str,
        #[source]
        source: tokio_postgres::Error,
    },
    #[error("there is no connection")]
    Pool(#[source] PoolError),
    #[error("{reason}")]
    Unsafe { reason: String },
    #[error("the connections cannot be pooled")]
    Build(#[source] BuildError),
    #[error("the thread cannot be started")]
    Thread(#[source] io::Error),
    #[error("the runtime has ended")]
    Ended,
}

impl Cause {
    /// Tells whether another transaction was in the way, which makes the same perhaps.
    pub(crate) fn is_of_another_transaction(&self) -> bool {
        let Self::Server { source, .. } = self else { return false };
        let in_the_way = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_SCHEMA,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_FUNCTION,
            // What the catalogue says of two who write one row of it.
            SqlState::INTERNAL_ERROR,
        ];
        source.code().is_some_and(|code| in_the_way.contains(code))
    }
}

impl OpenError {
    pub(crate) fn new(cause: Cause) -> Self {
        Self { cause: Box::new(cause) }
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> OpenErrorKind {
        match *self.cause {
            Cause::Connection(_)
            | Cause::Schema { .. }
            | Cause::NoAuthorities
            | Cause::Authorities { .. } => OpenErrorKind::Configuration,
            Cause::NotMigrated { .. } => OpenErrorKind::NotMigrated,
            Cause::Newer { .. } | Cause::Older { .. } | Cause::Table => OpenErrorKind::Layout,
            Cause::Encoding { .. } | Cause::Unsafe { .. } => OpenErrorKind::Server,
            Cause::Server { .. } | Cause::Pool(_) | Cause::Ended => OpenErrorKind::Unavailable,
            Cause::Build(_) | Cause::Thread(_) => OpenErrorKind::Io,
        }
    }

    /// Tells whether there are no tables of a store.
    #[must_use]
    pub fn is_not_migrated(&self) -> bool {
        self.kind() == OpenErrorKind::NotMigrated
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store on PostgreSQL cannot be used: {}", self.cause)
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.cause)
    }
}

impl From<Cause> for OpenError {
    fn from(cause: Cause) -> Self {
        Self::new(cause)
    }
}

/// Says what the server refused.
pub(crate) fn server(what: &'static str) -> impl FnOnce(tokio_postgres::Error) -> Cause {
    move |source| Cause::Server { what, source }
}
