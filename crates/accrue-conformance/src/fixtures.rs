use accrue::store::{Document, Key, Row, Table};

/// The table that a case uses when tables are not what it is about.
pub(crate) const TABLE: Table = Table::new("row");

pub(crate) fn key(bytes: impl AsRef<[u8]>) -> Key {
    Key::new(TABLE, bytes.as_ref())
}

/// Keys that sort as they are numbered.
pub(crate) fn numbered(number: usize) -> Key {
    key(format!("{number:08}"))
}

pub(crate) fn numbered_keys(count: usize) -> Vec<Key> {
    (0..count).map(numbered).collect()
}

/// A document that holds a number.
pub(crate) fn document(number: usize) -> Document {
    text(&format!(r#"{{"v":1,"number":{number}}}"#))
}

/// The number that a document holds.
pub(crate) fn number(row: &Row) -> usize {
    number_in(&row.document)
}

pub(crate) fn number_in(document: &Document) -> usize {
    let value: serde_json::Value =
        serde_json::from_str(document.as_str()).expect("a document comes back as JSON");
    let number = value.get("number").and_then(serde_json::Value::as_u64);
    let number = number.expect("the number of a document comes back as an integer");
    usize::try_from(number).expect("it was written as a usize")
}

/// Fails unless both are the same rows, with the same versions and the same values.
pub(crate) fn assert_same(found: &[Option<Row>], expected: &[Option<Row>]) {
    assert!(same(found, expected), "found {found:?}, expected {expected:?}");
}

/// Tells whether both are the same rows. Two reads of one row may differ in the text of its
/// document (store 8), so that rows are not compared by equality.
pub(crate) fn same(found: &[Option<Row>], expected: &[Option<Row>]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|rows| match rows {
            (None, None) => true,
            (Some(found), Some(expected)) => {
                (&found.key, found.version) == (&expected.key, expected.version)
                    && found.document.same_value(&expected.document)
            }
            _ => false,
        })
}

pub(crate) fn text(text: &str) -> Document {
    Document::parse(text).expect("the text is that of a JSON object")
}

/// A document of exactly `bytes` bytes, different for different seeds.
pub(crate) fn document_of_size(bytes: usize, seed: usize) -> Document {
    let head = format!(r#"{{"v":1,"seed":"{seed}","fill":""#);
    let tail = r#""}"#;
    let fill = bytes.checked_sub(head.len() + tail.len()).expect("there is room for the frame");
    text(&format!("{head}{}{tail}", "x".repeat(fill)))
}
