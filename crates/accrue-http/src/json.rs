//! JSON that comes in, as a tree whose numbers are still text: no number passes through a float.

use std::{collections::HashSet, fmt};

use accrue::Pace;
use json_event_parser::{JsonEvent, SliceJsonParser};

use crate::{Bounds, problem::Violations};

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Boolean(bool),
    /// As it is spelled.
    Number(String),
    String(String),
    Array(Vec<Json>),
    /// Its members in the order given. No name is there twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text whole.
    ///
    /// What is wrong is told with a pointer to the value that it was found in: syntax, bounds, and a
    /// member that is there twice.
    pub(crate) async fn parse(
        text: &[u8],
        bounds: &Bounds,
        pace: &Pace,
    ) -> Result<Self, Violations> {
        let events = SliceJsonParser::new(text);
        Parser { events, bounds, open: Vec::new(), values: 0 }.run(pace).await
    }

    /// Names what it is, for people.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// Writes it down again, numbers as they are spelled.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_string(text, f),
            Self::Array(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    write_string(name, f)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

/// The work of a token, its value among that of others included.
const TOKEN: usize = 4;

struct Parser<'a> {
    events: SliceJsonParser<'a>,
    bounds: &'a Bounds,
    open: Vec<Open>,
    /// How many values are whole.
    values: usize,
}

/// An array or an object that has begun.
enum Open {
    Array(Vec<Json>),
    /// With the name of the member that comes next.
    Object(Vec<(String, Json)>, Option<String>),
}

impl<'a> Parser<'a> {
    async fn run(mut self, pace: &Pace) -> Result<Json, Violations> {
        let mut whole = None;
        loop {
            pace.spend(TOKEN).await;
            let value = match self.next()? {
                JsonEvent::Eof => break,
                JsonEvent::Null => Json::Null,
                JsonEvent::Boolean(value) => Json::Boolean(value),
                JsonEvent::Number(text) => Json::Number(self.bounded(text.into_owned())?),
                JsonEvent::String(text) => Json::String(self.bounded(text.into_owned())?),
                JsonEvent::StartArray => {
                    self.begin(Open::Array(Vec::new()))?;
                    continue;
                }
                JsonEvent::StartObject => {
                    self.begin(Open::Object(Vec::new(), None))?;
                    continue;
                }
                JsonEvent::ObjectKey(name) => {
                    self.name(name.into_owned())?;
                    continue;
                }
                JsonEvent::EndArray | JsonEvent::EndObject => match self.open.pop() {
                    Some(Open::Array(values)) => Json::Array(values),
                    Some(Open::Object(members, _)) => Json::Object(self.distinct(members)?),
                    None => return Err(Violations::one("", "has an end without a beginning")),
                },
            };
            self.count()?;
            match self.open.last_mut() {
                None => whole = Some(value),
                Some(Open::Array(values)) => values.push(value),
                Some(Open::Object(members, name)) => {
                    members.push((name.take().unwrap_or_default(), value));
                }
            }
            self.check_length()?;
        }
        whole.ok_or_else(|| Violations::one("", "is empty, expected a value of JSON"))
    }

    fn count(&mut self) -> Result<(), Violations> {
        self.values = self.values.saturating_add(1);
        let most = self.bounds.values;
        if self.values > most {
            return Err(Violations::one("", format!("has more than {most} values")));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<JsonEvent<'a>, Violations> {
        // What the parser says of an error may have a piece of the text in it.
        self.events.parse_next().map_err(|error| {
            let at = error.location().start;
            let (line, column) = (at.line.saturating_add(1), at.column.saturating_add(1));
            Violations::one("", format!("is no JSON: line {line}, column {column}"))
        })
    }

    fn begin(&mut self, open: Open) -> Result<(), Violations> {
        if self.open.len() >= self.bounds.depth {
            let message = format!("is nested deeper than {} levels", self.bounds.depth);
            return Err(Violations::one(self.place(), message));
        }
        self.open.push(open);
        Ok(())
    }

    fn name(&mut self, name: String) -> Result<(), Violations> {
        let name = self.bounded(name)?;
        let Some(Open::Object(_, next)) = self.open.last_mut() else {
            return Err(Violations::one("", "has a name outside of an object"));
        };
        *next = Some(name);
        Ok(())
    }

    fn bounded(&self, text: String) -> Result<String, Violations> {
        let most = self.bounds.string_bytes;
        if text.len() > most {
            let message = format!("has {} bytes, expected at most {most}", text.len());
            return Err(Violations::one(self.place(), message));
        }
        Ok(text)
    }

    fn check_length(&self) -> Result<(), Violations> {
        let most = self.bounds.array_items;
        let length = match self.open.last() {
            Some(Open::Array(values)) => values.len(),
            Some(Open::Object(members, _)) => members.len(),
            None => 0,
        };
        if length > most {
            let message = format!("has more than {most} values, expected at most {most}");
            return Err(Violations::one(self.place(), message));
        }
        Ok(())
    }

    /// Readers of JSON differ in which of two equal members they see: here is none.
    fn distinct(&self, members: Vec<(String, Json)>) -> Result<Vec<(String, Json)>, Violations> {
        let mut names = HashSet::new();
        if members.iter().all(|(name, _)| names.insert(name.as_str())) {
            return Ok(members);
        }
        Err(Violations::one(self.place(), "has a member twice"))
    }

    /// Where the parser is, as a JSON pointer.
    fn place(&self) -> String {
        let mut place = String::new();
        for open in &self.open {
            match open {
                Open::Array(values) => place.push_str(&format!("/{}", values.len())),
                Open::Object(_, Some(name)) => crate::problem::push_name(&mut place, name),
                Open::Object(_, None) => {}
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> Result<Json, Violations> {
        block_on(Json::parse(text, &Bounds::default(), &Pace::new()))
    }

    fn parse(text: &str) -> Result<Json, String> {
        let bounds = Bounds { depth: 3, string_bytes: 4, array_items: 3, ..Bounds::default() };
        block_on(Json::parse(text.as_bytes(), &bounds, &Pace::new())).map_err(|found| {
            let [violation] = found.list() else { panic!("{found:?}") };
            format!("{} {}", violation.pointer, violation.message)
        })
    }

    #[test]
    fn numbers_keep_their_digits() {
        let number = |text: &str| Json::Number(text.to_owned());
        let whole = Json::Object(vec![
            ("a".to_owned(), Json::Array(vec![number("1.0"), number("1e5")])),
            ("b".to_owned(), Json::Object(Vec::new())),
        ]);
        assert_eq!(parse(r#" {"a":[1.0,1e5],"b":{}} "#), Ok(whole));
        assert_eq!(parse("\"\\u0061\""), Ok(Json::String("a".to_owned())));
    }

    #[test]
    fn a_value_is_written_as_it_was_read() {
        let text = r#"{"a\"":[1.0,-1e5,true,null],"b":{},"c":"\n"}"#;
        let json = read(text.as_bytes()).unwrap();
        assert_eq!(json.to_string(), text);
    }

    #[test]
    fn what_is_no_json_is_told_by_its_place_and_not_by_its_text() {
        for (text, expect) in [
            ("", " is no JSON: line 1, column 1"),
            ("[1,]", " is no JSON: line 1, column 4"),
            ("{\n  secret}", " is no JSON: line 2, column 3"),
            ("1 2", " is no JSON: line 1, column 3"),
            ("nul", " is no JSON: line 1, column 1"),
            ("[01]", " is no JSON: line 1, column 3"),
            (r#"{"a":{"b":1,"b":2}}"#, "/a has a member twice"),
        ] {
            assert_eq!(parse(text), Err(expect.to_owned()), "{text}");
        }
        assert!(read(b"\"\xff\"").is_err());
    }

    #[test]
    fn bounds_are_met_one_below_at_and_one_above() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(parse(text).err().as_deref(), expect, "{text}");
        };
        check("[[1]]", None);
        check("[[[1]]]", None);
        check("[[[[1]]]]", Some("/0/0/0 is nested deeper than 3 levels"));
        check(r#""abc""#, None);
        check(r#""abcd""#, None);
        check(r#""abcde""#, Some(" has 5 bytes, expected at most 4"));
        check(r#"{"a":"abcde"}"#, Some("/a has 5 bytes, expected at most 4"));
        check(r#"{"a~/":"abcde"}"#, Some("/a~0~1 has 5 bytes, expected at most 4"));
        check(r#"{"abcde":1}"#, Some(" has 5 bytes, expected at most 4"));
        check("12345", Some(" has 5 bytes, expected at most 4"));
        check("[1,2]", None);
        check("[1,2,3]", None);
        check("[1,2,3,4]", Some("/4 has more than 3 values, expected at most 3"));
        check(r#"{"a":1,"b":1,"c":1,"d":1}"#, Some(" has more than 3 values, expected at most 3"));
    }

    #[test]
    fn what_other_readers_take_for_json_is_refused() {
        for text in [
            "'a'",
            "{a:1}",
            "{'a':1}",
            "[1,]",
            "{\"a\":1,}",
            "[,1]",
            "[1 2]",
            "{\"a\" 1}",
            "// a\n1",
            "1 /* a */",
            "# a\n1",
            "+1",
            ".5",
            "1.",
            "-",
            "-.5",
            "1e",
            "1e+",
            "01",
            "0x1",
            "1_000",
            "NaN",
            "Infinity",
            "-Infinity",
            "True",
            "undefined",
            "nul",
            "\"a\nb\"",
            "\"\t\"",
            "\"\0\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0061\"",
            "\"\\udc00\"",
            "\"a",
            "[",
            "{",
            "[1",
            "{\"a\"",
            "{\"a\":",
            "]",
            "}",
            "[}",
            "{]",
            "{1:1}",
            "{null:1}",
            "1,",
            "1 1",
            "\u{a0}1",
            "\u{2028}1",
            "\u{c}1",
            "\0",
            "1\0",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text:?}");
        }
        // A byte order mark may be skipped (RFC 8259, section 8.1).
        assert!(read("\u{feff}1".as_bytes()).is_ok());
    }

    /// Texts that are JSON, or nearly.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\n",
            "\"",
            "\"a\"",
            "\"b\"",
            "\"\\n\"",
            "\\",
            "\"\\u00e9\"",
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "1.5",
            "1e2",
            "-",
            ".",
            "e",
            "+",
            "é",
            "\u{1}",
            "{\"a\":",
            "[1,",
            "\"c\":[",
            "1]",
            "{}",
            "[]",
        ];
        prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|it| it.concat())
    }

    /// Compares with another reader, which has numbers as floats and the last of equal members.
    fn is_same(json: &Json, other: &serde_json::Value) -> bool {
        match (json, other) {
            (Json::Null, serde_json::Value::Null) => true,
            (Json::Boolean(one), serde_json::Value::Bool(other)) => one == other,
            (Json::Number(one), serde_json::Value::Number(other)) => {
                one.parse::<f64>().ok() == other.as_f64()
            }
            (Json::String(one), serde_json::Value::String(other)) => one == other,
            (Json::Array(one), serde_json::Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, it)| is_same(one, it))
            }
            (Json::Object(one), serde_json::Value::Object(other)) => {
                let of = |name: &String| other.get(name);
                one.len() == other.len()
                    && one.iter().all(|(name, it)| of(name).is_some_and(|found| is_same(it, found)))
            }
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 4_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn it_reads_what_another_reader_reads(text in texts()) {
            let other = serde_json::from_str::<serde_json::Value>(&text);
            match (read(text.as_bytes()), other) {
                (Ok(json), Ok(other)) => prop_assert!(is_same(&json, &other), "{}", text),
                (Err(_), Err(_)) => {}
                (Err(wrong), Ok(_)) => {
                    let message = wrong.to_string();
                    prop_assert!(message.ends_with("has a member twice"), "{}: {}", text, message);
                }
                (Ok(_), Err(error)) => prop_assert!(false, "{}: {}", text, error),
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let read = read(&bytes).is_ok();
            let other = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
            prop_assert_eq!(read, other);
        }
    }
}
