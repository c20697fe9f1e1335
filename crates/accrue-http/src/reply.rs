use std::time::Duration;

use accrue::idempotency::Answer;
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::failure::Unexpected;

/// Whether a client should try again, whatever the status says (wire 6.5).
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// The answer is that of an earlier action (§4.5.6).
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// A failure that passes (§4.5.10).
const TRANSIENT_ERROR: HeaderName = HeaderName::from_static("transient-error");

/// Before a stored answer whose request goes on.
const OPEN: &str = "open ";

/// An answer, before the headers that every answer has.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

/// What a client is told about trying again, beyond what the status says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hint {
    #[default]
    None,
    /// After a while, with the same key.
    RetryAfter(Duration),
    /// Never: it cannot succeed.
    Futile,
    /// A failure that passes (§4.5.10).
    Transient,
}

impl Reply {
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Self {
        // No type of a resource fails to be written: their maps have names for keys.
        Self::try_json(status, body).unwrap_or_else(|_| Self::empty(status))
    }

    pub(crate) fn try_json(status: StatusCode, body: &impl Serialize) -> serde_json::Result<Self> {
        let body = serde_json::to_string(body)?;
        Ok(Self::text(status, HeaderValue::from_static("application/json"), body))
    }

    pub(crate) fn text(status: StatusCode, content_type: HeaderValue, body: String) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
        Self { status, headers, body }
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: String::new() }
    }

    pub(crate) fn with_hint(mut self, hint: Hint) -> Self {
        match hint {
            Hint::None => {}
            Hint::RetryAfter(wait) => {
                self.headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
            }
            Hint::Futile => {
                self.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
            }
            Hint::Transient => {
                self.headers.insert(TRANSIENT_ERROR, HeaderValue::from_static("true"));
            }
        }
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Writes it down for an idempotency key: the status and the body. Its headers follow from
    /// those, since an answer that has others is never kept.
    pub(crate) fn to_stored(&self) -> String {
        format!("{} {}", self.status.as_u16(), self.body)
    }

    /// Writes it down for an idempotency key whose request goes on, and is to be answered otherwise.
    pub(crate) fn to_open(&self) -> String {
        format!("{OPEN}{}", self.to_stored())
    }

    /// Tells whether the request of what was written down goes on.
    pub(crate) fn is_open(text: &str) -> bool {
        text.starts_with(OPEN)
    }

    /// Reads what was written down, also where its request goes on.
    pub(crate) fn from_stored(text: &str) -> Result<Self, Unexpected> {
        const UNREADABLE: Unexpected = Unexpected("a stored answer is none of this door");
        let text = text.strip_prefix(OPEN).unwrap_or(text);
        let (status, body) = text.split_once(' ').ok_or(UNREADABLE)?;
        let status = StatusCode::from_bytes(status.as_bytes()).map_err(|_| UNREADABLE)?;
        if status == StatusCode::NO_CONTENT {
            return Ok(Self::empty(status));
        }
        let json = HeaderValue::from_static("application/json");
        Ok(Self::text(status, json, body.to_owned()))
    }

    /// Reads what was kept under an idempotency key.
    pub(crate) fn from_kept(kept: &Answer<String>) -> Result<Self, Unexpected> {
        let reply = Self::from_stored(&kept.outcome)?;
        Ok(if kept.is_replayed() { reply.replayed() } else { reply })
    }

    /// Shows what was kept as a client sees it; an error as it is.
    pub(crate) fn showing<T: DeserializeOwned, A: Serialize>(
        self,
        show: impl FnOnce(T) -> A,
    ) -> Result<Self, Unexpected> {
        if !self.is_success() {
            return Ok(self);
        }
        let kept = serde_json::from_str(&self.body);
        let kept = kept.map_err(|_| Unexpected("what was kept is of another operation"))?;
        let Self { body, .. } = Self::json(self.status, &show(kept));
        Ok(Self { body, ..self })
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// Marks it as the answer of the first time (§4.5.6).
    pub(crate) fn replayed(mut self) -> Self {
        self.headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        self
    }

    pub(crate) fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        // Answers are of one account, and are what their type says.
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}

fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(reply: Reply) -> (StatusCode, HeaderMap, Bytes) {
        let (head, body) = reply.into_response().into_parts();
        (head.status, head.headers, body)
    }

    #[test]
    fn s4_5_6_what_is_written_down_is_read_again_to_the_byte() {
        for reply in [
            Reply::json(StatusCode::CREATED, &["a b", "é\n"]),
            Reply::json(StatusCode::NOT_FOUND, &1),
            Reply::empty(StatusCode::NO_CONTENT),
        ] {
            let again = Reply::from_stored(&reply.to_stored()).unwrap();
            assert_eq!(wire(again), wire(reply));
        }
    }

    #[test]
    fn s4_5_6_what_is_open_is_read_as_its_answer() {
        let reply = Reply::json(StatusCode::OK, &["open 200"]);
        let (open, stored) = (reply.to_open(), reply.to_stored());
        assert!(Reply::is_open(&open) && !Reply::is_open(&stored));
        assert_eq!(wire(Reply::from_stored(&open).unwrap()), wire(reply));
    }

    #[test]
    fn what_this_door_has_not_written_is_no_answer() {
        for text in ["", "200", "abc {}", "99 {}", "1000 {}", "{\"outcome\":1}", " 200 {}", "open"]
        {
            let cause = Reply::from_stored(text).unwrap_err();
            assert_eq!(cause.to_string(), "a stored answer is none of this door", "{text}");
        }
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_that_suffice() {
        for (nanos, expect) in
            [(0, 1), (1, 1), (999_999_999, 1), (1_000_000_000, 1), (1_000_000_001, 2)]
        {
            assert_eq!(whole_seconds(Duration::from_nanos(nanos)), expect);
        }
        assert_eq!(whole_seconds(Duration::MAX), u64::MAX);
    }
}
