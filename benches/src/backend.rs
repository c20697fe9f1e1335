use std::{fmt, path::Path, sync::Arc};

use accrue::store::{MemoryStore, Store};
use accrue_fjall::{FjallOptions, FjallStore};
use accrue_sled::{SledOptions, SledStore};
use clap::ValueEnum;

use crate::Outcome;

/// A kind of store that the benches measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Nothing is kept.
    Memory,
    /// A folder, on fjall.
    Fjall,
    /// A folder, on sled.
    Sled,
}

impl Backend {
    /// Opens a store in a folder of its own, which is made if there is none.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    pub fn open(self, folder: &Path) -> Outcome<Arc<dyn Store>> {
        Ok(match self {
            Self::Memory => Arc::new(MemoryStore::new()),
            Self::Fjall => Arc::new(FjallStore::open(folder)?),
            Self::Sled => Arc::new(SledStore::open(folder)?),
        })
    }

    /// The same without the rows that accrue keeps ready: what the engine below does by itself.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    pub fn open_raw(self, folder: &Path) -> Outcome<Arc<dyn Store>> {
        Ok(match self {
            Self::Memory => Arc::new(MemoryStore::new()),
            Self::Fjall => Arc::new(FjallOptions::new().row_cache_bytes(0).open(folder)?),
            Self::Sled => Arc::new(SledOptions::new().row_cache_bytes(0).open(folder)?),
        })
    }

    /// Tells whether what it has committed is there when it is opened again.
    #[must_use]
    pub const fn is_durable(self) -> bool {
        !matches!(self, Self::Memory)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
