use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use accrue::{Billing, Clock, SystemClock, SystemEntropy, schema, store::MemoryStore};
use accrue_fjall::FjallStore;
use accrue_postgres::PostgresStore;
use accrue_sled::SledStore;

/// Where everything is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// In memory, gone at the end.
    Memory,
    /// On fjall, in a folder.
    Fjall(PathBuf),
    /// On sled, in a folder.
    Sled(PathBuf),
    /// In a PostgreSQL database that a connection string leads to, which several servers may use at once.
    Postgres(String),
}

impl FromStr for StoreAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("fjall", folder)) if !folder.is_empty() => Ok(Self::Fjall(folder.into())),
            Some(("sled", folder)) if !folder.is_empty() => Ok(Self::Sled(folder.into())),
            // A whole URL begins so.
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(text.to_owned()))
            }
            Some(("postgres", rest)) if !rest.is_empty() => Ok(Self::Postgres(rest.to_owned())),
            _ => Err("expected `memory`, `fjall:DIR`, `sled:DIR` or `postgres:URL`".to_owned()),
        }
    }
}

impl fmt::Display for StoreAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Fjall(folder) => write!(f, "fjall:{}", folder.display()),
            Self::Sled(folder) => write!(f, "sled:{}", folder.display()),
            // There may be a password in the rest.
            Self::Postgres(_) => f.write_str("postgres"),
        }
    }
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreOpenError {
    /// The folder of a store on fjall cannot be used.
    #[error(transparent)]
    Fjall(accrue_fjall::OpenError),
    /// The folder of a store on sled cannot be used.
    #[error(transparent)]
    Sled(accrue_sled::OpenError),
    /// The database cannot be used.
    #[error("the database cannot be used")]
    Postgres(#[source] accrue_postgres::OpenError),
}

impl StoreAt {
    /// Opens the store, with the machine's clock and entropy. What is missing in a database is made.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened: by another process, for example, that has it open.
    pub async fn open(&self) -> Result<Billing, StoreOpenError> {
        self.open_at(SystemClock).await
    }

    /// Opens the store, with a clock and the machine's entropy.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub async fn open_at(&self, clock: impl Clock) -> Result<Billing, StoreOpenError> {
        Ok(match self {
            Self::Memory => Billing::new(MemoryStore::new(), clock, SystemEntropy),
            Self::Fjall(folder) => {
                let store = FjallStore::open(folder).map_err(StoreOpenError::Fjall)?;
                Billing::new(store, clock, SystemEntropy)
            }
            Self::Sled(folder) => {
                let store = SledStore::open(folder).map_err(StoreOpenError::Sled)?;
                Billing::new(store, clock, SystemEntropy)
            }
            Self::Postgres(connection) => {
                let migrated = PostgresStore::migrate(connection, schema::TABLES).await;
                migrated.map_err(StoreOpenError::Postgres)?;
                let store = PostgresStore::open(connection).await;
                let store = Arc::new(store.map_err(StoreOpenError::Postgres)?);
                Billing::new(Arc::clone(&store), clock, SystemEntropy).taking_turns(store)
            }
        })
    }

    /// Returns the folder, where there is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Memory | Self::Postgres(_) => None,
            Self::Fjall(folder) | Self::Sled(folder) => Some(folder),
        }
    }
}

impl StoreOpenError {
    /// Tells whether another process has the store open, or something else of this one.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        match self {
            Self::Fjall(error) => error.is_locked(),
            Self::Sled(error) => error.is_locked(),
            Self::Postgres(_) => false,
        }
    }
}
