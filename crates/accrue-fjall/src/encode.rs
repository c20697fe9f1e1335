//! How keys lie in fjall: as [`row`] says, with their bytes as they are.

use std::borrow::Cow;

use accrue::store::{Key, Scan, Table};
use accrue_durable::row::{self, DecodeError};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// What this version of the crate writes and reads.
pub(crate) const FORMAT: &str = "accrue-fjall 1";

pub(crate) fn encode_key(key: &Key) -> Vec<u8> {
    row::encode_key(key.table(), key.bytes())
}

pub(crate) fn decode_key(table: Table, stored: &[u8]) -> Result<Key, DecodeError> {
    row::decode_key(table, stored).map(|bytes| Key::new(table, bytes))
}

/// The fjall keys of a scan, as a half-open range; nothing where it is empty.
pub(crate) fn encode_bounds(scan: &Scan) -> Option<(Vec<u8>, Vec<u8>)> {
    row::encode_bounds(scan, Cow::Borrowed)
}

/// The hash of a key, for the filter.
pub(crate) fn hash_key(key: &Key) -> u64 {
    hash(key.table().name().as_bytes(), key.bytes())
}

/// The same of a key as it is stored.
pub(crate) fn hash_stored(stored: &[u8]) -> u64 {
    // No name of a table has the byte that ends it.
    let mut parts = stored.splitn(2, |byte| *byte == 0);
    hash(parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn hash(table: &[u8], bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, xxh3_64(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_hash_of_its_stored_form() {
        for bytes in [&b""[..], b"\0", b"a", b"\0a\0\xFF", &[7; 512]] {
            let key = Key::new(Table::new("item"), bytes);
            assert_eq!(hash_key(&key), hash_stored(&encode_key(&key)));
            assert_ne!(hash_key(&key), hash_key(&Key::new(Table::new("ite"), bytes)));
        }
    }
}
