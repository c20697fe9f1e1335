use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::Slot;
use crate::{Error, limits, store::Document};

/// The version that documents are written in.
const VERSION: u16 = 1;

/// What every document of the engine begins with.
const OPENING: &str = "{\"v\":1";

#[derive(Deserialize)]
struct Versioned {
    v: u16,
}

impl<T: Serialize, G> Slot<T, G> {
    /// Writes a document by way of a buffer. `value` is a JSON object without a member `v`.
    pub(crate) fn encode(&self, value: &T, text: &mut Vec<u8>) -> Result<Document, Error> {
        let table = self.key().table();
        let unwritable = |reason: &dyn std::fmt::Display| {
            Error::corrupt(format!("a document of table {table} cannot be written: {reason}"))
        };
        text.clear();
        text.extend_from_slice(OPENING.as_bytes());
        serde_json::to_writer(&mut *text, value).map_err(|error| unwritable(&error))?;
        // The object's own brace becomes what separates its members from the version.
        match text.get_mut(OPENING.len()..) {
            Some([brace @ b'{', next, ..]) if *next != b'}' => *brace = b',',
            Some([b'{', b'}']) => {
                text.remove(OPENING.len());
            }
            _ => return Err(unwritable(&"not an object")),
        }
        if text.len() > limits::DOCUMENT_BYTES {
            return Err(Error::too_large(format!(
                "a document of table {table} would have {} bytes, expected at most {}",
                text.len(),
                limits::DOCUMENT_BYTES
            )));
        }
        std::str::from_utf8(text).map(Document::trusted).map_err(|error| unwritable(&error))
    }
}

impl<T: DeserializeOwned, G> Slot<T, G> {
    /// Reads a document.
    pub(crate) fn decode(&self, document: &Document) -> Result<T, Error> {
        decode(document).map_err(|reason| {
            Error::corrupt(format!("the document of {} cannot be read: {reason}", self.key()))
        })
    }
}

fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, String> {
    let text = document.as_str();
    let is_ours = text.strip_prefix(OPENING).is_some_and(|rest| rest.starts_with([',', '}']));
    if !is_ours {
        // A store may give the members back in another order.
        let Versioned { v } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if v != VERSION {
            return Err(format!("found version {v}, expected {VERSION}"));
        }
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}
