//! Reading ranges of one table (store 5).

use accrue::{
    limits,
    store::{Batch, Key, Scan, Table},
};

use crate::{
    Harness,
    fixtures::{TABLE, assert_same, document, key, numbered, numbered_keys},
    subject::Subject,
};

/// Keys as a map of signed bytes, of text or of lengths would not order them, in their order.
const AWKWARD: [&[u8]; 16] = [
    b"",
    b"\x00",
    b"\x00\x00",
    b"\x00\x01",
    b"\x01",
    b"0",
    b"10",
    b"9",
    b"A",
    b"Z\xFF",
    b"a",
    b"a\x00",
    b"aa",
    b"\x7F\xFF",
    b"\x80",
    b"\xFF\xFF",
];

/// Rows come in unsigned byte order of their keys, a key before those that it begins.
pub fn scan_is_in_unsigned_byte_order(harness: &dyn Harness) {
    let store = with_rows(harness, &AWKWARD.map(key));
    assert_eq!(store.scan_keys(&whole(TABLE)), AWKWARD.map(key));
}

/// A descending scan is the same rows from the other end.
pub fn scan_backwards_is_the_reverse(harness: &dyn Harness) {
    let store = with_rows(harness, &AWKWARD.map(key));
    let mut expected = AWKWARD.map(key);
    expected.reverse();
    assert_eq!(store.scan_keys(&whole(TABLE).descending()), expected);
}

/// The first key of a range is in it, the key that ends it is not, in both directions and whether
/// or not there are such rows.
pub fn scan_bounds_are_half_open(harness: &dyn Harness) {
    let store = with_rows(harness, &["b", "d", "f"].map(key));
    let check = |from: &str, until: &str, expected: &[&str]| {
        let scan = Scan::range(TABLE, from.as_bytes(), until.as_bytes(), 10);
        let mut expected: Vec<_> = expected.iter().map(key).collect();
        assert_eq!(store.scan_keys(&scan), expected, "from {from:?} until {until:?}");
        expected.reverse();
        assert_eq!(store.scan_keys(&scan.descending()), expected, "from {from:?} until {until:?}");
    };
    check("b", "d", &["b"]);
    check("b", "d\0", &["b", "d"]);
    check("b\0", "f", &["d"]);
    check("a", "z", &["b", "d", "f"]);
    check("", "b", &[]);
    check("c", "e", &["d"]);
    check("d", "e", &["d"]);
    check("f", "g", &["f"]);
    check("f\0", "g", &[]);
}

/// A range that ends where it begins, or before, has no rows, and is no error.
pub fn scan_of_an_empty_range_is_empty(harness: &dyn Harness) {
    let store = with_rows(harness, &["", "b", "d", "f"].map(key));
    for (from, until) in [("b", "b"), ("d", "b"), ("", ""), ("z", ""), ("g", "z"), ("b\0", "d")] {
        let scan = Scan::range(TABLE, from.as_bytes(), until.as_bytes(), 10);
        assert_eq!(store.scan_keys(&scan), [], "from {from:?} until {until:?}");
        assert_eq!(store.scan_keys(&scan.descending()), [], "from {from:?} until {until:?}");
    }
    let nowhere = Table::new("nowhere");
    assert_eq!(store.scan_keys(&whole(nowhere)), []);
    assert_eq!(store.scan_keys(&whole(nowhere).descending()), []);
}

/// A prefix takes the keys that begin with it and no other, where it ends in `0xFF` too.
pub fn scan_of_a_prefix_is_exact(harness: &dyn Harness) {
    let store = with_rows(harness, &AWKWARD.map(key));
    let prefixes: [&[u8]; 8] =
        [b"", b"\x00", b"a", b"Z", b"Z\xFF", b"\x7F\xFF", b"\xFF", b"\xFF\xFF\xFF"];
    for prefix in prefixes {
        let begin = AWKWARD.into_iter().filter(|bytes| bytes.starts_with(prefix));
        let mut expected: Vec<_> = begin.map(key).collect();
        let scan = Scan::prefix(TABLE, prefix, 100);
        assert_eq!(store.scan_keys(&scan), expected, "{prefix:?}");
        expected.reverse();
        assert_eq!(store.scan_keys(&scan.descending()), expected, "{prefix:?}");
    }
}

/// A scan gives as many rows as it is asked for, and all that there are where they are fewer.
pub fn scan_gives_at_most_its_limit(harness: &dyn Harness) {
    let count = limits::SCAN_ROWS + 1;
    let store = with_rows(harness, &numbered_keys(count));
    for limit in [0, 1, 2, count - 2, count - 1] {
        let scan = Scan { limit, ..whole(TABLE) };
        assert_eq!(store.scan_keys(&scan), numbered_keys(limit));
    }
    let (from, until) = (numbered(5), numbered(8));
    for (limit, expected) in [(0, 0), (2, 2), (3, 3), (4, 3), (limits::SCAN_ROWS, 3)] {
        let scan = Scan::range(TABLE, from.bytes(), until.bytes(), limit);
        assert_eq!(store.scan(&scan).len(), expected, "limit {limit}");
        assert_eq!(store.scan(&scan.descending()).len(), expected, "limit {limit}");
    }
}

/// The limit of a descending scan counts from the greatest key.
pub fn scan_backwards_gives_the_greatest_keys(harness: &dyn Harness) {
    let store = with_rows(harness, &numbered_keys(20));
    let scan = Scan { limit: 2, ..whole(TABLE) }.descending();
    assert_eq!(store.scan_keys(&scan), [numbered(19), numbered(18)]);
    let range = Scan::range(TABLE, numbered(3).bytes(), numbered(9).bytes(), 2).descending();
    assert_eq!(store.scan_keys(&range), [numbered(8), numbered(7)]);
}

/// Pages of every size, each begun after the last key of the one before, give every row once.
pub fn pages_forward_miss_and_repeat_nothing(harness: &dyn Harness) {
    let store = with_rows(harness, &AWKWARD.map(key));
    for size in 1..=AWKWARD.len() {
        assert_eq!(paged(&store, whole(TABLE), size), AWKWARD.map(key), "pages of {size}");
    }
    let ranged = Scan::range(TABLE, b"\x00\x00", b"a\x00", 1);
    assert_eq!(
        paged(&store, ranged, 3),
        AWKWARD.get(2..11).into_iter().flatten().map(key).collect::<Vec<_>>()
    );
}

/// The same from the other end.
pub fn pages_backward_miss_and_repeat_nothing(harness: &dyn Harness) {
    let store = with_rows(harness, &AWKWARD.map(key));
    let mut expected = AWKWARD.map(key);
    expected.reverse();
    for size in 1..=AWKWARD.len() {
        assert_eq!(paged(&store, whole(TABLE).descending(), size), expected, "pages of {size}");
    }
    let ranged = Scan::range(TABLE, b"\x00\x00", b"a\x00", 1).descending();
    let expected: Vec<_> = AWKWARD.get(2..11).into_iter().flatten().rev().map(key).collect();
    assert_eq!(paged(&store, ranged, 3), expected);
}

/// A scan sees its table and no other, though the names and the keys run into each other.
pub fn scan_sees_one_table(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let tables = ["a", "aa", "a_", "a_b", "ab", "b"].map(Table::new);
    let bytes: [&[u8]; 6] = [b"", b"\x00", b"a", b"_", b"b", b"\xFF"];
    for table in tables {
        let put = |batch: Batch, bytes: &&[u8]| batch.put(Key::new(table, *bytes), document(1));
        store.committed(bytes.iter().fold(Batch::new(), put));
    }
    for table in tables {
        let mut expected =
            [&b""[..], b"\x00", b"_", b"a", b"b", b"\xFF"].map(|at| Key::new(table, at));
        assert_eq!(store.scan_keys(&whole(table)), expected);
        assert_eq!(store.scan_keys(&Scan::prefix(table, b"a", 10)), [Key::new(table, *b"a")]);
        expected.reverse();
        assert_eq!(store.scan_keys(&whole(table).descending()), expected);
    }
}

/// Keys of 512 bytes are ordered to their last byte, and pages pass over them: the bound after such
/// a key has 513 bytes.
pub fn scan_takes_the_longest_keys(harness: &dyn Harness) {
    let longest = |last: u8| key([vec![0xFF; limits::KEY_BYTES - 1], vec![last]].concat());
    let shorter = key(vec![0xFF; limits::KEY_BYTES - 1]);
    let mut expected = vec![shorter, longest(0), longest(1), longest(0x80), longest(0xFF)];
    let store = with_rows(harness, &expected);
    assert_eq!(paged(&store, whole(TABLE), 1), expected);
    expected.reverse();
    assert_eq!(paged(&store, whole(TABLE).descending(), 1), expected);
}

/// A scan gives rows with the documents and the versions that a get gives.
pub fn scan_gives_the_rows_that_get_gives(harness: &dyn Harness) {
    let store = Subject::open(harness);
    for at in 0..10 {
        let batch =
            Batch::new().put(numbered(at), document(at)).put(numbered(at + 5), document(at));
        store.committed(batch);
    }
    let scanned: Vec<_> = store.scan(&whole(TABLE)).into_iter().map(Some).collect();
    assert_same(&scanned, &store.get(&numbered_keys(15)));
}

/// A scan begun after a commit was answered sees what it put and what it deleted.
pub fn scan_sees_the_last_commit(harness: &dyn Harness) {
    let store = Subject::open(harness);
    for at in 0..10 {
        let batch =
            Batch::new().put(numbered(at), document(at)).put(numbered(at + 1), document(at));
        let version = store.committed(batch);
        let seen = store.scan(&whole(TABLE));
        assert_eq!(seen.len(), 2);
        assert!(seen.iter().all(|row| row.version == version), "{seen:?} is not of {version:?}");
        store.committed(Batch::new().delete(numbered(at)));
        assert_eq!(store.scan_keys(&whole(TABLE)), [numbered(at + 1)]);
    }
}

fn whole(table: Table) -> Scan {
    Scan::prefix(table, b"", limits::SCAN_ROWS)
}

/// A store with these rows, written last to first.
fn with_rows<'a>(harness: &'a dyn Harness, keys: &[Key]) -> Subject<'a> {
    let store = Subject::open(harness);
    let put = |batch: Batch, key: &Key| batch.put(key.clone(), document(1));
    store.committed(keys.iter().rev().fold(Batch::new(), put));
    store
}

/// The keys of a scan that is read in pages.
fn paged(store: &Subject<'_>, scan: Scan, size: usize) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut page = Scan { limit: size, ..scan };
    loop {
        let found = store.scan_keys(&page);
        assert!(found.len() <= size, "a page of {size} has {} rows", found.len());
        let Some(last) = found.last() else { return keys };
        assert!(!keys.contains(last), "{last} came twice");
        page = page.after(last.bytes());
        keys.extend(found);
    }
}
