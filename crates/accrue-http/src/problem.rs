//! Errors on the wire: the rows of specification §7.

mod violation;

use std::{borrow::Cow, error::Error, sync::Arc, time::Duration};

use accrue::ErrorKind;
use http::StatusCode;
use serde::Serialize;

pub(crate) use self::violation::{Violation, Violations, push_name};
use crate::{
    failure::{Cause, Unexpected},
    reply::{Hint, Reply},
};

/// Why a request is not answered as it asks.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    kind: Kind,
    detail: Cow<'static, str>,
    violations: Violations,
    refused: Vec<Refused>,
    hint: Hint,
    /// Why, where it is no fault of the request: for the host, and never told to the client.
    cause: Option<Cause>,
}

/// The kinds of error: those of the library, and those that only a server has (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ConstraintViolation,
    DuplicateResource,
    RequestValidation,
    Authentication,
    FeatureNotAvailable,
    ResourceNotFound,
    UrlNotFound,
    ResourceConflict,
    RequestTooLarge,
    ResourceTooLarge,
    TooManyResults,
    TooManyRequests,
    Internal,
}

impl From<ErrorKind> for Kind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::ConstraintViolation => Self::ConstraintViolation,
            ErrorKind::DuplicateResource => Self::DuplicateResource,
            ErrorKind::RequestValidation => Self::RequestValidation,
            ErrorKind::FeatureNotAvailable => Self::FeatureNotAvailable,
            ErrorKind::ResourceNotFound => Self::ResourceNotFound,
            ErrorKind::ResourceConflict => Self::ResourceConflict,
            ErrorKind::ResourceTooLarge => Self::ResourceTooLarge,
            ErrorKind::TooManyResults => Self::TooManyResults,
            ErrorKind::TooManyRequests => Self::TooManyRequests,
            _ => Self::Internal,
        }
    }
}

/// An event that a batch was refused for, as the wire names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Refused {
    idempotency_key: Option<String>,
    validation_errors: Vec<String>,
}

impl Problem {
    fn new(kind: Kind, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = detail.into();
        let (violations, refused) = (Violations::default(), Vec::new());
        Self { kind, detail, violations, refused, hint: Hint::None, cause: None }
    }

    pub(crate) fn unauthenticated() -> Self {
        Self::new(Kind::Authentication, "the API key is missing or not valid")
    }

    pub(crate) fn url_not_found() -> Self {
        Self::new(Kind::UrlNotFound, "nothing is served under this method and path")
    }

    pub(crate) fn request_too_large(detail: String) -> Self {
        Self::new(Kind::RequestTooLarge, detail)
    }

    pub(crate) fn resource_too_large(detail: String) -> Self {
        Self::new(Kind::ResourceTooLarge, detail)
    }

    pub(crate) fn too_many_requests(wait: Duration) -> Self {
        let mut problem = Self::new(Kind::TooManyRequests, "too many requests");
        problem.hint = Hint::RetryAfter(wait);
        problem
    }

    pub(crate) fn too_many_bytes(wait: Duration) -> Self {
        let detail = "the bodies of requests that are being answered have too many bytes";
        let mut problem = Self::new(Kind::TooManyRequests, detail);
        problem.hint = Hint::RetryAfter(wait);
        problem
    }

    pub(crate) fn feature_not_available(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::FeatureNotAvailable, detail)
    }

    pub(crate) fn constraint_violation(detail: String) -> Self {
        Self::new(Kind::ConstraintViolation, detail)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(Kind::ResourceNotFound, format!("no {what} with this identifier"))
    }

    /// The adapter failed, and a retry would too.
    pub(crate) fn internal(cause: &'static str) -> Self {
        Self::from(Unexpected(cause))
    }

    /// The adapter failed.
    pub(crate) fn failed(cause: impl Error + Send + Sync + 'static, hint: Hint) -> Self {
        Self { hint, ..Self::failed_by(Arc::new(cause)) }
    }

    /// The host failed, in an operation of its own.
    pub(crate) fn failed_by(cause: Cause) -> Self {
        let problem = Self::new(Kind::Internal, "the request failed");
        Self { cause: Some(cause), ..problem }
    }

    /// The time of the request was over before it was answered.
    pub(crate) fn out_of_time(hint: Hint) -> Self {
        let mut problem = Self::failed(Unexpected("the time of the request was over"), hint);
        problem.detail = Cow::Borrowed("the request took too long");
        problem
    }

    /// Returns why the request failed, where it is no fault of its own.
    pub(crate) fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    pub(crate) fn invalid(violations: Violations) -> Self {
        let mut problem = Self::new(Kind::RequestValidation, violations.summary());
        problem.violations = violations;
        problem
    }

    /// Writes it down as an answer.
    pub(crate) fn reply(&self, error_docs: &str) -> Reply {
        let Row { status, anchor, body_status, title } = row(self.kind);
        let is_validation = self.kind == Kind::RequestValidation;
        let body = Body {
            r#type: format!("{error_docs}#{anchor}"),
            status: body_status,
            title,
            detail: &self.detail,
            validation_errors: is_validation
                .then(|| self.violations.list().iter().map(ToString::to_string).collect()),
            validation_failed: (!self.refused.is_empty()).then_some(&self.refused),
        };
        Reply::json(status, &body).with_hint(self.hint)
    }
}

impl From<accrue::Error> for Problem {
    fn from(error: accrue::Error) -> Self {
        let problem = Self::from(&error);
        let cause = (problem.kind == Kind::Internal).then(|| -> Cause { Arc::new(error) });
        Self { cause, ..problem }
    }
}

impl From<&accrue::Error> for Problem {
    fn from(error: &accrue::Error) -> Self {
        let kind = Kind::from(error.kind());
        let mut violations = Violations::default();
        violations.extend(error.violations());
        let detail = match kind {
            // What the store says is for the logs of the host.
            Kind::Internal => Cow::Borrowed("the request failed"),
            // The library calls fields by other names.
            Kind::RequestValidation if error.refused_events().is_empty() => {
                Cow::Owned(violations.summary())
            }
            _ => Cow::Owned(error.to_string()),
        };
        let mut problem = Self::new(kind, detail);
        problem.violations = violations;
        let refused = error.refused_events().iter().map(|event| Refused {
            idempotency_key: event.idempotency_key.clone(),
            validation_errors: event.reasons.clone(),
        });
        problem.refused = refused.collect();
        problem.hint = match (kind, error.can_be_retried()) {
            (Kind::Internal, true) => Hint::Transient,
            (Kind::ResourceConflict | Kind::TooManyRequests, true) => {
                Hint::RetryAfter(Duration::from_secs(1))
            }
            (Kind::ResourceConflict, false) => Hint::Futile,
            _ => Hint::None,
        };
        problem
    }
}

impl From<Unexpected> for Problem {
    fn from(cause: Unexpected) -> Self {
        Self::failed(cause, Hint::None)
    }
}

impl From<Violations> for Problem {
    fn from(violations: Violations) -> Self {
        Self::invalid(violations)
    }
}

/// The body of an error (§7, wire 6.6).
#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    status: u16,
    title: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_errors: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_failed: Option<&'a Vec<Refused>>,
}

/// A row of specification §7.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) status: StatusCode,
    pub(crate) anchor: &'static str,
    pub(crate) body_status: u16,
    pub(crate) title: &'static str,
}

/// Every kind of error that an answer can have.
pub(crate) const KINDS: [Kind; 13] = [
    Kind::ConstraintViolation,
    Kind::DuplicateResource,
    Kind::RequestValidation,
    Kind::Authentication,
    Kind::FeatureNotAvailable,
    Kind::ResourceNotFound,
    Kind::UrlNotFound,
    Kind::ResourceConflict,
    Kind::RequestTooLarge,
    Kind::ResourceTooLarge,
    Kind::TooManyResults,
    Kind::TooManyRequests,
    Kind::Internal,
];

pub(crate) const fn row(kind: Kind) -> Row {
    let (status, anchor, body_status, title) = match kind {
        Kind::ConstraintViolation => {
            (StatusCode::BAD_REQUEST, "400-constraint-violation", 400, "A constraint was violated.")
        }
        Kind::DuplicateResource => (
            StatusCode::BAD_REQUEST,
            "400-duplicate-resource-creation",
            400,
            "A resource with this identifier exists already.",
        ),
        Kind::RequestValidation => (
            StatusCode::BAD_REQUEST,
            "400-request-validation-errors",
            400,
            "The request is not valid.",
        ),
        Kind::Authentication => (
            StatusCode::UNAUTHORIZED,
            "401-authentication-error",
            401,
            "The request is not authenticated.",
        ),
        // The status in the body is another one than that of the answer (§7).
        Kind::FeatureNotAvailable => (
            StatusCode::NOT_FOUND,
            "404-feature-not-available",
            400,
            "The feature is not available.",
        ),
        Kind::ResourceNotFound => (
            StatusCode::NOT_FOUND,
            "404-resource-not-found",
            404,
            "A specified resource was not found.",
        ),
        Kind::UrlNotFound => {
            (StatusCode::NOT_FOUND, "404-url-not-found", 404, "The path was not found.")
        }
        Kind::ResourceConflict => {
            (StatusCode::CONFLICT, "409-resource-conflict", 409, "The resource is in use.")
        }
        Kind::RequestTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-request-too-large",
            413,
            "The request is too large.",
        ),
        Kind::ResourceTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-resource-too-large",
            413,
            "A resource is too large.",
        ),
        Kind::TooManyResults => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-too-many-results",
            413,
            "There are too many results.",
        ),
        Kind::TooManyRequests => (
            StatusCode::TOO_MANY_REQUESTS,
            "429-too-many-requests",
            429,
            "There are too many requests.",
        ),
        Kind::Internal => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "500-internal-server-error",
            500,
            "The server failed.",
        ),
    };
    Row { status, anchor, body_status, title }
}
