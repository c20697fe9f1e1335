//! How a row lies in an engine that keeps bytes.
//!
//! | key | value |
//! |---|---|
//! | `0x00 "format"` | what wrote the store, and in which format |
//! | `0x00 "ceiling"` | the [ceiling of versions](crate::Group::ceiling), 8 bytes, big endian |
//! | name of the table, `0x00`, bytes of the key | version, 8 bytes, big endian; text of the document |
//!
//! A table's name has only lower-case letters and underscores, so no row lies among the first two,
//! and no table among the rows of another.

use std::{borrow::Cow, ops::Bound};

use accrue::store::{Bounds, Document, DocumentError, Key, Row, Scan, Table, Version};

/// Where the format of a store is written.
pub const FORMAT_KEY: &[u8] = b"\0format";
/// Where the ceiling of versions is written.
pub const CEILING_KEY: &[u8] = b"\0ceiling";

const END_OF_NAME: u8 = 0x00;
const AFTER_NAME: u8 = 0x01;

/// Bytes that are no key or no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A key that is not in its table.
    #[error("key is not in its table")]
    Table,
    /// A key with an escape that its store does not write.
    #[error("key has an unknown escape")]
    Escape,
    /// A row that is too short for its version, with its length in bytes.
    #[error("row has {0} bytes, expected at least 8")]
    Short(usize),
    /// A row without a document.
    #[error("row holds no document")]
    Document(#[source] DocumentError),
}

/// Returns the stored form of a key, with the bytes in the table as the engine takes them.
#[must_use]
pub fn encode_key(table: Table, bytes: &[u8]) -> Vec<u8> {
    [table.name().as_bytes(), &[END_OF_NAME], bytes].concat()
}

/// Returns the bytes of a stored key behind the name of its table.
///
/// # Errors
///
/// [`DecodeError::Table`] if it is of another table.
pub fn decode_key(table: Table, stored: &[u8]) -> Result<&[u8], DecodeError> {
    stored
        .strip_prefix(table.name().as_bytes())
        .and_then(|rest| rest.strip_prefix(&[END_OF_NAME]))
        .ok_or(DecodeError::Table)
}

/// Returns the stored keys of a scan as a half-open range; nothing where it is empty.
///
/// `bytes` makes of the bytes of a key what the engine takes, and keeps their order.
pub fn encode_bounds<'a>(
    scan: &'a Scan,
    bytes: impl Fn(&'a [u8]) -> Cow<'a, [u8]>,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let (from, until): Bounds<'_> = scan.bounds()?;
    let key = |of| encode_key(scan.table, &bytes(of));
    let from = match from {
        Bound::Included(of) | Bound::Excluded(of) => key(of),
        Bound::Unbounded => key(b""),
    };
    let until = match until {
        Bound::Included(of) | Bound::Excluded(of) => key(of),
        Bound::Unbounded => [scan.table.name().as_bytes(), &[AFTER_NAME]].concat(),
    };
    Some((from, until))
}

/// Returns the stored form of a row, without its key.
#[must_use]
pub fn encode_row(version: Version, document: &Document) -> Vec<u8> {
    [version.number().to_be_bytes().as_slice(), document.as_str().as_bytes()].concat()
}

/// Reads a row.
///
/// # Errors
///
/// If it is not what [`encode_row`] makes.
pub fn decode_row(key: Key, stored: &[u8]) -> Result<Row, DecodeError> {
    let (version, text) = split_row(stored)?;
    let document = Document::from_stored(text).map_err(DecodeError::Document)?;
    Ok(Row { key, document, version })
}

/// Reads the version of a row.
///
/// # Errors
///
/// [`DecodeError::Short`] if it has none.
pub fn decode_version(stored: &[u8]) -> Result<Version, DecodeError> {
    split_row(stored).map(|(version, _)| version)
}

fn split_row(stored: &[u8]) -> Result<(Version, &[u8]), DecodeError> {
    let (version, text) = stored.split_first_chunk().ok_or(DecodeError::Short(stored.len()))?;
    Ok((Version::new(u64::from_be_bytes(*version)), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table::new("t");

    #[test]
    fn keys_come_back() {
        for bytes in [&b""[..], b"\0", b"a", b"\xFF\xFE"] {
            assert_eq!(decode_key(TABLE, &encode_key(TABLE, bytes)).unwrap(), bytes);
        }
        assert!(matches!(decode_key(TABLE, b"u\0"), Err(DecodeError::Table)));
        assert!(matches!(decode_key(TABLE, b"tt\0"), Err(DecodeError::Table)));
    }

    #[test]
    fn the_range_of_a_table_has_its_keys_and_no_others() {
        let all = Scan::prefix(TABLE, b"", 1);
        let (from, until) = encode_bounds(&all, Cow::Borrowed).unwrap();
        let is_within = |key: Vec<u8>| from <= key && key < until;
        assert!(is_within(encode_key(TABLE, b"")));
        assert!(is_within(encode_key(TABLE, &[0xFF; 512])));
        for other in [Table::new("s"), Table::new("t_"), Table::new("tt"), Table::new("u")] {
            assert!(!is_within(encode_key(other, b"")));
            assert!(!is_within(encode_key(other, b"\xFF")));
        }
        assert!(!is_within(FORMAT_KEY.to_vec()));
        assert!(encode_bounds(&Scan::range(TABLE, b"b", b"b", 1), Cow::Borrowed).is_none());
    }

    #[test]
    fn what_was_not_written_is_refused() {
        assert!(matches!(decode_version(b"1234567"), Err(DecodeError::Short(7))));
        let key = || Key::new(TABLE, *b"k");
        assert!(matches!(decode_row(key(), b"12345678\xC3"), Err(DecodeError::Document(_))));
        assert!(decode_row(key(), b"12345678{}").is_ok());
    }
}
