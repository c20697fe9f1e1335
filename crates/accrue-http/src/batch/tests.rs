use pollster::block_on;
use proptest::{prelude::*, sample::Index};

use super::*;
use crate::{
    door::fingerprint,
    json::Json,
    operations,
    problem::Violations,
    request::Input,
    shape::{Read as _, Reader},
    wire::events::IngestBody,
};

const USUAL: &str = r#"{"events": [{"idempotency_key": "a", "event_name": "completion",
    "timestamp": "2026-01-01T00:00:00Z", "properties": {"tokens": 12, "model": "small"},
    "external_customer_id": "ada"}]}"#;

fn read(body: &[u8], bounds: &Bounds) -> Option<Batch> {
    block_on(Batch::read(body, bounds, &Pace::new()))
}

fn input(batch: Option<Batch>, body: Result<Option<Json>, Violations>) -> Input {
    let query = Ok(Json::Object(Vec::new()));
    Input {
        path: Vec::new(),
        query,
        batch,
        body,
        is_pending_change: false,
        is_dry_run: false,
        changed_resources: Default::default(),
    }
}

/// What a tree of a body is read as: its events, and what it is recognized by.
fn read_as_tree(body: &[u8], bounds: &Bounds) -> Result<(Vec<Incoming>, String), String> {
    let told = |violations: Violations| format!("{violations:?}");
    let json = block_on(Json::parse(body, bounds, &Pace::new())).map_err(told)?;
    let mut reader = Reader::new();
    let found = IngestBody::read(&json, "", &mut reader);
    reader.finish(found).map_err(|problem| format!("{problem:?}"))?;
    let events = IngestBody::events_of(Some(&json)).iter();
    let events = events.map(|event| IngestBody::read_event(event).0).collect();
    Ok((events, recognized_by(&input(None, Ok(Some(json))), body)))
}

fn recognized_by(input: &Input, body: &[u8]) -> String {
    let ingest = operations::all().find(|operation| operation.takes_batches).unwrap();
    block_on(fingerprint(ingest, input, "", body, &Pace::new())).to_string()
}

/// Holds what is read in one pass against what a tree is read as.
fn check(body: &[u8]) -> Option<usize> {
    let bounds = Bounds::default();
    let batch = read(body, &bounds)?;
    let (events, recognized) = read_as_tree(body, &bounds).unwrap();
    assert_eq!(batch.events, events);
    assert_eq!(recognized_by(&input(Some(batch), Ok(None)), body), recognized);
    Some(events.len())
}

#[test]
fn a_usual_body_is_read_in_one_pass() {
    assert_eq!(check(USUAL.as_bytes()), Some(1));
    assert_eq!(check(br#"{"events":[]}"#), Some(0));
    let more = USUAL.replace(
        "]}",
        ",{\"properties\":{},\"customer_id\":\"0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001\",\
        \"timestamp\":\"2026-01-01T00:00:00+01:00\",\"event_name\":\"\\u0078\",\
        \"idempotency_key\":\"b\"} ] } ",
    );
    assert_eq!(check(more.as_bytes()), Some(2));
}

#[test]
fn what_is_wrong_is_told_by_the_tree() {
    let cases = [
        ("\"a\"", "null"),
        ("\"a\"", "\"\""),
        ("\"ada\"", "null"),
        ("\"external_customer_id\"", "\"customer_id\""),
        ("\"small\"", "[]"),
        ("12", "1e"),
        ("12", "1e999999999"),
        ("\"model\"", "\"tokens\""),
        ("\"model\"", "\"tok\\u0065ns\""),
        ("2026-01-01T", "2026-01-01X"),
        ("\"event_name\"", "\"name\""),
        ("{\"events\"", "{\"more\": 1, \"events\""),
        ("]}", "],}"),
        ("]}", ",]}"),
        ("]}", "]} 1"),
        ("]}", ", 7]}"),
        ("{\"idempotency_key\": \"a\"", "{\"idempotency_key\": \"a\", \"idempotency_key\": \"b\""),
    ];
    for (from, to) in cases {
        let body = USUAL.replacen(from, to, 1);
        assert_ne!(body, USUAL, "{from} is not there");
        assert!(read(body.as_bytes(), &Bounds::default()).is_none(), "{body}");
    }
    // Not by its place in a list.
    assert!(
        read(br#"{"events":[["a","b","2026-01-01T00:00:00Z",{}]]}"#, &Bounds::default()).is_none()
    );
}

#[test]
fn bounds_of_a_body_are_kept() {
    let fits = |bounds: &Bounds| read(USUAL.as_bytes(), bounds).is_some();
    let bounds =
        Bounds { depth: 4, values: 10, string_bytes: 20, array_items: 6, ..Bounds::default() };
    assert!(fits(&bounds));
    assert!(read_as_tree(USUAL.as_bytes(), &bounds).is_ok());
    for bounds in [
        Bounds { depth: 3, ..bounds.clone() },
        Bounds { values: 9, ..bounds.clone() },
        Bounds { string_bytes: 19, ..bounds.clone() },
        Bounds { array_items: 0, ..bounds.clone() },
        Bounds { batch_events: 0, ..bounds.clone() },
    ] {
        assert!(!fits(&bounds), "{bounds:?}");
    }
    let long = USUAL.replace("small", &"x".repeat(EVENT_BYTES));
    assert_eq!(check(long.as_bytes()), None);
}

fn select(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

/// Mostly usual choices, and odd ones, of which some are wrong.
fn mostly(
    usual: &'static [&'static str],
    odd: &'static [&'static str],
) -> impl Strategy<Value = &'static str> {
    prop_oneof![30 => select(usual), 1 => select(odd)]
}

fn text() -> impl Strategy<Value = &'static str> {
    mostly(
        &[
            "\"a\"",
            "\"b\"",
            "\"\\u0061\"",
            "\"é\"",
            "\"\\u00e9\"",
            "\"\\ud83d\\ude00\"",
            "\"a/b\"",
            "\"a\\/b\"",
        ],
        &["\"\\ud800\"", "\"\"", "\"\\n\\\"\\\\\"", "\"\t\"", "\"\u{feff}\"", "null"],
    )
}

fn property() -> impl Strategy<Value = &'static str> {
    let others = mostly(
        &["1", "1.0", "-0", "0", "1e5", "1E+5", "0.10", "true", "false", "null"],
        &[
            "1e-400",
            "01",
            "1.",
            ".5",
            "+1",
            "[1]",
            "{}",
            "123456789012345678901234567890.1",
            "tru",
            "NaN",
        ],
    );
    prop_oneof![text(), others]
}

/// An event, spelled in any way.
fn event() -> impl Strategy<Value = String> {
    let names = mostly(
        &["\"tokens\"", "\"model\"", "\"size\"", "\"a\""],
        &["\"t\\u006fkens\"", "\"\"", "\"a b\""],
    );
    let properties = prop::collection::vec((names, property()), 0..4);
    let timestamps = mostly(
        &["\"2026-01-01T00:00:00Z\"", "\"2026-01-01T00:00:00.5+02:00\""],
        &["\"2026-01-01\"", "7"],
    );
    let customers = mostly(
        &["\"external_customer_id\":\"ada\"", "\"external_customer_id\":\"\\u0061da\""],
        &[
            "\"customer_id\":\"ada\"",
            "\"external_customer_id\":\"ada\",\"customer_id\":null",
            "\"more\":1",
        ],
    );
    let blank = select(&["", " ", "\n", "\t\r "]);
    (text(), text(), timestamps, properties, customers, blank, any::<bool>()).prop_map(
        |(key, name, at, properties, customer, blank, first)| {
            let properties =
                properties.iter().map(|(name, value)| format!("{name}:{blank}{value}"));
            let properties = properties.collect::<Vec<_>>().join(",");
            let mut members = [
                format!("\"idempotency_key\":{key}"),
                format!("{blank}\"event_name\"{blank}:{name}"),
                format!("\"timestamp\":{at}{blank}"),
                format!("\"properties\":{{{properties}}}"),
                customer.to_owned(),
            ];
            if first {
                members.reverse();
            }
            format!("{{{}}}", members.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_read_in_one_pass_means_what_the_tree_says(
        events in prop::collection::vec(event(), 0..3),
        edits in prop::collection::vec((any::<Index>(), select(&[
            "{", "}", "[", "]", "\"", ",", ":", "\\", "0", ".", "-", "e", " ", "\u{0}", "é", "null", "",
        ]), any::<bool>()), 0..3),
    ) {
        let mut body = format!("{{\"events\":[{}]}}", events.join(", ")).into_bytes();
        for (at, edit, replaces) in edits {
            let at = at.index(body.len().max(1)).min(body.len());
            let to = if replaces { at.saturating_add(1).min(body.len()) } else { at };
            body.splice(at..to, edit.bytes());
        }
        check(&body);
    }
}
