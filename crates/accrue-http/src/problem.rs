//! Errors on the wire: the rows of specification §7.

use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

use accrue::{ErrorKind, Violation};
use http::StatusCode;
use serde::Serialize;

use crate::{
    failure::{Cause, Unexpected},
    reply::{Hint, Reply},
};

/// Why a request is not answered as it asks.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    kind: ErrorKind,
    detail: Cow<'static, str>,
    violations: Vec<Violation>,
    refused: Vec<Refused>,
    hint: Hint,
    /// Why, where it is no fault of the request: for the host, and never told to the client.
    cause: Option<Cause>,
}

/// An event that a batch was refused for, as the wire names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Refused {
    idempotency_key: Option<String>,
    validation_errors: Vec<String>,
}

impl Problem {
    fn new(kind: ErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = detail.into();
        let (violations, refused) = (Vec::new(), Vec::new());
        Self { kind, detail, violations, refused, hint: Hint::None, cause: None }
    }

    pub(crate) fn unauthenticated() -> Self {
        Self::new(ErrorKind::Authentication, "the API key is missing or not valid")
    }

    pub(crate) fn url_not_found() -> Self {
        Self::new(ErrorKind::UrlNotFound, "nothing is served under this method and path")
    }

    pub(crate) fn request_too_large(detail: String) -> Self {
        Self::new(ErrorKind::RequestTooLarge, detail)
    }

    pub(crate) fn resource_too_large(detail: String) -> Self {
        Self::new(ErrorKind::ResourceTooLarge, detail)
    }

    pub(crate) fn too_many_requests(wait: Duration) -> Self {
        let mut problem = Self::new(ErrorKind::TooManyRequests, "too many requests");
        problem.hint = Hint::RetryAfter(wait);
        problem
    }

    pub(crate) fn too_many_bytes(wait: Duration) -> Self {
        let detail = "the bodies of requests that are being answered have too many bytes";
        let mut problem = Self::new(ErrorKind::TooManyRequests, detail);
        problem.hint = Hint::RetryAfter(wait);
        problem
    }

    pub(crate) fn feature_not_available(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::FeatureNotAvailable, detail)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(ErrorKind::ResourceNotFound, format!("no {what} with this identifier"))
    }

    /// The adapter failed, and a retry would too.
    pub(crate) fn internal(cause: &'static str) -> Self {
        Self::from(Unexpected(cause))
    }

    /// The adapter failed.
    pub(crate) fn failed(cause: impl Error + Send + Sync + 'static, hint: Hint) -> Self {
        let mut problem = Self::new(ErrorKind::Internal, "the request failed");
        problem.hint = hint;
        problem.cause = Some(Arc::new(cause));
        problem
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
        let detail = match violations.0.as_slice() {
            [one] => one_line(one),
            several => {
                let first = several.first().map(one_line).unwrap_or_default();
                format!("{} things are wrong, the first: {first}", several.len())
            }
        };
        let mut problem = Self::new(ErrorKind::RequestValidation, detail);
        problem.violations = violations.0;
        problem
    }

    /// Writes it down as an answer.
    pub(crate) fn reply(&self, error_docs: &str) -> Reply {
        let Row { status, anchor, body_status, title } = row(self.kind);
        let is_validation = self.kind == ErrorKind::RequestValidation;
        let body = Body {
            r#type: format!("{error_docs}#{anchor}"),
            status: body_status,
            title,
            detail: &self.detail,
            validation_errors: is_validation
                .then(|| self.violations.iter().map(one_line).collect()),
            validation_failed: (!self.refused.is_empty()).then_some(&self.refused),
        };
        Reply::json(status, &body).with_hint(self.hint)
    }
}

fn one_line(violation: &Violation) -> String {
    format!("{}: {}", violation.pointer, violation.message)
}

impl From<accrue::Error> for Problem {
    fn from(error: accrue::Error) -> Self {
        let problem = Self::from(&error);
        let cause = (problem.kind == ErrorKind::Internal).then(|| -> Cause { Arc::new(error) });
        Self { cause, ..problem }
    }
}

impl From<&accrue::Error> for Problem {
    fn from(error: &accrue::Error) -> Self {
        let kind = error.kind();
        // What the store says is for the logs of the host.
        let detail = match kind {
            ErrorKind::Internal => Cow::Borrowed("the request failed"),
            _ => Cow::Owned(error.to_string()),
        };
        let mut problem = Self::new(kind, detail);
        problem.violations = error.violations().to_vec();
        let refused = error.refused_events().iter().map(|event| Refused {
            idempotency_key: event.idempotency_key.clone(),
            validation_errors: event.reasons.clone(),
        });
        problem.refused = refused.collect();
        problem.hint = match (kind, error.can_be_retried()) {
            (ErrorKind::Internal, true) => Hint::Transient,
            (ErrorKind::ResourceConflict | ErrorKind::TooManyRequests, true) => {
                Hint::RetryAfter(Duration::from_secs(1))
            }
            (ErrorKind::ResourceConflict, false) => Hint::Futile,
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
pub(crate) const KINDS: [ErrorKind; 13] = [
    ErrorKind::ConstraintViolation,
    ErrorKind::DuplicateResource,
    ErrorKind::RequestValidation,
    ErrorKind::Authentication,
    ErrorKind::FeatureNotAvailable,
    ErrorKind::ResourceNotFound,
    ErrorKind::UrlNotFound,
    ErrorKind::ResourceConflict,
    ErrorKind::RequestTooLarge,
    ErrorKind::ResourceTooLarge,
    ErrorKind::TooManyResults,
    ErrorKind::TooManyRequests,
    ErrorKind::Internal,
];

pub(crate) const fn row(kind: ErrorKind) -> Row {
    let (status, anchor, body_status, title) = match kind {
        ErrorKind::ConstraintViolation => {
            (StatusCode::BAD_REQUEST, "400-constraint-violation", 400, "A constraint was violated.")
        }
        ErrorKind::DuplicateResource => (
            StatusCode::BAD_REQUEST,
            "400-duplicate-resource-creation",
            400,
            "A resource with this identifier exists already.",
        ),
        ErrorKind::RequestValidation => (
            StatusCode::BAD_REQUEST,
            "400-request-validation-errors",
            400,
            "The request is not valid.",
        ),
        ErrorKind::Authentication => (
            StatusCode::UNAUTHORIZED,
            "401-authentication-error",
            401,
            "The request is not authenticated.",
        ),
        // The status in the body is another one than that of the answer (§7).
        ErrorKind::FeatureNotAvailable => (
            StatusCode::NOT_FOUND,
            "404-feature-not-available",
            400,
            "The feature is not available.",
        ),
        ErrorKind::ResourceNotFound => (
            StatusCode::NOT_FOUND,
            "404-resource-not-found",
            404,
            "A specified resource was not found.",
        ),
        ErrorKind::UrlNotFound => {
            (StatusCode::NOT_FOUND, "404-url-not-found", 404, "The path was not found.")
        }
        ErrorKind::ResourceConflict => {
            (StatusCode::CONFLICT, "409-resource-conflict", 409, "The resource is in use.")
        }
        ErrorKind::RequestTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-request-too-large",
            413,
            "The request is too large.",
        ),
        ErrorKind::ResourceTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-resource-too-large",
            413,
            "A resource is too large.",
        ),
        ErrorKind::TooManyResults => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "413-too-many-results",
            413,
            "There are too many results.",
        ),
        ErrorKind::TooManyRequests => (
            StatusCode::TOO_MANY_REQUESTS,
            "429-too-many-requests",
            429,
            "There are too many requests.",
        ),
        _ => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "500-internal-server-error",
            500,
            "The server failed.",
        ),
    };
    Row { status, anchor, body_status, title }
}

/// What is wrong with a request, each with a pointer to where it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Violations(Vec<Violation>);

impl Violations {
    pub(crate) fn one(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let mut violations = Self::default();
        violations.push(pointer, message);
        violations
    }

    /// Adds one. So many are listed that a person can read them.
    pub(crate) fn push(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        const MOST: usize = 1_000;
        if self.0.len() < MOST {
            self.0.push(Violation::new(pointer, message));
        }
    }

    pub(crate) fn extend(&mut self, violations: &[Violation]) {
        for violation in violations {
            self.push(violation.pointer.clone(), violation.message.clone());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(&self) -> &[Violation] {
        &self.0
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(one_line).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Adds the name of a member to a JSON pointer, cut where it is long.
pub(crate) fn push_name(pointer: &mut String, name: &str) {
    const CHARACTERS: usize = 64;
    pointer.push('/');
    for character in name.chars().take(CHARACTERS) {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
