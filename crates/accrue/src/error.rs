//! Errors of operations.

use std::{error::Error as StdError, fmt};

use serde::{Deserialize, Serialize};

use crate::store::StoreError;

/// Error of an operation that gave no result.
///
/// Its text is for people; a program relies on [`kind`](Error::kind),
/// [`can_be_retried`](Error::can_be_retried) and the two lists, [`violations`](Error::violations)
/// and [`refused_events`](Error::refused_events).
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    detail: String,
    retry: Retry,
    corrupt: bool,
    replayed: bool,
    violations: Vec<Violation>,
    refused_events: Vec<RefusedEvent>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Kind of an error (§7, but for those that only a server has).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Broken rule: a state, an overlap, a limit of one per kind.
    ConstraintViolation,
    /// Identifier of the caller's choice that is used already.
    DuplicateResource,
    /// Malformed request: a type, a bound, an unknown name.
    RequestValidation,
    /// Feature that the account lacks, or that is not built.
    FeatureNotAvailable,
    /// Resource that does not exist in this account.
    ResourceNotFound,
    /// Conflict: the idempotency key is in flight, or was used with another payload; or what the
    /// request would change is being corrected, so that it is to be sent again.
    ResourceConflict,
    /// Document, answer or batch that is too large.
    ResourceTooLarge,
    /// Answer without pages that has too many rows.
    TooManyResults,
    /// Too many requests at once.
    TooManyRequests,
    /// Failure of the engine or its store.
    Internal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Retry {
    Safe,
    Futile,
}

/// One fault of a request, and the field that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// Path of the field in the input of the operation: `charge.model.tiered.tiers[1].last_unit` of
    /// a new price.
    pub field: String,
    /// Text that says what was found and what was expected.
    pub message: String,
}

/// An event that a batch was refused for. Its key is not consumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedEvent {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// Its key, where it has one.
    pub idempotency_key: Option<String>,
    /// Reasons for which it was refused.
    pub reasons: Vec<String>,
}

impl Error {
    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Lists the faults of the request, where the kind is
    /// [`RequestValidation`](ErrorKind::RequestValidation).
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Lists the events that a batch was refused for.
    #[must_use]
    pub fn refused_events(&self) -> &[RefusedEvent] {
        &self.0.refused_events
    }

    /// Tells whether the same request may succeed later, and doing it again is safe: with the same
    /// idempotency key where it had one (§4.5.7, §4.5.9, §4.5.10).
    #[must_use]
    pub fn can_be_retried(&self) -> bool {
        self.0.retry == Retry::Safe
    }

    /// Tells whether a resource does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::ResourceNotFound
    }

    /// Tells whether an idempotency key is in flight, or was used with another payload, or what the
    /// request would change is being corrected.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::ResourceConflict
    }

    /// Tells whether this is a transient failure of the engine or its store (§4.5.10).
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind() == ErrorKind::Internal && self.can_be_retried()
    }

    /// Tells whether it is the answer of an earlier action under the same idempotency key (§4.5.6).
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.0.replayed
    }

    fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            detail: detail.into(),
            retry: Retry::Futile,
            corrupt: false,
            replayed: false,
            violations: Vec::new(),
            refused_events: Vec::new(),
            source: None,
        }))
    }

    fn retry_is_safe(mut self) -> Self {
        self.0.retry = Retry::Safe;
        self
    }

    pub(crate) fn replayed(mut self) -> Self {
        self.0.replayed = true;
        self
    }

    pub(crate) fn constraint(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::ConstraintViolation, detail)
    }

    pub(crate) fn duplicate(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::DuplicateResource, detail)
    }

    pub(crate) fn not_found(what: &str, id: impl fmt::Display) -> Self {
        Self::new(ErrorKind::ResourceNotFound, format!("no {what} with identifier {id}"))
    }

    pub(crate) fn feature(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::FeatureNotAvailable, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::ResourceTooLarge, detail)
    }

    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_all(vec![Violation { field: field.into(), message: message.into() }])
    }

    /// Creates the error of a request with one fault or several.
    pub(crate) fn invalid_all(violations: Vec<Violation>) -> Self {
        let first =
            violations.first().map(|Violation { field, message }| format!("{field}: {message}"));
        let first = first.unwrap_or_default();
        let detail = match violations.len() {
            0 | 1 => first,
            found => format!("{found} things are wrong, the first: {first}"),
        };
        let mut error = Self::new(ErrorKind::RequestValidation, detail);
        error.0.violations = violations;
        error
    }

    /// Returns the error with `place` before each field: the value that has the field is itself a
    /// field of a larger one.
    pub(crate) fn within(mut self, place: &str) -> Self {
        let place = format!("{place}.");
        if !self.0.violations.is_empty() {
            self.0.detail.insert_str(0, &place);
        }
        for violation in &mut self.0.violations {
            violation.field.insert_str(0, &place);
        }
        self
    }

    pub(crate) fn refused(events: Vec<RefusedEvent>) -> Self {
        let first = events.first().map(|event| {
            let key = event.idempotency_key.as_deref().unwrap_or("without a key");
            format!(": event {} ({key}): {}", event.index, event.reasons.join("; "))
        });
        let mut error = Self::new(
            ErrorKind::RequestValidation,
            format!("{} of the events are refused{}", events.len(), first.unwrap_or_default()),
        );
        error.0.violations = events
            .iter()
            .flat_map(|event| event.reasons.iter().map(|reason| (event.index, reason)))
            .map(|(index, reason)| Violation {
                field: format!("events[{index}]"),
                message: reason.clone(),
            })
            .collect();
        error.0.refused_events = events;
        error
    }

    pub(crate) fn key_in_flight() -> Self {
        let detail = "another request with this idempotency key has not completed yet";
        Self::new(ErrorKind::ResourceConflict, detail).retry_is_safe()
    }

    pub(crate) fn key_reused() -> Self {
        let detail = "this idempotency key was used with another payload";
        Self::new(ErrorKind::ResourceConflict, detail)
    }

    pub(crate) fn correction_under_way() -> Self {
        let detail = "a backfill, or a metric, is correcting what this request would change: it can be \
                      sent again in a while";
        Self::new(ErrorKind::ResourceConflict, detail).retry_is_safe()
    }

    pub(crate) fn too_many(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooManyResults, detail)
    }

    pub(crate) fn too_many_in_flight() -> Self {
        Self::new(ErrorKind::TooManyRequests, "too many operations in flight").retry_is_safe()
    }

    pub(crate) fn contended() -> Self {
        let detail = "other writers won every race for the same rows";
        Self::new(ErrorKind::Internal, detail).retry_is_safe()
    }

    pub(crate) fn corrupt(detail: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Internal, detail);
        error.0.corrupt = true;
        error
    }

    /// Creates the error of a commit whose outcome is unknown: doing it again is safe only under a
    /// key.
    pub(crate) fn unknown_outcome(source: StoreError) -> Self {
        let mut error = Self::new(ErrorKind::Internal, "the outcome is unknown");
        error.0.source = Some(source.into());
        error
    }

    /// Returns the error where doing it again is safe: under a key, or where nothing was to be
    /// changed. Corruption stays what it is, and so does a fault of the request.
    pub(crate) fn retry_doubles_nothing(self) -> Self {
        match self.kind() {
            ErrorKind::Internal if !self.is_corruption() => self.retry_is_safe(),
            _ => self,
        }
    }

    /// Tells whether the error is an answer that an idempotency key keeps: a business error after
    /// work began.
    pub(crate) fn is_an_answer(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::ConstraintViolation
                | ErrorKind::DuplicateResource
                | ErrorKind::ResourceNotFound
                | ErrorKind::ResourceTooLarge
                | ErrorKind::TooManyResults
        )
    }

    /// Tells whether stored rows are not what was written, which no retry mends.
    pub(crate) fn is_corruption(&self) -> bool {
        self.kind() == ErrorKind::Internal && self.0.corrupt
    }

    pub(crate) fn to_stored(&self) -> StoredError {
        StoredError {
            kind: self.0.kind,
            detail: self.0.detail.clone(),
            violations: self.0.violations.clone(),
        }
    }
}

/// An error as an idempotency record keeps it.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredError {
    kind: ErrorKind,
    detail: String,
    violations: Vec<Violation>,
}

impl From<StoredError> for Error {
    fn from(stored: StoredError) -> Self {
        let mut error = Self::new(stored.kind, stored.detail);
        error.0.violations = stored.violations;
        error
    }
}

impl From<StoreError> for Error {
    fn from(source: StoreError) -> Self {
        let mut error = match source {
            StoreError::Unavailable { .. } => {
                Self::new(ErrorKind::Internal, "the store is unavailable").retry_is_safe()
            }
            StoreError::Corrupt { .. } => Self::corrupt("the store is corrupt"),
            StoreError::Indeterminate { .. } => return Self::unknown_outcome(source),
        };
        error.0.source = Some(source.into());
        error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, detail, violations, source, .. } = &*self.0;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("detail", detail)
            .field("violations", violations)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| {
            let source: &(dyn StdError + 'static) = source;
            source
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_fault_of_the_request_can_be_retried_under_a_key() {
        let check = |error: Error, expect: bool| {
            assert_eq!(error.retry_doubles_nothing().can_be_retried(), expect);
        };
        check(Error::unknown_outcome(StoreError::indeterminate("nobody knows")), true);
        check(Error::corrupt("a row is missing"), false);
        check(Error::too_large("an answer would not fit"), false);
        check(Error::constraint("the item is archived"), false);
    }
}
