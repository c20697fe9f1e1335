use std::{fmt, time::Duration};

use accrue::store::Table;
use tokio::runtime::Handle;
use tokio_rustls::rustls::ClientConfig;

use crate::{error::OpenError, migrate, open, store::PostgresStore, tls};

/// How to open a [`PostgresStore`].
///
/// ```no_run
/// # async fn open() -> Result<(), accrue_postgres::OpenError> {
/// use accrue_postgres::PostgresOptions;
///
/// let connection = "host=one,two user=billing dbname=billing target_session_attrs=read-write";
/// let store = PostgresOptions::new(connection).connections(32).open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresOptions {
    pub(crate) connection: String,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) lanes: usize,
    pub(crate) turns: usize,
    pub(crate) isolation: Isolation,
    pub(crate) loss: Loss,
    pub(crate) patience: Duration,
    pub(crate) tls: Tls,
    pub(crate) handle: Option<Handle>,
}

/// How commits are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isolation {
    /// READ COMMITTED, and locks on the keys that a commit judges and writes: the fast one.
    #[default]
    Locks,
    /// SERIALIZABLE for reads and commits, which are made again where the server refuses them: for
    /// databases that speak the protocol and have no advisory locks.
    Serializable,
}

/// Whether a server is taken that may lose what it has confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Refused,
    Accepted,
}

/// What a server's certificate is held against.
#[derive(Clone, Debug)]
pub(crate) enum Tls {
    /// The authorities that Mozilla trusts.
    Mozilla,
    /// Authorities of the host's own, as PEM.
    Pem(Vec<u8>),
    /// Whatever the host has configured.
    Config(Box<ClientConfig>),
}

impl PostgresOptions {
    /// The options that [`PostgresStore::open`] takes.
    ///
    /// The connection string is that of libpq, as words or as a URL, in the
    /// [part](tokio_postgres::Config) that tokio-postgres reads: several hosts,
    /// `target_session_attrs=read-write`, `sslmode`.
    #[must_use]
    pub fn new(connection: impl Into<String>) -> Self {
        Self {
            connection: connection.into(),
            schema: "accrue".to_owned(),
            connections: 16,
            lanes: 6,
            turns: 4,
            isolation: Isolation::default(),
            loss: Loss::Refused,
            patience: Duration::from_secs(10),
            tls: Tls::Mozilla,
            handle: None,
        }
    }

    /// Sets the schema that the store lies in: `accrue` if not set.
    ///
    /// Views for readers are in another one, whose name ends in `_views`.
    #[must_use]
    pub fn schema(self, schema: impl Into<String>) -> Self {
        Self { schema: schema.into(), ..self }
    }

    /// Sets how many connections there are at most: 16 if not set, and one more than there are lanes
    /// at least.
    #[must_use]
    pub fn connections(self, connections: usize) -> Self {
        Self { connections, ..self }
    }

    /// Sets how many calls with commits are under way at a time, each with all batches that waited
    /// for it: 6 if not set, one at least.
    #[must_use]
    pub fn lanes(self, lanes: usize) -> Self {
        Self { lanes: lanes.max(1), ..self }
    }

    /// Sets how many further connections wait for [turns](accrue::store::Turns) at most, where the store is handed in to
    /// [take them](accrue::Billing::taking_turns): 4 if not set, so many customers at once that several processes race for.
    #[must_use]
    pub fn turns(self, turns: usize) -> Self {
        Self { turns: turns.max(1), ..self }
    }

    /// Sets how commits are kept apart: [`Isolation::Locks`] if not set.
    #[must_use]
    pub fn isolation(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
    }

    /// Takes a server with `fsync` off, or `synchronous_commit` below `on`: a crash of it can lose
    /// what was answered.
    #[must_use]
    pub fn accepting_lost_commits(self) -> Self {
        Self { loss: Loss::Accepted, ..self }
    }

    /// Sets for how long a commit whose connection was lost asks what became of it, before it answers
    /// that nobody knows: 10 seconds if not set.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Trusts certificate authorities of the host's own, in PEM, instead of those of Mozilla.
    #[must_use]
    pub fn authorities(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { tls: Tls::Pem(pem.into()), ..self }
    }

    /// Takes TLS as it was configured, with a certificate of the client's own for example.
    #[must_use]
    pub fn tls(self, config: ClientConfig) -> Self {
        Self { tls: Tls::Config(Box::new(config)), ..self }
    }

    /// Runs on a runtime of the host, whose IO and time are enabled, instead of a thread of the
    /// store's own. The runtime must outlive the store.
    #[must_use]
    pub fn on(self, handle: Handle) -> Self {
        Self { handle: Some(handle), ..self }
    }

    /// Returns the connection string, which may hold a password.
    #[must_use]
    pub fn connection(&self) -> &str {
        &self.connection
    }

    /// Opens the store.
    ///
    /// # Errors
    ///
    /// See [`PostgresStore::open`].
    pub async fn open(self) -> Result<PostgresStore, OpenError> {
        open::open(self).await
    }

    /// Makes the tables of the store, or brings them to the layout that this version has; and a view
    /// for each of `tables`, for readers. `accrue::schema::TABLES` are those of the engine.
    ///
    /// It changes nothing where all is there, and may be called by several processes at once.
    ///
    /// # Errors
    ///
    /// If the layout is newer, the database is not in UTF-8, or the server refuses.
    pub async fn migrate(self, tables: &[Table]) -> Result<(), OpenError> {
        let names = tables.iter().map(|table| table.name()).collect();
        migrate::migrate(self, names).await
    }

    pub(crate) fn connector(&self) -> Result<tokio_postgres_rustls::MakeRustlsConnect, OpenError> {
        tls::connector(&self.tls)
    }
}

/// The connection string may hold a password.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .field("isolation", &self.isolation)
            .finish_non_exhaustive()
    }
}
