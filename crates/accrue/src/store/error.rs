use std::error::Error as StdError;

/// Error of a store that gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Nothing was applied, for certain; the call may be made again.
    #[error("store is unavailable: {reason}")]
    Unavailable {
        /// Description of the failure.
        reason: String,
        /// Error of the backend itself.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// The commit was applied or not: nobody knows.
    #[error("outcome of the commit is unknown: {reason}")]
    Indeterminate {
        /// Description of the failure.
        reason: String,
        /// Error of the backend itself.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// Stored bytes are not what was written.
    #[error("store is corrupt: {reason}")]
    Corrupt {
        /// Description of the bytes that were found.
        reason: String,
        /// Error of the backend itself.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
}

impl StoreError {
    /// Creates the error for the case that nothing was applied, for certain.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), source: None }
    }

    /// Creates the error for an unknown outcome.
    pub fn indeterminate(reason: impl Into<String>) -> Self {
        Self::Indeterminate { reason: reason.into(), source: None }
    }

    /// Creates the error for stored bytes that are not what was written.
    pub fn corrupt(reason: impl Into<String>) -> Self {
        Self::Corrupt { reason: reason.into(), source: None }
    }

    /// Keeps the backend's own error as the source.
    #[must_use]
    pub fn with_source(mut self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let (Self::Unavailable { source, .. }
        | Self::Indeterminate { source, .. }
        | Self::Corrupt { source, .. }) = &mut self;
        *source = Some(error.into());
        self
    }
}
