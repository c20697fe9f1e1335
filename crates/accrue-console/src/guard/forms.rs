use hmac::{Hmac, Mac as _};
use http::{HeaderMap, header};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Name of the field that the token of a form is in.
pub(crate) const FIELD: &str = "form_token";

/// Returns the token of the forms of a session: computed from its secret, which cannot be told from it.
pub(crate) fn token(secret: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    let mut mac = mac.expect("a key of any length will do");
    mac.update(b"accrue console form");
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tells whether a form has the token of its session.
pub(crate) fn is_of_session(secret: &str, shown: Option<&str>) -> bool {
    let token = token(secret);
    shown.is_some_and(|shown| shown.as_bytes().ct_eq(token.as_bytes()).into())
}

/// Tells whether a form was sent by a page of the console's own: a browser says so in either of two headers,
/// and neither may say otherwise.
///
/// Pages are sent with a policy of no referrer, so that a browser writes `null` for their origin: then
/// `Sec-Fetch-Site` has to say it, which no page can set.
pub(crate) fn is_of_site(headers: &HeaderMap, authority: Option<&str>, own: Option<&str>) -> bool {
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or_default());
    let is_own_origin = |origin: &str| match own {
        Some(own) => origin == own,
        None => origin.split_once("://").is_some_and(|(_, found)| Some(found) == authority),
    };
    match (site, origin) {
        (Some(site), None | Some("null")) => site == b"same-origin",
        (Some(site), Some(origin)) => site == b"same-origin" && is_own_origin(origin),
        (None, Some(origin)) => is_own_origin(origin),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(pairs: &[(&'static str, &'static str)], own: Option<&str>, expect: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        assert_eq!(is_of_site(&headers, Some("a.example"), own), expect, "{pairs:?}");
    }

    #[test]
    fn a_form_is_of_the_site_where_the_browser_says_so() {
        check(&[], None, false);
        check(&[("origin", "https://a.example")], None, true);
        check(&[("origin", "https://b.example")], None, false);
        check(&[("origin", "null")], None, false);
        check(&[("sec-fetch-site", "same-origin")], None, true);
        check(&[("sec-fetch-site", "same-origin"), ("origin", "null")], None, true);
        check(&[("sec-fetch-site", "cross-site"), ("origin", "null")], None, false);
        check(&[("sec-fetch-site", "same-origin"), ("origin", "https://b.example")], None, false);
        check(&[("sec-fetch-site", "none")], None, false);
        check(&[("sec-fetch-site", "cross-site"), ("origin", "https://a.example")], None, false);
        check(&[("sec-fetch-site", "same-site")], None, false);
        check(&[("origin", "https://a.example.evil")], None, false);
        check(&[("origin", "https://a.example")], Some("https://c.example"), false);
        check(&[("origin", "https://c.example")], Some("https://c.example"), true);
    }

    #[test]
    fn a_token_is_of_one_session() {
        let shown = token("one");
        assert!(is_of_session("one", Some(&shown)));
        assert!(!is_of_session("two", Some(&shown)));
        assert!(!is_of_session("one", None) && !is_of_session("one", Some("")));
    }
}
