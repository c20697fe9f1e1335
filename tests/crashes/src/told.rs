//! What processes tell of their work, a line for each step.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// A request under an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its key.
    pub key: String,
    /// Its path.
    pub path: String,
    /// Its body.
    pub body: String,
}

/// What all processes of a folder have told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Requests that were about to be made, in order, each once.
    pub(crate) asked: Vec<Asked>,
    keys: BTreeSet<String>,
    /// What they were answered, by their keys: the status and the body.
    pub(crate) answered: BTreeMap<String, (u16, String)>,
    /// Messages that were read, by their ids.
    pub(crate) seen: BTreeMap<String, Value>,
    /// Those that were about to be acknowledged, and those that were.
    pub(crate) acknowledging: BTreeSet<String>,
    pub(crate) acknowledged: BTreeSet<String>,
}

impl Asked {
    pub(crate) fn line(&self) -> String {
        json!({"asked": self.key, "path": self.path, "body": self.body}).to_string()
    }
}

pub(crate) fn answered(key: &str, status: u16, body: &str) -> String {
    json!({"answered": key, "status": status, "body": body}).to_string()
}

pub(crate) fn seen(id: &str, body: &Value) -> String {
    json!({"seen": id, "body": body}).to_string()
}

pub(crate) fn acknowledging(ids: &[String]) -> String {
    json!({"acknowledging": ids}).to_string()
}

pub(crate) fn acknowledged(ids: &[String]) -> String {
    json!({"acknowledged": ids}).to_string()
}

impl Told {
    /// Takes one more line.
    ///
    /// # Panics
    ///
    /// If it contradicts an earlier one.
    pub fn hear(&mut self, line: &str) {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not told: {line}"));
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let ids = |ids: &Value| -> Vec<String> {
            ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
        };
        if line["asked"].is_string() {
            if self.keys.insert(text("asked")) {
                let asked = Asked { key: text("asked"), path: text("path"), body: text("body") };
                self.asked.push(asked);
            }
        } else if line["answered"].is_string() {
            let status = u16::try_from(line["status"].as_u64().unwrap()).unwrap();
            self.answer(text("answered"), status, text("body"));
        } else if line["seen"].is_string() {
            self.see(text("seen"), line["body"].clone());
        } else if line["acknowledging"].is_array() {
            self.acknowledging.extend(ids(&line["acknowledging"]));
        } else {
            self.acknowledged.extend(ids(&line["acknowledged"]));
        }
    }

    /// A key has one answer.
    pub(crate) fn answer(&mut self, key: String, status: u16, body: String) {
        assert!(matches!(status, 200 | 201), "{key} was answered {status} {body}");
        let answer = (status, body);
        let first = self.answered.entry(key.clone()).or_insert_with(|| answer.clone());
        assert_eq!(*first, answer, "{key} was answered in two ways");
    }

    /// An id has one message.
    pub(crate) fn see(&mut self, id: String, body: Value) {
        let first = self.seen.entry(id.clone()).or_insert_with(|| body.clone());
        assert_eq!(*first, body, "the message {id} says two things");
    }

    /// The requests of which nobody knows whether they had an effect.
    pub(crate) fn in_doubt(&self) -> Vec<Asked> {
        let asked = self.asked.iter();
        asked.filter(|asked| !self.answered.contains_key(&asked.key)).cloned().collect()
    }
}
