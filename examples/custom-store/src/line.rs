use std::error::Error;

use accrue::store::{Change, Document};
use serde::{Deserialize, Serialize};

/// One change as the log has it: what a row says now.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    table: String,
    key: Vec<u8>,
    /// A string, so that no end of a line is in it; nothing where the row was deleted.
    document: Option<String>,
}

/// One change as it is applied.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) table: String,
    pub(crate) key: Vec<u8>,
    pub(crate) document: Option<Document>,
}

/// Writes the line of a commit, with its end.
pub(crate) fn encode(changes: &[Change]) -> serde_json::Result<Vec<u8>> {
    let entries: Vec<_> = changes.iter().map(Entry::from).collect();
    let mut line = serde_json::to_vec(&entries)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads the line of a commit.
pub(crate) fn decode(line: &[u8]) -> Result<Vec<Applied>, Box<dyn Error + Send + Sync>> {
    let entries: Vec<Entry> = serde_json::from_slice(line)?;
    let applied = entries.into_iter().map(|entry| {
        let document = entry.document.map(Document::parse).transpose()?;
        Ok(Applied { table: entry.table, key: entry.key, document })
    });
    applied.collect()
}

impl From<&Change> for Entry {
    fn from(change: &Change) -> Self {
        let (key, document) = (change.key(), change.document());
        let document = document.map(|document| document.as_str().to_owned());
        Self { table: key.table().name().to_owned(), key: key.bytes().to_vec(), document }
    }
}

impl From<Change> for Applied {
    fn from(change: Change) -> Self {
        let (key, document) = change.into_row();
        Self { table: key.table().name().to_owned(), key: key.bytes().to_vec(), document }
    }
}
