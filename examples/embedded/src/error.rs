use std::{io, path::PathBuf};

use accrue::backfill::BackfillStatus;

use crate::{Difference, trace::TraceError};

/// Why a run did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The store's folder cannot be made, read or removed.
    #[error("folder {} cannot be prepared for the store", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store's folder holds something already.
    #[error("folder {} is not empty, expected a new or an empty one", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Another run makes and removes the store's folder.
    #[error("folder {} is in use by another run: --store fjall:DIR takes another one", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The store on fjall cannot be opened.
    #[error(transparent)]
    Fjall(#[from] accrue_fjall::OpenError),
    /// The store on sled cannot be opened.
    #[error(transparent)]
    Sled(#[from] accrue_sled::OpenError),
    /// The engine refused something, or failed.
    #[error("the engine failed to {doing}")]
    Engine {
        /// What it was asked to do.
        doing: &'static str,
        /// Why.
        source: accrue::Error,
    },
    /// What time has brought cannot be applied.
    #[error("what time has brought {failed} customers cannot be applied")]
    Behind {
        /// How many.
        failed: usize,
    },
    /// The report cannot be written.
    #[error("report {} cannot be written", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The same events once more changed something.
    #[error("the second pass changed something, expected duplicates only")]
    SecondPass,
    /// The reopened store shows other figures, another cost, or other credits.
    #[error("the reopened store shows other figures, costs or credits than before")]
    Reopened,
    /// A backfill is not where it has to be once all is applied.
    #[error("the backfill is {found:?}, expected {expected:?}")]
    Backfill {
        /// Where it is.
        found: BackfillStatus,
        /// Where it has to be.
        expected: BackfillStatus,
    },
    /// A figure is not what it has to be with a backfill, or without it again.
    #[error("{first}; {count} figures differ in all")]
    Differs {
        /// The first of them.
        first: Box<Difference>,
        /// How many they are.
        count: usize,
    },
}

/// Says what the engine was doing when it failed.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, Error>;
}

impl<T> Doing<T> for Result<T, accrue::Error> {
    fn doing(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Engine { doing, source })
    }
}
