//! The query of a request, as an object whose values are texts.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use crate::{json::Json, problem::Violations};

/// Reads a query as clients encode it: `name=value`, `name[]=value` several times for a list, and
/// names with brackets as they are (wire 6.3).
///
/// A parameter that is there several times is a list too.
pub(crate) fn parse(query: &str) -> Result<Json, Violations> {
    let mut members: Vec<(String, Json)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut violations = Violations::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (decode(name), decode(value)) else {
            violations.push("", "the query is not UTF-8 in percent encoding");
            continue;
        };
        let value = Json::String(value);
        let place = *places.entry(name.clone()).or_insert(members.len());
        match members.get_mut(place) {
            None if name.ends_with("[]") => members.push((name, Json::Array(vec![value]))),
            None => members.push((name, value)),
            Some((_, Json::Array(values))) => values.push(value),
            Some((_, first)) => {
                *first = Json::Array(vec![std::mem::replace(first, Json::Null), value])
            }
        }
    }
    if violations.is_empty() { Ok(Json::Object(members)) } else { Err(violations) }
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wire_6_3_brackets_come_encoded_or_not() {
        let text = |text: &str| Json::String(text.to_owned());
        let check = |query: &str, expect: &[(&str, Json)]| {
            let expect = expect.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            assert_eq!(parse(query), Ok(Json::Object(expect.collect())), "{query}");
        };
        check("", &[]);
        check("limit=2&cursor=", &[("limit", text("2")), ("cursor", text(""))]);
        check(
            "created_at%5Bgte%5D=2026-03-01T00%3A00%3A00%2B00%3A00",
            &[("created_at[gte]", text("2026-03-01T00:00:00+00:00"))],
        );
        check(
            "created_at[gte]=2026-03-01T00:00:00Z",
            &[("created_at[gte]", text("2026-03-01T00:00:00Z"))],
        );
        check(
            "customer_id[]=a&customer_id%5B%5D=b",
            &[("customer_id[]", Json::Array(vec![text("a"), text("b")]))],
        );
        check("name=a+b%20c", &[("name", text("a b c"))]);
    }

    #[test]
    fn what_is_there_twice_is_a_list() {
        let [one, two] = ["1", "2"].map(|text| Json::String(text.to_owned()));
        let list = Json::Array(vec![one, two]);
        assert_eq!(parse("a=1&a=2"), Ok(Json::Object(vec![("a".to_owned(), list)])));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let error = parse("a=%ff").unwrap_err().to_string();
        assert_eq!(error, ": the query is not UTF-8 in percent encoding");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_again(members in prop::collection::btree_map("\\PC{1,8}", "\\PC{0,8}", 0..4)) {
            let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let pairs = members.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
            let query = pairs.collect::<Vec<_>>().join("&");
            let expect = members.iter().map(|(name, value)| {
                let text = Json::String(value.clone());
                let value = if name.ends_with("[]") { Json::Array(vec![text]) } else { text };
                (name.clone(), value)
            });
            prop_assert_eq!(parse(&query), Ok(Json::Object(expect.collect())));
        }
    }
}
