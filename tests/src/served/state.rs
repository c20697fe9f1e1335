//! What there is, told so that two runs can be compared that drew different ids.

use std::collections::BTreeMap;

use accrue::{
    Timestamp, limits,
    schema::TABLES,
    store::{Row, Scan, Store},
};
use pollster::block_on;

/// How many characters an id has, and how many bytes in a key.
const TEXT: usize = 36;
const BYTES: usize = 16;

/// Every row: its table, its key and its document, where ids that were drawn since the scene was set
/// are numbered, and marks of attempts are left out.
#[derive(Clone, Debug)]
pub(super) struct State {
    rows: Vec<(&'static str, Vec<u8>, String)>,
    names: Names,
}

/// The ids that were drawn, numbered: first those of the answer, and then as they come.
#[derive(Clone, Debug, Default)]
struct Names(BTreeMap<String, usize>);

/// Tells ids that were drawn since an instant, when those of the scene were, from the others.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// In milliseconds.
    after: i64,
    until: i64,
    /// What they begin with, all of them, as text.
    prefix: String,
}

impl Drawn {
    pub(super) fn between(after: Timestamp, until: Timestamp) -> Self {
        let (after, until) = (after.micros() / 1_000, until.micros() / 1_000);
        let (a, b) = (format!("{after:012x}"), format!("{until:012x}"));
        let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        Self { after, until, prefix: a[..same.min(8)].to_owned() }
    }

    fn is_new(&self, millis: i64) -> bool {
        self.after < millis && millis <= self.until
    }

    /// Whether such an id begins a text.
    fn begins(&self, text: &str) -> bool {
        let Some(id) = text.get(..TEXT).map(str::as_bytes) else { return false };
        let is_id = [8, 13, 18, 23].iter().all(|at| id[*at] == b'-') && id[14] == b'7';
        let millis = || i64::from_str_radix(&[&text[..8], &text[9..13]].concat(), 16);
        is_id && millis().is_ok_and(|millis| self.is_new(millis))
    }

    /// Writes a text anew, with something else for each such id.
    fn replaced(&self, mut text: &str, mut name: impl FnMut(&str) -> String) -> String {
        let mut written = String::with_capacity(text.len());
        while let Some(at) = text.find(&self.prefix) {
            written.push_str(&text[..at]);
            let end = if self.begins(&text[at..]) {
                written.push_str(&name(&text[at..at + TEXT]));
                at + TEXT
            } else {
                written.push_str(&self.prefix);
                at + self.prefix.len()
            };
            text = &text[end..];
        }
        written.push_str(text);
        written
    }

    /// The same for a key, where ids are bytes.
    fn replaced_in_key(&self, key: &[u8], mut name: impl FnMut(&str) -> String) -> Vec<u8> {
        let is_id = |id: &&[u8]| {
            let millis = id[..6].iter().fold(0, |millis, byte| millis << 8 | i64::from(*byte));
            id[6] >> 4 == 7 && self.is_new(millis)
        };
        let mut written = Vec::with_capacity(key.len());
        let mut at = 0;
        while at < key.len() {
            if let Some(id) = key.get(at..at + BYTES).filter(is_id) {
                written.extend(name(&hyphenated(id)).into_bytes());
                at += BYTES;
            } else {
                written.push(key[at]);
                at += 1;
            }
        }
        written
    }
}

/// An id as text.
fn hyphenated(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(TEXT);
    for (at, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Names {
    fn of(&mut self, id: &str) -> String {
        let next = self.0.len();
        let number = *self.0.entry(id.to_owned()).or_insert(next);
        format!("#{number}")
    }
}

/// A document without what was drawn and is no id of a new row: the mark of the attempt that wrote a
/// record, and the ids of lines, which are made of their invoice's and begin with their period.
fn undrawn(table: &str, document: &str) -> String {
    match table {
        "record" => unlined(&blanked(document, "\"mark\":\"", 32), "\\\""),
        "invoice_lines" => blanked(document, "{\"id\":\"", TEXT),
        "outbox" => blanked(document, "\"line_id\":\"", TEXT),
        _ => document.to_owned(),
    }
}

/// An answer with lines without their ids, where names and values have such quotes: those by hand are made of
/// what was drawn, and begin as those of their invoices.
fn unlined(answer: &str, quote: &str) -> String {
    if !answer.contains("partially_invoiced_amount") {
        return answer.to_owned();
    }
    let (id, name) =
        (["{", quote, "id", quote, ":", quote].concat(), [quote, ",", quote, "name"].concat());
    let mut pieces = answer.split(id.as_str());
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |written, piece| {
        let is_named = piece.get(TEXT..).is_some_and(|rest| rest.starts_with(&name));
        [&written, id.as_str(), &piece[if is_named { TEXT } else { 0 }..]].concat()
    })
}

/// An answer without what is made of the id of a new row: the code that the address of a portal session ends with,
/// and the secret of an endpoint.
fn unsigned(answer: &str) -> String {
    const CODE: usize = 48;
    const SECRET: usize = 50;
    let answer = blanked(answer, "\"secret\":\"", SECRET);
    let of_portal = "\"url\":\"https://example.com/";
    let mut pieces = answer.split(of_portal);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |written, piece| {
        let (address, rest) = piece.split_once('"').unwrap_or((piece, ""));
        let known = &address[..address.len() - CODE];
        [&written, of_portal, known, "\"", rest].concat()
    })
}

/// A text without so many bytes after each place where it says something.
fn blanked(text: &str, after: &str, bytes: usize) -> String {
    let mut pieces = text.split(after);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |written, piece| [&written, after, &piece[bytes..]].concat())
}

impl State {
    /// Reads it, after a request was answered so.
    pub(super) fn read(store: &dyn Store, drawn: &Drawn, answer: &str) -> Self {
        let masked = |_: &str| "#".to_owned();
        let mut rows = Vec::new();
        // What a process guesses of the next one is no effect.
        for table in TABLES.iter().filter(|table| table.name() != "footprint") {
            let mut scan = Scan::prefix(*table, b"", limits::SCAN_ROWS);
            loop {
                let found = block_on(store.scan(&scan)).unwrap();
                let Some(last) = found.last() else { break };
                scan = scan.after(last.key.bytes());
                let is_last = found.len() < limits::SCAN_ROWS;
                rows.extend(found.into_iter().map(|row| {
                    let document = undrawn(table.name(), row.document.as_str());
                    let sorted = (
                        drawn.replaced_in_key(row.key.bytes(), masked),
                        drawn.replaced(&document, masked),
                    );
                    (table.name(), sorted, row.key, document)
                }));
                if is_last {
                    break;
                }
            }
        }
        rows.sort_by(|(a, of_a, ..), (b, of_b, ..)| (a, of_a).cmp(&(b, of_b)));
        let mut names = Names::default();
        drawn.replaced(answer, |id| names.of(id));
        let rows = rows.into_iter().map(|(table, _, key, document)| {
            let key = drawn.replaced_in_key(key.bytes(), |id| names.of(id));
            (table, key, drawn.replaced(&document, |id| names.of(id)))
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        Self { rows, names }
    }

    /// An answer, where ids have the names that they have in the rows.
    pub(super) fn renamed(&self, drawn: &Drawn, answer: &str) -> String {
        drawn.replaced(&unsigned(&unlined(answer, "\"")), |id| match self.names.0.get(id) {
            Some(number) => format!("#{number}"),
            None => format!("# of nothing, {id}"),
        })
    }

    /// An answer alone, where the ids that were drawn are numbered as they come.
    pub(super) fn numbered(drawn: &Drawn, answer: &str) -> String {
        let mut names = Names::default();
        drawn.replaced(answer, |id| names.of(id));
        drawn.replaced(&unsigned(&unlined(answer, "\"")), |id| names.of(id))
    }

    /// Whether anything but what is kept under keys differs.
    pub(super) fn has_another_effect(&self, other: &Self) -> bool {
        let effect = |state: &Self| {
            let is_effect = |table: &str| table != "record";
            state.rows.iter().filter(|row| is_effect(row.0)).cloned().collect::<Vec<_>>()
        };
        effect(self) != effect(other)
    }

    /// Says where it differs from what is expected.
    pub(super) fn differs(&self, expected: &Self) -> Option<String> {
        if self.rows == expected.rows {
            return None;
        }
        let told = |here: &Self, there: &Self| {
            let missing = here.rows.iter().filter(|row| !there.rows.contains(row)).take(4);
            let lines = missing.map(|(table, key, document)| {
                format!("  {table}:{} {document}", key.escape_ascii())
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        Some(format!("expected:\n{}\nfound:\n{}", told(expected, self), told(self, expected)))
    }

    /// The statuses of the answers that are kept under keys.
    pub(super) fn kept(store: &dyn Store) -> Vec<u16> {
        let record = TABLES.iter().find(|table| table.name() == "record").unwrap();
        let rows = block_on(store.scan(&Scan::prefix(*record, b"", limits::SCAN_ROWS))).unwrap();
        let status = |row: Row| {
            let record: serde_json::Value = serde_json::from_str(row.document.as_str()).unwrap();
            // Of what only reads no answer is kept.
            let answer = record["answer"]["inline"].as_str().unwrap();
            // One that a request goes on from is an answer like any other.
            let (status, _) = answer.strip_prefix("open ").unwrap_or(answer).split_once(' ')?;
            Some(status.parse().unwrap())
        };
        rows.into_iter().filter_map(status).collect()
    }
}
