//! What a browser sends: fields of forms and queries, cookies, and bodies of a bounded size.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header::COOKIE};
use http_body_util::BodyExt as _;

/// The most bytes of the body of a form.
pub(crate) const BODY_BYTES: usize = 64 * 1024;
/// The most fields of a form or a query that are read.
const FIELDS: usize = 200;

/// Fields of a form or a query, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Makes fields of what a form begins with.
    pub(crate) fn of<const N: usize>(pairs: [(&str, String); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Reads fields as `application/x-www-form-urlencoded` has them. Whatever is no UTF-8 is replaced.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(bytes).take(FIELDS);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns the first field of a name, without white space around it; none where it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.raw(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns the first field of a name as it came: white space may belong to a password.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// Reads the body of a form; none where it is too long, or the connection breaks.
pub(crate) async fn read_body<B>(body: B) -> Option<Bytes>
where
    B: http_body::Body<Data = Bytes>,
{
    let mut body = Box::pin(body);
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if read.len().saturating_add(data.len()) > BODY_BYTES {
            return None;
        }
        read.extend_from_slice(&data);
    }
    Some(read.freeze())
}

/// Returns the cookie of a name; none where it came more than once.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(found, _)| found.trim() == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value.trim()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn fields_are_decoded_and_the_first_counts() {
        let fields = Fields::read(b"name=A%C3%BC+b&name=c&blank=+&password=+x+");
        assert_eq!(fields.get("name"), Some("A\u{fc} b"));
        assert_eq!((fields.get("blank"), fields.get("none")), (None, None));
        assert_eq!(fields.raw("password"), Some(" x "));
    }

    #[test]
    fn a_cookie_that_comes_twice_is_none() {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_static("a=1; b=2"));
        assert_eq!((cookie(&headers, "a"), cookie(&headers, "b")), (Some("1"), Some("2")));
        assert_eq!(cookie(&headers, "c"), None);
        headers.append(COOKIE, HeaderValue::from_static("a=3"));
        assert_eq!(cookie(&headers, "a"), None);
    }
}
