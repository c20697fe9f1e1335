//! Reading rows by key (store 1).

use accrue::{
    limits,
    store::{Batch, Key, Table},
};

use crate::{
    Harness,
    fixtures::{TABLE, document, key, number, numbered, numbered_keys},
    subject::Subject,
};

/// Asking for nothing gives nothing.
pub fn get_of_no_keys_is_empty(harness: &dyn Harness) {
    let store = Subject::open(harness);
    assert_eq!(store.get(&[]), []);
    store.committed(Batch::new().put(key("a"), document(1)));
    assert_eq!(store.get(&[]), []);
}

/// An absent row has a place in the answer, before and after there are others.
pub fn get_answers_nothing_for_absent_rows(harness: &dyn Harness) {
    let store = Subject::open(harness);
    assert_eq!(store.get(&[key("a"), key("b")]), [None, None]);
    store.committed(Batch::new().put(key("b"), document(1)));
    let found = store.get(&[key("a"), key("b"), key("c")]);
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
}

/// One result per key, in the order asked, whatever the order of the keys.
pub fn get_answers_in_the_order_asked(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let names = ["d", "b", "e", "a", "c"];
    let put = |batch: Batch, (at, name): (usize, &&str)| batch.put(key(name), document(at));
    store.committed(names.iter().enumerate().fold(Batch::new(), put));

    let found = store.get(&names.map(key));
    assert_eq!(found.iter().flatten().map(number).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let found = store.get(&["a", "c", "b"].map(key));
    assert_eq!(found.iter().flatten().map(number).collect::<Vec<_>>(), [3, 4, 1]);
}

/// A key that is asked for more than once is answered each time.
pub fn get_answers_a_repeated_key_each_time(harness: &dyn Harness) {
    let store = Subject::open(harness);
    store.committed(Batch::new().put(key("a"), document(1)).put(key("b"), document(2)));

    let found = store.get(&["a", "b", "a", "x", "a", "x"].map(key));
    let numbers: Vec<_> = found.iter().map(|row| row.as_ref().map(number)).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(1), None, Some(1), None]);
}

/// More keys than a naive statement has parameters.
pub fn get_takes_many_keys(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let present = 1_000;
    let put = |batch: Batch, at| batch.put(numbered(at), document(at));
    store.committed((0..present).fold(Batch::new(), put));

    let found = store.get(&numbered_keys(limits::COMMIT_PRECONDITIONS));
    for (at, row) in found.iter().enumerate() {
        assert_eq!(row.as_ref().map(number), (at < present).then_some(at));
    }
}

/// A get begun after a commit was answered sees that commit.
pub fn get_sees_the_last_commit(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (kept, other) = (key("kept"), key("other"));
    for round in 0..20 {
        store.committed(Batch::new().put(kept.clone(), document(round)));
        assert_eq!(store.row(&kept).as_ref().map(number), Some(round));
        store.committed(Batch::new().put(other.clone(), document(round)));
        assert_eq!(store.row(&other).as_ref().map(number), Some(round));
        store.committed(Batch::new().delete(other.clone()));
        assert_eq!(store.row(&other), None);
    }
}

/// A key is its table and all of its bytes: nothing is trimmed, folded or cut.
pub fn get_tells_similar_keys_apart(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let keys = similar_keys();
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(store.row(key), None, "{key} was not written yet");
        store.committed(Batch::new().put(key.clone(), document(at)));
    }
    let found = store.get(&keys);
    assert_eq!(
        found.iter().flatten().map(number).collect::<Vec<_>>(),
        (0..keys.len()).collect::<Vec<_>>()
    );
}

fn similar_keys() -> Vec<Key> {
    let mut keys: Vec<Key> = [
        &b""[..],
        b"\x00",
        b"\x00\x00",
        b"\xFF",
        b"\xFF\xFF",
        b"a",
        b"A",
        b"a\x00",
        b"a\x00b",
        b"a ",
        b" a",
        b"a%",
        b"a_",
        b"a'",
        b"a\\",
        b"ab",
        b"\xC3\xA9",
        b"e\xCC\x81",
        b"1",
        b"01",
    ]
    .map(key)
    .into();
    let longest = |last: u8| key([vec![b'k'; limits::KEY_BYTES - 1], vec![last]].concat());
    keys.extend([longest(0), longest(1), longest(0xFF)]);
    keys.push(key(vec![b'k'; limits::KEY_BYTES - 1]));
    let tables = ["a", "aa", "a_b", "ro", "row_", "rows"].map(Table::new);
    keys.extend(tables.map(|table| Key::new(table, *b"a")));
    keys.push(Key::new(Table::new("a"), *b"aa"));
    keys.push(Key::new(Table::new("aa"), *b""));
    keys.push(Key::new(Table::new("a"), TABLE.name().as_bytes()));
    keys
}
