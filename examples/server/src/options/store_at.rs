use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use accrue::{Billing, Clock, SystemClock, SystemEntropy, store::MemoryStore};
use accrue_fjall::FjallStore;
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
}

impl FromStr for StoreAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("fjall", folder)) if !folder.is_empty() => Ok(Self::Fjall(folder.into())),
            Some(("sled", folder)) if !folder.is_empty() => Ok(Self::Sled(folder.into())),
            _ => Err("expected `memory`, `fjall:DIR` or `sled:DIR`".to_owned()),
        }
    }
}

impl fmt::Display for StoreAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Fjall(folder) => write!(f, "fjall:{}", folder.display()),
            Self::Sled(folder) => write!(f, "sled:{}", folder.display()),
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
}

impl StoreAt {
    /// Opens the store, with the machine's clock and entropy.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened: by another process, for example, that has it open.
    pub fn open(&self) -> Result<Billing, StoreOpenError> {
        self.open_at(SystemClock)
    }

    /// Opens the store, with a clock and the machine's entropy.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_at(&self, clock: impl Clock) -> Result<Billing, StoreOpenError> {
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
        })
    }

    /// Returns the folder, but where everything is in memory.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Memory => None,
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
        }
    }
}
