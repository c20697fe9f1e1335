use std::error::Error;

use crate::{
    failure::Cause,
    problem::{Problem, Violations},
};

/// Why an operation of the host's own gives no answer. [`Api::handle_own`] answers it in the form of
/// the specification (§7).
///
/// [`Api::handle_own`]: crate::Api::handle_own
#[derive(Debug)]
#[non_exhaustive]
pub enum OwnError {
    /// A fault of the request, answered 400.
    Invalid {
        /// JSON pointer to where it was found: `/now`.
        pointer: String,
        /// Text that says what was found and what was expected.
        message: String,
    },
    /// A failure, answered 500: the client is not told why, [`ApiBuilder::on_error`] is.
    ///
    /// [`ApiBuilder::on_error`]: crate::ApiBuilder::on_error
    Failed(Box<dyn Error + Send + Sync>),
}

impl OwnError {
    /// Makes the error of a fault of the request.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { pointer: pointer.into(), message: message.into() }
    }

    /// Makes the error of a failure.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

impl From<OwnError> for Problem {
    fn from(error: OwnError) -> Self {
        match error {
            OwnError::Invalid { pointer, message } => {
                Self::invalid(Violations::one(pointer, message))
            }
            OwnError::Failed(cause) => Self::failed_by(Cause::from(cause)),
        }
    }
}
