//! How keys and rows lie in sled.
//!
//! | sled key | value |
//! |---|---|
//! | `0x00 "format"` | [`FORMAT`] |
//! | `0x00 "ceiling"` | the highest version that may have been given out, 8 bytes, big endian |
//! | table, `0x00`, bytes of the key, escaped | version, 8 bytes, big endian; text of the document |
//!
//! A table's name has only lower-case letters and underscores, so no row lies among the first two.
//!
//! No byte of a stored key is `0xFF`: `0xFE` is written as `FE 00` and `0xFF` as `FE 01`, which
//! keeps the order. sled 0.34.7 looks for the leaf before `[…, n]` at `[…, n - 1, FF, FF, FF, FF]`
//! when it walks backwards; where a stored key is greater than that it goes round in circles, and
//! panics in the end.

use std::ops::Bound;

use accrue::store::{Bounds, Document, Key, Row, Scan, Table, Version};

/// Where the format of the directory is written.
pub(crate) const FORMAT_KEY: &[u8] = b"\0format";
/// Where the ceiling of versions is written.
pub(crate) const CEILING_KEY: &[u8] = b"\0ceiling";
/// What this version of the crate writes and reads.
pub(crate) const FORMAT: &[u8] = b"accrue-sled 1";

const END_OF_NAME: u8 = 0x00;
const AFTER_NAME: u8 = 0x01;
const ESCAPE: u8 = 0xFE;
const ESCAPED_FE: u8 = 0x00;
const ESCAPED_FF: u8 = 0x01;

/// Bytes that are no key or no row.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("key is not in its table")]
    Table,
    #[error("key has an unknown escape")]
    Escape,
    #[error("row has {0} bytes, expected at least 8")]
    Short(usize),
    #[error("row holds no document")]
    Document(#[source] accrue::store::DocumentError),
}

pub(crate) fn encode_key(key: &Key) -> Vec<u8> {
    encode(key.table(), key.bytes())
}

pub(crate) fn decode_key(table: Table, stored: &[u8]) -> Result<Key, DecodeError> {
    let escaped = stored
        .strip_prefix(table.name().as_bytes())
        .and_then(|rest| rest.strip_prefix(&[END_OF_NAME]))
        .ok_or(DecodeError::Table)?;
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match (*byte, *byte == ESCAPE) {
            (byte, false) => byte,
            (_, true) => match rest.next() {
                Some(&ESCAPED_FE) => 0xFE,
                Some(&ESCAPED_FF) => 0xFF,
                _ => return Err(DecodeError::Escape),
            },
        });
    }
    Ok(Key::new(table, bytes))
}

/// The sled keys of a scan, as a half-open range; nothing where it is empty.
pub(crate) fn encode_bounds(scan: &Scan) -> Option<(Vec<u8>, Vec<u8>)> {
    let (from, until): Bounds<'_> = scan.bounds()?;
    let from = match from {
        Bound::Included(bytes) | Bound::Excluded(bytes) => encode(scan.table, bytes),
        Bound::Unbounded => encode(scan.table, b""),
    };
    let until = match until {
        Bound::Included(bytes) | Bound::Excluded(bytes) => encode(scan.table, bytes),
        Bound::Unbounded => [scan.table.name().as_bytes(), &[AFTER_NAME]].concat(),
    };
    Some((from, until))
}

pub(crate) fn encode_row(version: Version, document: &Document) -> Vec<u8> {
    [version.number().to_be_bytes().as_slice(), document.as_str().as_bytes()].concat()
}

pub(crate) fn decode_row(key: Key, stored: &[u8]) -> Result<Row, DecodeError> {
    let (version, text) = split_row(stored)?;
    let document = Document::from_stored(text).map_err(DecodeError::Document)?;
    Ok(Row { key, document, version })
}

pub(crate) fn decode_version(stored: &[u8]) -> Result<Version, DecodeError> {
    split_row(stored).map(|(version, _)| version)
}

fn split_row(stored: &[u8]) -> Result<(Version, &[u8]), DecodeError> {
    let (version, text) = stored.split_first_chunk().ok_or(DecodeError::Short(stored.len()))?;
    Ok((Version::new(u64::from_be_bytes(*version)), text))
}

fn encode(table: Table, bytes: &[u8]) -> Vec<u8> {
    let name = table.name().as_bytes();
    let mut stored = Vec::with_capacity(name.len().saturating_add(bytes.len()).saturating_add(1));
    stored.extend_from_slice(name);
    stored.push(END_OF_NAME);
    for byte in bytes {
        match byte {
            0xFE => stored.extend_from_slice(&[ESCAPE, ESCAPED_FE]),
            0xFF => stored.extend_from_slice(&[ESCAPE, ESCAPED_FF]),
            byte => stored.push(*byte),
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table::new("t");

    #[test]
    fn keys_come_back_in_the_same_order_without_ff() {
        let alphabet = [0x00, 0x01, 0x7F, 0xFD, 0xFE, 0xFF];
        let pairs = alphabet.iter().flat_map(|a| alphabet.iter().map(|b| vec![*a, *b]));
        let triples = alphabet.iter().flat_map(|a| alphabet.iter().map(|b| vec![0xFE, *a, *b]));
        let mut keys: Vec<_> = [vec![], vec![0xFE], vec![0xFF]].into_iter().collect();
        keys.extend(pairs.chain(triples));
        keys.sort();

        let stored: Vec<_> = keys.iter().map(|key| encode(TABLE, key)).collect();
        assert!(stored.is_sorted());
        assert!(stored.iter().flatten().all(|byte| *byte != 0xFF));
        for (key, stored) in keys.iter().zip(&stored) {
            assert_eq!(decode_key(TABLE, stored).unwrap().bytes(), key);
        }
    }

    #[test]
    fn what_was_not_written_is_refused() {
        assert!(matches!(decode_key(TABLE, b"u\0"), Err(DecodeError::Table)));
        assert!(matches!(decode_key(TABLE, b"t\0\xFE"), Err(DecodeError::Escape)));
        assert!(matches!(decode_key(TABLE, b"t\0\xFE\x02"), Err(DecodeError::Escape)));
        assert!(matches!(decode_version(b"1234567"), Err(DecodeError::Short(7))));
        let key = || Key::new(TABLE, *b"k");
        assert!(matches!(decode_row(key(), b"12345678\xC3"), Err(DecodeError::Document(_))));
        assert!(decode_row(key(), b"12345678{}").is_ok());
    }
}
