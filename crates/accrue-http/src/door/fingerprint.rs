//! What a payload is recognized by, however it is spelled (§4.5.8).

use std::borrow::Cow;

use accrue::{
    Pace,
    idempotency::{Fingerprint, Fingerprinting},
};

use crate::{
    canonical::Canonical, json::Json, operation::Operation, problem::Violations, request::Input,
};

/// Takes the fingerprint of a request: its operation, its parameters and its body.
///
/// JSON is taken as a tree: members sorted, numbers as exact decimals, strings unescaped. What is no
/// JSON, or has a member twice, is taken byte by byte.
pub(crate) async fn fingerprint(
    operation: &Operation,
    input: &Input,
    raw_query: &str,
    raw_body: &[u8],
    pace: &Pace,
) -> Fingerprint {
    let mut path = Canonical::default();
    for parameter in &input.path {
        write(parameter, &mut path, pace).await;
    }
    let path = path.into_text();
    let query = tree(input.query.as_ref().map(Some), raw_query.as_bytes(), pace).await;
    let body = match &input.batch {
        Some(batch) => Cow::Borrowed(batch.canonical.as_bytes()),
        None => tree(input.body.as_ref().map(Option::as_ref), raw_body, pace).await.into(),
    };
    // A change that is to wait is another request than one that takes effect.
    let door = if input.is_pending_change { "http, pending" } else { "http" };
    let [http, method, name] = [door, operation.method.name(), operation.name].map(str::as_bytes);
    let mut taking = Fingerprinting::default();
    for part in [http, method, name, path.as_bytes(), &query, &body] {
        taking.begin_part(part.len());
        for piece in part.chunks(PIECE_BYTES) {
            taking.add(piece);
            pace.spend_bytes(piece.len()).await;
        }
    }
    taking.finish()
}

/// How many bytes are taken between two looks at the pace.
const PIECE_BYTES: usize = 16 * 1024;

async fn tree(json: Result<Option<&Json>, &Violations>, raw: &[u8], pace: &Pace) -> Vec<u8> {
    match json {
        Ok(None) => Vec::new(),
        Ok(Some(json)) => {
            let mut text = Canonical::with_capacity(raw.len());
            write(json, &mut text, pace).await;
            text.into_text().into_bytes()
        }
        Err(_) => [b"raw ", raw].concat(),
    }
}

/// What is still to be written, the first of it last.
enum Piece<'a> {
    Value(&'a Json),
    Name(&'a str),
    EndItem,
    Close(char),
}

/// Writes a value so that equal values are equal texts.
async fn write(json: &Json, text: &mut Canonical, pace: &Pace) {
    let mut rest = vec![Piece::Value(json)];
    while let Some(piece) = rest.pop() {
        pace.spend(PIECE).await;
        match piece {
            Piece::Close(mark) => text.close(mark),
            Piece::EndItem => text.end_item(),
            Piece::Name(name) => text.name(name),
            Piece::Value(Json::Null) => text.null(),
            Piece::Value(Json::Boolean(value)) => text.boolean(*value),
            Piece::Value(Json::Number(number)) => text.number(number),
            Piece::Value(Json::String(string)) => text.text(string),
            Piece::Value(Json::Array(values)) => {
                text.open('[');
                rest.push(Piece::Close(']'));
                let values = values.iter().rev();
                rest.extend(values.flat_map(|value| [Piece::EndItem, Piece::Value(value)]));
            }
            Piece::Value(Json::Object(members)) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by(|(one, _), (other, _)| other.cmp(one));
                text.open('{');
                rest.push(Piece::Close('}'));
                rest.extend(sorted.into_iter().flat_map(|(name, value)| {
                    [Piece::EndItem, Piece::Value(value), Piece::Name(name)]
                }));
            }
        }
    }
}

/// The work of a piece: most are a byte or a short text.
const PIECE: usize = 2;

#[cfg(test)]
mod tests {
    use pollster::block_on;
    use proptest::prelude::*;

    use super::*;
    use crate::Bounds;

    fn written(text: &str) -> String {
        let mut written = Canonical::default();
        let pace = Pace::new();
        let json = block_on(Json::parse(text.as_bytes(), &Bounds::default(), &pace)).unwrap();
        block_on(write(&json, &mut written, &pace));
        written.into_text()
    }

    #[test]
    fn equal_payloads_are_equal_however_they_are_spelled() {
        let same = |one: &str, other: &str| assert_eq!(written(one), written(other));
        same("1", "1.0");
        same("1", "1e0");
        same("1", "10E-1");
        same("100", "1e+2");
        same("0.10", "1e-1");
        same("0", "-0.00e7");
        same("1e3000000", "10e2999999");
        same(r#"{"a":1,"b":[true,null]}"#, r#" {"b" : [ true,null ], "a":1.00}"#);
        same(r#""\u00e9""#, r#""é""#);
    }

    #[test]
    fn what_differs_differs() {
        let differ = |one: &str, other: &str| assert_ne!(written(one), written(other));
        differ("1", "-1");
        differ("1", "\"1\"");
        differ("0.1234567890123456789012345678", "0.1234567890123456789012345679");
        differ("12345678901234567890", "12345678901234567891");
        differ("1e99999999999999999999999999999999999999999", "1e9");
        differ("[1,2]", "[2,1]");
        differ("[[1],2]", "[[1,2]]");
        differ(r#"["a","b"]"#, r#"["a,b"]"#);
        differ(r#"["",{}]"#, r#"[{},""]"#);
        differ(r#"{"a":null}"#, "{}");
        differ("null", r#""null""#);
    }

    /// A value, and another spelling of it.
    #[derive(Clone, Debug)]
    struct Spelled(String, String);

    /// Values that are different where their first spellings are.
    fn values() -> impl Strategy<Value = Spelled> {
        let scalars = vec![
            ("null", " null"),
            ("true", "true "),
            ("0", "-0.0e5"),
            ("1", "1.000"),
            ("-1", "-0.1e1"),
            ("100", "1E2"),
            ("0.01", "1e-2"),
            ("123456789012345678901234567890", "123456789012345678901234567890.0"),
            ("\"\"", "\"\""),
            ("\"1\"", "\"\\u0031\""),
            ("\"a\\\"b\"", "\"\\u0061\\u0022b\""),
            ("\"é\"", "\"\\u00E9\""),
            ("\"a,\"", "\"a\\u002c\""),
        ];
        let scalar = prop::sample::select(scalars);
        let scalar = scalar.prop_map(|(one, other)| Spelled(one.to_owned(), other.to_owned()));
        scalar.prop_recursive(3, 24, 4, |inner| {
            let array = prop::collection::vec(inner.clone(), 0..4).prop_map(|values| {
                let (one, other): (Vec<_>, Vec<_>) =
                    values.into_iter().map(|Spelled(one, other)| (one, other)).unzip();
                Spelled(format!("[{}]", one.join(",")), format!(" [ {} ]\n", other.join("\t,")))
            });
            let object =
                prop::collection::btree_map("[a-c]{1,2}", inner, 0..4).prop_map(|members| {
                    let (one, mut other): (Vec<_>, Vec<_>) = members
                        .into_iter()
                        .map(|(name, Spelled(one, other))| {
                            let escaped: String = name
                                .chars()
                                .map(|it| format!("\\u{:04x}", u32::from(it)))
                                .collect();
                            (format!("\"{name}\":{one}"), format!("\"{escaped}\" : {other}"))
                        })
                        .unzip();
                    other.reverse();
                    Spelled(format!("{{{}}}", one.join(",")), format!("{{{}}}", other.join(" , ")))
                });
            prop_oneof![array, object]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn equal_values_and_only_those_are_written_equally(one in values(), other in values()) {
            prop_assert_eq!(written(&one.0), written(&one.1));
            prop_assert_eq!(written(&one.0) == written(&other.0), one.0 == other.0);
        }
    }
}
