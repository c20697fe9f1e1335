use super::{Document, Key, Version};

/// Batch to commit: preconditions in order, and changes.
///
/// ```
/// use accrue::store::{Batch, Document, Expected, Key, Table};
///
/// let key = |name: &str| Key::new(Table::new("item"), name.as_bytes());
/// let document = Document::parse(r#"{"v":1}"#)?;
/// let batch = Batch::new().insert(key("b"), document).expect(key("a"), Expected::Absent);
/// let judged: Vec<_> = batch.expectations().collect();
/// assert_eq!(judged, [(&key("a"), Expected::Absent), (&key("b"), Expected::Absent)]);
/// # Ok::<(), accrue::store::DocumentError>(())
/// ```
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
    /// Writes the document where there is no row: it expects that, behind all preconditions and the
    /// inserts before it.
    Insert(Key, Document),
    /// Removes the row if there is one.
    Delete(Key),
}

impl Change {
    /// Returns the key that it changes.
    #[must_use]
    pub const fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Insert(key, _) | Self::Delete(key) => key,
        }
    }

    /// Returns the document that the row then has, of one that is not deleted.
    #[must_use]
    pub const fn document(&self) -> Option<&Document> {
        match self {
            Self::Put(_, document) | Self::Insert(_, document) => Some(document),
            Self::Delete(_) => None,
        }
    }

    /// Returns the key, and the document that the row then has.
    #[must_use]
    pub fn into_row(self) -> (Key, Option<Document>) {
        match self {
            Self::Put(key, document) | Self::Insert(key, document) => (key, Some(document)),
            Self::Delete(key) => (key, None),
        }
    }

    /// Returns the bytes that it has in a batch: those of its key and its document.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let document = self.document().map_or(0, |document| document.as_str().len());
        self.key().bytes().len().saturating_add(document)
    }
}

/// Outcome of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Every change was applied; the rows put have this version. Without changes nothing was made,
    /// and the version means nothing.
    Committed(Version),
    /// Nothing was applied: this key was the first of the [expectations](Batch::expectations) that
    /// failed.
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

    /// Adds a document to write where there is no row.
    #[must_use]
    pub fn insert(mut self, key: Key, document: Document) -> Self {
        self.changes.push(Change::Insert(key, document));
        self
    }

    /// Adds a key to delete.
    #[must_use]
    pub fn delete(mut self, key: Key) -> Self {
        self.changes.push(Change::Delete(key));
        self
    }

    /// Returns what a store judges before it applies the changes, in this order: the preconditions,
    /// and that there is no row for any insert.
    pub fn expectations(&self) -> impl Iterator<Item = (&Key, Expected)> {
        let preconditions = self.preconditions.iter().map(|of| (&of.key, of.expected));
        let inserts = self.changes.iter().filter_map(|change| match change {
            Change::Insert(key, _) => Some((key, Expected::Absent)),
            Change::Put(..) | Change::Delete(_) => None,
        });
        preconditions.chain(inserts)
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
