//! Answers, and why a page is none.

use accrue::{Error, ErrorKind};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use maud::Markup;

/// Answer of a page.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    pub(crate) kind: Kind,
}

/// What an answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page, which nobody keeps.
    Page,
    /// A file whose name changes with what it says.
    Asset(&'static str),
}

impl Answer {
    /// Answers with a page.
    pub(crate) fn page(markup: Markup) -> Self {
        Self::page_with(StatusCode::OK, markup)
    }

    /// Answers with a page that is no success.
    pub(crate) fn page_with(status: StatusCode, markup: Markup) -> Self {
        let body = markup.into_string().into();
        Self { status, headers: Vec::new(), body, kind: Kind::Page }
    }

    /// Sends the browser to a page of the console.
    pub(crate) fn see_other(to: &str) -> Self {
        // Whatever is in a path is percent-encoded.
        let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
        let headers = vec![(http::header::LOCATION, to)];
        Self { status: StatusCode::SEE_OTHER, headers, body: Bytes::new(), kind: Kind::Page }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Reason why a page is not shown.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody has signed in.
    SignedOut,
    /// The role of whoever has is for less.
    Forbidden,
    /// The form is not of this session, or of another site.
    Foreign,
    /// There is no such page, or resource.
    NotFound,
    /// The page is only for another method.
    Method,
    /// The form is too long, or broke off.
    TooLong,
    /// The engine refuses, or fails.
    Engine(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_not_found() { Self::NotFound } else { Self::Engine(error) }
    }
}

impl Failure {
    /// Returns the status that it is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::SEE_OTHER,
            Self::Forbidden | Self::Foreign => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Engine(error) => match error.kind() {
                ErrorKind::Internal if error.can_be_retried() => StatusCode::SERVICE_UNAVAILABLE,
                ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
                ErrorKind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
                ErrorKind::ResourceConflict => StatusCode::CONFLICT,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            },
        }
    }

    /// Says what happened, and what to do.
    pub(crate) fn text(&self) -> (&'static str, String) {
        let text = |title, text: &str| (title, text.to_owned());
        match self {
            Self::SignedOut => text("Signed out", "Sign in to go on."),
            Self::Forbidden => text(
                "Not for your role",
                "Your role does not allow this. An admin can change it under People.",
            ),
            Self::Foreign => text(
                "Form refused",
                "The form is not of this session. Go back, reload the page and send it again.",
            ),
            Self::NotFound => text("Not found", "There is no such page or resource."),
            Self::Method => text("Not found", "There is no such page."),
            Self::TooLong => text("Too long", "The form is longer than 64 KiB."),
            Self::Engine(error) if error.kind() == ErrorKind::Internal => text(
                "Something went wrong",
                "The store did not answer as expected. What you sent may not have been done: look \
                 before you send it again.",
            ),
            Self::Engine(error) => ("Refused", error.to_string()),
        }
    }
}
