use std::collections::{BTreeMap, HashMap};

use accrue::store::{Batch, Change, Document, Expected, Key, Version};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tables::Numbers;

/// Batch as the function of the database takes it.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// All expectations in order, with the version that a row must have.
    pub(crate) judged: Vec<(Vec<u8>, Option<i64>)>,
    /// Rows that are expected to be absent.
    pub(crate) new: Vec<(Vec<u8>, Document)>,
    /// Rows that are expected to be there.
    pub(crate) kept: Vec<(Vec<u8>, Document)>,
    /// Rows of which nothing is expected.
    pub(crate) put: Vec<(Vec<u8>, Document)>,
    pub(crate) gone: Vec<Vec<u8>>,
    /// Hashes of all keys, in order, with whether the key is written.
    pub(crate) locks: Vec<(i64, bool)>,
    pub(crate) bytes: usize,
}

impl Encoded {
    /// Encodes a batch. Stores in several schemas of a database have several seeds.
    pub(crate) fn new(batch: &Batch, numbers: &Numbers, seed: u64) -> Self {
        let judged: Vec<_> =
            batch.expectations().map(|(key, of)| (numbers.bytes(key), number_of(of))).collect();
        let mut locks: BTreeMap<i64, bool> =
            judged.iter().map(|(key, _)| (lock(key, seed), false)).collect();
        let expected: HashMap<&Key, Expected> =
            batch.preconditions.iter().map(|of| (&of.key, of.expected)).collect();
        let mut encoded = Self {
            judged,
            new: Vec::new(),
            kept: Vec::new(),
            put: Vec::new(),
            gone: Vec::new(),
            locks: Vec::new(),
            bytes: batch.changes.iter().map(Change::bytes).sum(),
        };
        for change in &batch.changes {
            let key = numbers.bytes(change.key());
            locks.insert(lock(&key, seed), true);
            match (change, expected.get(change.key())) {
                (Change::Delete(_), _) => encoded.gone.push(key),
                (Change::Insert(_, document), _)
                | (Change::Put(_, document), Some(Expected::Absent)) => {
                    encoded.new.push((key, document.clone()));
                }
                (Change::Put(_, document), Some(Expected::Version(_))) => {
                    encoded.kept.push((key, document.clone()));
                }
                (Change::Put(_, document), None) => encoded.put.push((key, document.clone())),
            }
        }
        encoded.sort();
        Self { locks: locks.into_iter().collect(), ..encoded }
    }

    /// Brings writes into one order for all, so that none wait for each other in a circle.
    fn sort(&mut self) {
        for rows in [&mut self.new, &mut self.kept, &mut self.put] {
            rows.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        }
        self.gone.sort_unstable();
    }

    /// Returns how many items it brings to a call.
    pub(crate) fn items(&self) -> usize {
        let written = [self.new.len(), self.kept.len(), self.put.len(), self.gone.len()];
        written.iter().sum::<usize>().saturating_add(self.judged.len())
    }
}

/// Returns the lock of a key; that of the whole store has no bytes.
pub(crate) fn lock(key: &[u8], seed: u64) -> i64 {
    xxh3_64_with_seed(key, seed).cast_signed()
}

/// Returns the number that an expected row has as version; none where none is expected.
pub(crate) fn number_of(expected: Expected) -> Option<i64> {
    match expected {
        Expected::Absent => None,
        Expected::Version(version) => Some(version.number().cast_signed()),
    }
}

pub(crate) fn version(number: i64) -> Version {
    Version::new(number.cast_unsigned())
}
