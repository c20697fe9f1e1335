use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use accrue_durable::MarkerError;

use crate::{encode::FORMAT, rows::is_io};

/// Why a folder could not be opened as a store.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    cause: Cause,
}

/// What kind of failure an [`OpenError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// Another store has the folder open, in this process or in another.
    Locked,
    /// The folder was not written by this crate, or in a format that it does not know.
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
    #[error("it holds a database of another version of fjall")]
    Version(#[source] fjall::Error),
    #[error("its database has no {part}")]
    Missing { part: &'static str },
    #[error("its journal is damaged, and has whole batches behind the damage")]
    Journal,
    #[error("the ceiling of versions has {bytes} bytes, expected 8")]
    Ceiling { bytes: usize },
    #[error("the database cannot be recovered")]
    Corrupt(#[source] fjall::Error),
    #[error("the database cannot be recovered: fjall panicked")]
    Panic,
    #[error("the database cannot be read or written")]
    Fjall(#[source] fjall::Error),
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
            | Cause::Version(_) => OpenErrorKind::Format,
            Cause::Marker(MarkerError::Io(_)) | Cause::Fjall(_) | Cause::Io { .. } => {
                OpenErrorKind::Io
            }
            Cause::Marker(_)
            | Cause::Missing { .. }
            | Cause::Journal
            | Cause::Ceiling { .. }
            | Cause::Corrupt(_)
            | Cause::Panic => OpenErrorKind::Corrupt,
        }
    }

    /// Tells whether another store has the folder open.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.kind() == OpenErrorKind::Locked
    }

    /// Returns the folder.
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

impl From<fjall::Error> for Cause {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Locked => Self::Locked,
            fjall::Error::InvalidVersion(_) => Self::Version(error),
            error if is_io(&error) => Self::Fjall(error),
            error => Self::Corrupt(error),
        }
    }
}

impl From<MarkerError> for Cause {
    fn from(error: MarkerError) -> Self {
        Self::Marker(error)
    }
}
