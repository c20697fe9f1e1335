//! What sends a request, what comes back, and why nothing does.

use std::{
    error::Error as StdError,
    net::IpAddr,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use accrue::Timestamp;
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, StatusCode};

/// Sends the requests of webhooks.
///
/// # To ensure correctness
///
/// - A request is sent once at most: the worker decides when it is tried again.
/// - It reaches no address that the host does not mean it to, wherever a name or a redirection leads.
/// - The future ends in bounded time, whatever the other side does. Dropping it ends the attempt.
///
/// # Example
///
/// ```
/// use accrue_webhooks::{Failure, Response, Transport};
/// use bytes::Bytes;
/// use http::{Request, StatusCode};
///
/// /// Answers everything.
/// struct Sink;
///
/// #[async_trait::async_trait]
/// impl Transport for Sink {
///     async fn send(&self, _: Request<Bytes>) -> Result<Response, Failure> {
///         Ok(Response::new(StatusCode::NO_CONTENT))
///     }
/// }
///
/// # pollster::block_on(async {
/// let request = Request::post("https://hooks.example.com/").body(Bytes::new())?;
/// assert_eq!(Sink.send(request).await?.status, 204);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request, and returns the answer whatever its status is.
    ///
    /// # Errors
    ///
    /// A [`Failure`] where there is no answer. The request may have arrived nevertheless, unless it was
    /// refused, or there was no connection.
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure>;
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// How long the other side asks to be left alone.
    pub retry_after: Option<RetryAfter>,
    /// The first [KiB](accrue::limits::KEPT_ANSWER_BYTES) of its body at most, where what is not UTF-8 is
    /// replaced.
    pub body: String,
}

impl Response {
    /// Returns an answer without a body.
    #[must_use]
    pub const fn new(status: StatusCode) -> Self {
        Self { status, retry_after: None, body: String::new() }
    }
}

/// Header `Retry-After` of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// Seconds from when the answer came.
    Seconds(u64),
    /// An instant.
    At(Timestamp),
}

impl RetryAfter {
    /// Parses the value of the header: a number of seconds, or a date of HTTP in any of its three forms.
    ///
    /// Returns nothing where it is neither: the header is advice.
    ///
    /// ```
    /// use accrue::Timestamp;
    /// use accrue_webhooks::RetryAfter;
    ///
    /// assert_eq!(RetryAfter::parse("120"), Some(RetryAfter::Seconds(120)));
    /// let at = RetryAfter::At(Timestamp::parse("2026-03-10T12:00:00Z")?);
    /// assert_eq!(RetryAfter::parse("Tue, 10 Mar 2026 12:00:00 GMT"), Some(at));
    /// assert_eq!(RetryAfter::parse("soon"), None);
    /// # Ok::<(), accrue::TimestampError>(())
    /// ```
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim_ascii();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that is too large is a long time.
            return Some(Self::Seconds(value.parse().unwrap_or(u64::MAX)));
        }
        let at = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
        let micros = i64::try_from(at.as_micros()).ok()?;
        Timestamp::from_micros(micros).ok().map(Self::At)
    }

    /// Returns the time from an instant on, which is nothing where it has passed.
    #[must_use]
    pub fn from(self, now: Timestamp) -> Duration {
        match self {
            Self::Seconds(seconds) => Duration::from_secs(seconds),
            Self::At(at) => {
                let micros = at.micros().saturating_sub(now.micros());
                Duration::from_micros(u64::try_from(micros).unwrap_or_default())
            }
        }
    }
}

/// Reason for a failure, as who met it says it.
pub type Cause = Arc<dyn StdError + Send + Sync>;

/// Why a request has no answer.
///
/// Its text, and those of its sources, name no address that a name was resolved to: they may be shown to
/// whom the endpoint is of.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The request must not be sent there.
    #[error("the address is refused: {reason}")]
    Refused {
        /// Why that is.
        reason: Refusal,
    },
    /// The host's name has no address.
    #[error("the name of the host is not resolved")]
    NotResolved(#[source] Cause),
    /// There is no connection.
    #[error("no connection")]
    Connect(#[source] Cause),
    /// The connection is not secure: a certificate that is not valid, a version that is too old.
    #[error("no secure connection")]
    Tls(#[source] Cause),
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// The answer is none of HTTP, or the connection was cut.
    #[error("no answer of HTTP")]
    Broken(#[source] Cause),
}

/// Why a request must not be sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It leads to an IP address that is not allowed. The text does not say which: that is the matter of
    /// whose network it is.
    #[error("it leads to an address that is not public")]
    NotAllowed(IpAddr),
    /// It is of plain http, or another scheme than https.
    #[error("expected https")]
    NotHttps,
    /// It has a user.
    #[error("found a user, expected none")]
    User,
    /// Its host is neither a name nor an address in its usual form, or has a port that is none.
    #[error(
        "expected a name, or an address such as 192.0.2.1 or [2001:db8::1], and a port or none"
    )]
    Host,
}

impl Failure {
    /// Returns the failure to resolve a name.
    pub fn not_resolved(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::NotResolved(Arc::from(cause.into()))
    }

    /// Returns the failure to connect.
    pub fn connect(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Connect(Arc::from(cause.into()))
    }

    /// Returns the failure to connect securely.
    pub fn tls(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Tls(Arc::from(cause.into()))
    }

    /// Returns the failure of a connection, or of what came over it.
    pub fn broken(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Broken(Arc::from(cause.into()))
    }

    /// Returns its text with those of its sources: `no connection: connection refused`.
    ///
    /// ```
    /// use accrue_webhooks::Failure;
    ///
    /// let failure = Failure::connect("connection refused");
    /// assert_eq!(failure.to_string(), "no connection");
    /// assert_eq!(failure.reason(), "no connection: connection refused");
    /// ```
    #[must_use]
    pub fn reason(&self) -> String {
        with_causes(self)
    }
}

/// Returns the text of an error with those of its sources.
pub(crate) fn with_causes(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

impl From<Refusal> for Failure {
    fn from(reason: Refusal) -> Self {
        Self::Refused { reason }
    }
}

#[cfg(test)]
mod tests;
