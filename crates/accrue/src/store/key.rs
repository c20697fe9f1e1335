use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Name of a table: lower-case ASCII letters and underscores.
#[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord)]
pub struct Table(&'static str);

/// Tables of one name are equal. Mostly they are the same constant, which is seen without reading it.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) || self.0 == other.0
    }
}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Table {
    /// Names a table.
    ///
    /// # Panics
    ///
    /// If the name has another character than lower-case ASCII letters and underscores, is empty
    /// or longer than 32 bytes. In a constant that is an error of compilation.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(!name.is_empty() && name.len() <= 32, "a table name has 1 to 32 bytes");
        let mut rest = name.as_bytes();
        while let [first, tail @ ..] = rest {
            assert!(
                first.is_ascii_lowercase() || *first == b'_',
                "a table name has lower-case ASCII letters and underscores only"
            );
            rest = tail;
        }
        Self(name)
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Key of a row: a table, and bytes that order the rows within it. Cheap to clone.
///
/// ```
/// use accrue::store::{Key, Table};
///
/// let key = Key::new(Table::new("item"), *b"\x00\xff");
/// assert_eq!(key.bytes(), b"\x00\xff");
/// assert_eq!(key.to_string(), "item:00ff");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    table: Table,
    bytes: Arc<[u8]>,
}

impl Key {
    /// Creates a key from its table and its bytes.
    #[must_use]
    pub fn new(table: Table, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { table, bytes: bytes.into() }
    }

    /// Returns the table.
    #[must_use]
    pub const fn table(&self) -> Table {
        self.table
    }

    /// Returns the bytes that order it within its table.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes, shared.
    #[must_use]
    pub fn shared_bytes(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }
}

/// Few keys of different tables have the same bytes, so these tell them apart well enough.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.table)?;
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
