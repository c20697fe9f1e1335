//! How keys lie in fjall: as [`row`] says, with their bytes as they are.

use std::borrow::Cow;

use accrue::store::{Key, Scan, Table};
use accrue_durable::row::{self, DecodeError};

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
