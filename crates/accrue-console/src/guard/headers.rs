use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::answer::Kind;

/// What a page may load and do: its own files, and nothing in line.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                                 connect-src 'self'; form-action 'self'; base-uri 'none'; \
                                 frame-ancestors 'none'";

/// Headers of every answer.
const ALWAYS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Sets the headers of an answer.
pub(crate) fn set(headers: &mut HeaderMap, kind: Kind) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let (content_type, cache) = match kind {
        Kind::Page => ("text/html; charset=utf-8", "no-store"),
        Kind::Asset(content_type) => (content_type, "public, max-age=31536000, immutable"),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
}
