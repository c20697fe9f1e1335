//! Scans compared with an ordered map.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::collections::BTreeMap;

use accrue::store::{Batch, Document, Key, Order, Scan, Store, Table};
use accrue_fjall::FjallStore;
use pollster::block_on;
use proptest::{prelude::*, test_runner::Config};

const TABLE: Table = Table::new("item");
const NEIGHBOURS: [Table; 3] = [Table::new("ite"), Table::new("item_"), Table::new("itemm")];

fn document(number: usize) -> Document {
    Document::parse(format!(r#"{{"v":1,"number":{number}}}"#)).unwrap()
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(vec![0x00, 0x01, 0x04, 0x05, 0xFD, 0xFE, 0xFF, 0xFF, 0xFF]);
    prop::collection::vec(byte, 0..9)
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_scan_is_a_range_of_an_ordered_map(
        (rows, deleted) in prop::collection::btree_set(keys(), 1..300).prop_flat_map(|rows| {
            let some = prop::sample::subsequence(rows.iter().cloned().collect::<Vec<_>>(), 0..=rows.len());
            (Just(rows), some.prop_shuffle())
        }),
        scans in prop::collection::vec((keys(), prop::option::of(keys()), any::<bool>(), 1..40_usize), 40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = FjallStore::open(folder.path()).unwrap();
        let mut oracle = BTreeMap::new();
        let mut batch = Batch::new();
        for (number, bytes) in rows.into_iter().enumerate() {
            let document = document(number);
            for table in NEIGHBOURS {
                batch = batch.put(Key::new(table, bytes.as_slice()), document.clone());
            }
            batch = batch.put(Key::new(TABLE, bytes.as_slice()), document.clone());
            oracle.insert(bytes, document);
        }
        block_on(store.commit(batch)).unwrap();
        for bytes in deleted.iter().filter(|bytes| oracle.remove(*bytes).is_some()) {
            block_on(store.commit(Batch::new().delete(Key::new(TABLE, bytes.as_slice())))).unwrap();
        }

        for (from, until, descending, limit) in scans {
            let scan = Scan {
                table: TABLE,
                from: from.into(),
                until: until.map(Into::into),
                order: if descending { Order::Descending } else { Order::Ascending },
                limit,
            };
            let range = scan.bounds().map(|bounds| oracle.range::<[u8], _>(bounds));
            let mut expected: Vec<_> = range.into_iter().flatten().collect();
            if descending {
                expected.reverse();
            }
            expected.truncate(limit);
            let found = block_on(store.scan(&scan)).unwrap();
            let found: Vec<_> = found.iter().map(|row| (row.key.bytes(), &row.document)).collect();
            let expected: Vec<_> = expected.iter().map(|(key, row)| (key.as_slice(), *row)).collect();
            prop_assert_eq!(found, expected, "{:?}", scan);
        }
    }
}
