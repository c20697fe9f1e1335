//! How keys lie in sled: as [`row`] says, without the byte `0xFF`.
//!
//! `0xFE` is written as `FE 00` and `0xFF` as `FE 01`, which keeps the order. sled 0.34.7 looks for
//! the leaf before `[…, n]` at `[…, n - 1, FF, FF, FF, FF]` when it walks backwards; where a stored
//! key is greater than that it goes round in circles, and panics in the end.

use std::borrow::Cow;

use accrue::store::{Key, Scan, Table};
use accrue_durable::row::{self, DecodeError};

/// What this version of the crate writes and reads.
pub(crate) const FORMAT: &str = "accrue-sled 1";

const ESCAPE: u8 = 0xFE;
const ESCAPED_FE: u8 = 0x00;
const ESCAPED_FF: u8 = 0x01;

pub(crate) fn encode_key(key: &Key) -> Vec<u8> {
    row::encode_key(key.table(), &escape(key.bytes()))
}

pub(crate) fn decode_key(table: Table, stored: &[u8]) -> Result<Key, DecodeError> {
    let escaped = row::decode_key(table, stored)?;
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
    row::encode_bounds(scan, escape)
}

fn escape(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.iter().all(|byte| *byte < ESCAPE) {
        return Cow::Borrowed(bytes);
    }
    let mut escaped = Vec::with_capacity(bytes.len().saturating_add(8));
    for byte in bytes {
        match byte {
            0xFE => escaped.extend_from_slice(&[ESCAPE, ESCAPED_FE]),
            0xFF => escaped.extend_from_slice(&[ESCAPE, ESCAPED_FF]),
            byte => escaped.push(*byte),
        }
    }
    Cow::Owned(escaped)
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

        let stored: Vec<_> =
            keys.iter().map(|key| encode_key(&Key::new(TABLE, key.as_slice()))).collect();
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
    }
}
