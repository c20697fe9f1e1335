use std::{
    cell::Cell,
    sync::{Arc, Once},
};

use accrue::store::{Batch, Document, MemoryStore, Row, Store};
use arbitrary::{Arbitrary, Result, Unstructured};
use bytes::Bytes;
use http::Response;
use pollster::block_on;
use serde_json::Value;

use super::{Case, Door, Scene, reads, scene::NOW, store::OnceFaulty, writes};
use crate::stores::{copied, rows};

/// The request that was answered under a key before anything is damaged, and its key.
const ANSWERED: &str = "POST /items";
const ANSWERED_KEY: &str = "answered";
/// The key of every other request.
const KEY: &str = "key";
/// When it is asked again: a billing period, the credits and a backfill have ended by then, and what was
/// kept under keys is no longer good.
const LATER: &str = "2026-04-11T12:00:00Z";

/// What stands in a document and is none of its values, or one in another place.
const WORDS: &[&str] = &[
    "",
    "0",
    "-1",
    "0.1",
    "1e3",
    "99999999999999999999999999999",
    "2026-03-10T12:00:00Z",
    "1970-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "00000000-0000-0000-0000-000000000000",
    "USD",
    "credits",
    "n > 1",
    "SELECT sum(n) FROM events",
    "monthly",
    "unit",
];

/// A scene of which any row can be another one than was written.
#[derive(Debug)]
pub struct Damaged {
    store: MemoryStore,
    rows: Vec<Row>,
    cases: Vec<Case>,
}

impl Default for Damaged {
    fn default() -> Self {
        let scene = Scene::set();
        let cases = [writes(&scene), reads(&scene)].concat();
        let store = Arc::new(scene.copy());
        let answered = cases.iter().find(|case| case.operation == ANSWERED).unwrap();
        Door::on(Arc::clone(&store), NOW, 2).send(answered, ANSWERED_KEY).unwrap();
        Self { rows: rows(&*store), store: copied(&*store), cases }
    }
}

impl Damaged {
    /// Damages what the bytes say, and sends the request that they say, twice: there are answers, after
    /// a bounded number of calls of the store and without a panic.
    ///
    /// # Panics
    ///
    /// If it is otherwise.
    pub fn run(&self, bytes: &[u8]) {
        let mut input = Unstructured::new(bytes);
        if let (Ok(case), Ok(batch)) = (input.choose(&self.cases), self.damage(&mut input)) {
            self.is_noticed(case, batch);
        }
    }

    /// Sends a request where rows are others, lets time pass, and sends it again; tells whether anything
    /// on the way said that it could not be read.
    ///
    /// # Panics
    ///
    /// If there is no answer, or it is none of the API.
    pub fn is_noticed(&self, case: &Case, damage: Batch) -> bool {
        let inner = copied(&self.store);
        block_on(inner.commit(damage)).unwrap();
        let store = Arc::new(OnceFaulty::new(inner, None, None));
        let key = if case.operation == ANSWERED { ANSWERED_KEY } else { KEY };
        let mut is_noticed = false;
        for (now, seed) in [(NOW, 2), (LATER, 3)] {
            let door = Door::on(Arc::clone(&store), now, seed);
            let ((answer, is_read), has_panicked) =
                panics(|| (door.send(case, key).expect("an answer"), door.attend()));
            assert!(!has_panicked, "{case:?} panics: {answer:?}");
            judge(case, &answer);
            is_noticed |= answer.status() == 500 || !is_read;
        }
        is_noticed
    }

    /// What is stored.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What is asked.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    fn damage(&self, input: &mut Unstructured<'_>) -> Result<Batch> {
        let mut batch = Batch::new();
        for _ in 0..input.int_in_range(1_u8..=2)? {
            let Row { key, document, .. } = input.choose(&self.rows)?.clone();
            let another = match input.int_in_range(0_u8..=9)? {
                0 => None,
                1 => Some(input.choose(&self.rows)?.document.clone()),
                2 => Document::from_stored(<&[u8]>::arbitrary(input)?).ok(),
                _ => Some(edited(&document, input)?),
            };
            batch = match another {
                None => batch.delete(key),
                Some(document) => batch.put(key, document),
            };
        }
        Ok(batch)
    }
}

/// Replaces some values of a document.
fn edited(document: &Document, input: &mut Unstructured<'_>) -> Result<Document> {
    let mut value: Value = serde_json::from_str(document.as_str()).expect("a document is JSON");
    for _ in 0..input.int_in_range(1_u8..=3)? {
        let known = value.clone();
        let nth = input.choose_index(count(&known))?;
        let place = at(&mut value, &mut nth.clone()).expect("a value of so many");
        let other = input.choose_index(count(&known))?;
        edit(place, &known, other, input)?;
    }
    Ok(Document::from_stored(value.to_string().as_bytes()).expect("it is a text"))
}

fn edit(
    place: &mut Value,
    known: &Value,
    other: usize,
    input: &mut Unstructured<'_>,
) -> Result<()> {
    *place = match (input.int_in_range(0_u8..=9)?, place.take()) {
        (0, _) => Value::Null,
        (1, _) => Value::from(u64::arbitrary(input)?),
        (2, _) => Value::from(i64::arbitrary(input)?),
        (3, _) => Value::from(*input.choose(WORDS)?),
        (4, _) => Value::from(<&str>::arbitrary(input)?),
        (5, _) => Value::from(bool::arbitrary(input)?),
        (6, Value::Array(mut values)) if !values.is_empty() => {
            values.remove(input.choose_index(values.len())?);
            Value::Array(values)
        }
        (7, Value::Array(mut values)) if !values.is_empty() => {
            values.extend_from_within(input.choose_index(values.len())?..);
            Value::Array(values)
        }
        (8, Value::Array(mut values)) => {
            values.reverse();
            Value::Array(values)
        }
        (6..=8, Value::Object(mut members)) if !members.is_empty() => {
            let name = members.keys().nth(input.choose_index(members.len())?).cloned();
            members.remove(&name.expect("a member of so many"));
            Value::Object(members)
        }
        (6..=8, Value::Number(number)) => {
            let near = number.as_i64().unwrap_or_default();
            Value::from(near.wrapping_add(i64::from(i8::arbitrary(input)?)))
        }
        _ => at(&mut known.clone(), &mut other.clone()).expect("a value of so many").take(),
    };
    Ok(())
}

/// How many values there are in a value, itself among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Returns a value within a value by its number.
fn at<'a>(value: &'a mut Value, nth: &mut usize) -> Option<&'a mut Value> {
    if *nth == 0 {
        return Some(value);
    }
    *nth -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| at(value, nth)),
        Value::Object(members) => members.values_mut().find_map(|value| at(value, nth)),
        _ => None,
    }
}

/// Does something, and tells whether there was a panic on the way, also where it was caught.
fn panics<T>(work: impl FnOnce() -> T) -> (T, bool) {
    thread_local! {
        static HAS_PANICKED: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            HAS_PANICKED.set(true);
            usual(info);
        }));
    });
    HAS_PANICKED.set(false);
    let done = work();
    (done, HAS_PANICKED.take())
}

fn judge(case: &Case, answer: &Response<Bytes>) {
    let is_text = answer.headers().contains_key("content-type");
    assert_eq!(is_text, answer.status() != 204, "{case:?}: {answer:?}");
    // What cannot be read now cannot be read on a retry.
    let is_transient = answer.headers().contains_key("transient-error");
    assert!(!is_transient, "{case:?}: {answer:?}");
}
