use accrue::IdempotencyKey;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::problem::Violations;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The idempotency key of a request, as it was sent: every answer carries it (§4.5.5).
pub(crate) struct KeyHeader(Lines);

enum Lines {
    /// No key, or one that does not count (§4.5.3).
    None,
    One(HeaderValue),
    Differing,
}

impl KeyHeader {
    pub(crate) fn of(method: &Method, headers: &HeaderMap) -> Self {
        if !matches!(*method, Method::POST | Method::PATCH) {
            return Self(Lines::None);
        }
        let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(first) = lines.next() else { return Self(Lines::None) };
        if lines.all(|line| line == first) {
            Self(Lines::One(first.clone()))
        } else {
            Self(Lines::Differing)
        }
    }

    pub(crate) const fn is_there(&self) -> bool {
        !matches!(self.0, Lines::None)
    }

    /// Reads the key (§4.5.2).
    pub(crate) fn parse(&self) -> Result<Option<IdempotencyKey>, Violations> {
        let wrong = |message: &str| Violations::one("/Idempotency-Key", message);
        let line = match &self.0 {
            Lines::None => return Ok(None),
            Lines::Differing => return Err(wrong("is there twice, and not the same")),
            Lines::One(line) => line,
        };
        let text = std::str::from_utf8(line.as_bytes()).map_err(|_| wrong("is not UTF-8"))?;
        let key = IdempotencyKey::parse(text).map_err(|error| wrong(&error.to_string()))?;
        Ok(Some(key))
    }

    /// Puts the key on an answer, where there is one to put.
    pub(crate) fn echo(&self, headers: &mut HeaderMap) {
        if let Lines::One(line) = &self.0 {
            headers.insert(IDEMPOTENCY_KEY, line.clone());
        }
    }
}
