use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use accrue_durable::MarkerError;

use crate::encode::FORMAT;

/// Why a directory could not be opened as a store.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    cause: Cause,
}

/// What kind of failure an [`OpenError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// Another store has the directory open, in this process or in another.
    Locked,
    /// The directory was not written by this crate, or in a format that it does not know.
    Format,
    /// Stored bytes are not what was written, or are gone.
    Corrupt,
    /// The operating system failed.
    Io,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("another store has it open")]
    Locked,
    #[error("it holds {found:?}, which is no part of a store")]
    Foreign { found: String },
    #[error(transparent)]
    Marker(MarkerError),
    #[error("it has format {found:?}, expected {FORMAT:?}")]
    UnknownFormat { found: String },
    #[error("it holds a database without a format, expected {FORMAT:?}")]
    NoFormat,
    #[error("it holds a database with other settings")]
    Settings,
    #[error("the ceiling of versions has {bytes} bytes, expected 8")]
    Ceiling { bytes: usize },
    #[error("its log is damaged, and has whole batches behind the damage")]
    Log,
    #[error("the database cannot be recovered")]
    Corrupt(#[source] sled::Error),
    #[error("the database cannot be recovered: sled panicked")]
    Panic,
    #[error("the database cannot be read or written")]
    Sled(#[source] sled::Error),
    #[error("{what}")]
    Io {
        what: &'static str,
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    pub(crate) fn new(path: &Path, cause: Cause) -> Self {
        Self { path: path.to_owned(), cause }
    }

    /// Returns the kind of failure.
    #[must_use]
    pub const fn kind(&self) -> OpenErrorKind {
        match self.cause {
            Cause::Locked => OpenErrorKind::Locked,
            Cause::Foreign { .. }
            | Cause::Marker(MarkerError::Format { .. })
            | Cause::UnknownFormat { .. }
            | Cause::NoFormat
            | Cause::Settings => OpenErrorKind::Format,
            Cause::Marker(MarkerError::Io(_)) | Cause::Sled(_) | Cause::Io { .. } => {
                OpenErrorKind::Io
            }
            Cause::Marker(_)
            | Cause::Log
            | Cause::Ceiling { .. }
            | Cause::Corrupt(_)
            | Cause::Panic => OpenErrorKind::Corrupt,
        }
    }

    /// Tells whether another store has the directory open.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.kind() == OpenErrorKind::Locked
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store at {} cannot be opened: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.cause)
    }
}

impl From<sled::Error> for Cause {
    fn from(error: sled::Error) -> Self {
        match error {
            // sled has no kind of its own for this.
            sled::Error::Io(ref io) if io.to_string().starts_with("could not acquire lock") => {
                Self::Locked
            }
            sled::Error::Unsupported(_) => Self::Settings,
            sled::Error::Corruption { .. } => Self::Corrupt(error),
            error => Self::Sled(error),
        }
    }
}

impl From<MarkerError> for Cause {
    fn from(error: MarkerError) -> Self {
        Self::Marker(error)
    }
}
