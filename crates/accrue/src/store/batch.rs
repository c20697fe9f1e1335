use super::{Document, Key, Version};

/// Batch to commit: preconditions in order, and changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Preconditions, judged in this order.
    pub preconditions: Vec<Precondition>,
    /// Changes to apply, each key at most once.
    pub changes: Vec<Change>,
}

/// Precondition on one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// Key that it is about.
    pub key: Key,
    /// State that its row must have.
    pub expected: Expected,
}

/// State that a row must have for a commit to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No row under the key.
    Absent,
    /// Row with this version.
    Version(Version),
}

/// Change of one row by a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes the document, whether or not there is a row.
    Put(Key, Document),
    /// Removes the row if there is one.
    Delete(Key),
}

impl Change {
    /// Returns the key that it changes.
    #[must_use]
    pub const fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Delete(key) => key,
        }
    }
}

/// Outcome of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Every change was applied; the rows put have this version. Without changes nothing was made,
    /// and the version means nothing.
    Committed(Version),
    /// Nothing was applied: this key was the first whose precondition failed.
    Conflict(Key),
}

impl Batch {
    /// Creates an empty batch.
    #[must_use]
    pub const fn new() -> Self {
        Self { preconditions: Vec::new(), changes: Vec::new() }
    }

    /// Adds a precondition, behind those that there are.
    #[must_use]
    pub fn expect(mut self, key: Key, expected: Expected) -> Self {
        self.preconditions.push(Precondition { key, expected });
        self
    }

    /// Adds a document to write.
    #[must_use]
    pub fn put(mut self, key: Key, document: Document) -> Self {
        self.changes.push(Change::Put(key, document));
        self
    }

    /// Adds a key to delete.
    #[must_use]
    pub fn delete(mut self, key: Key) -> Self {
        self.changes.push(Change::Delete(key));
        self
    }
}

impl Expected {
    /// Tells whether a row with this version, or no row, is what was expected.
    #[must_use]
    pub fn holds(self, found: Option<Version>) -> bool {
        match self {
            Self::Absent => found.is_none(),
            Self::Version(version) => found == Some(version),
        }
    }
}
