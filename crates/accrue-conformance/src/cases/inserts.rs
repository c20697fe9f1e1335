//! Inserts: changes that expect that there is no row (store 3).

use accrue::store::{Batch, Expected, Key};

use crate::{
    Durability, Harness,
    fixtures::{assert_same, document, key, number},
    subject::Subject,
};

/// An insert writes a row where there is none, also where there was one, and never writes over one.
pub fn an_insert_writes_only_where_there_is_no_row(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let version = store.committed(insert(&a, 1));
    let row = store.present(&a);
    assert_eq!((number(&row), row.version), (1, version));
    store.conflicts_at(&a, insert(&a, 2));
    assert_same(&[store.row(&a)], &[Some(row)]);
    store.committed(Batch::new().put(a.clone(), document(3)));
    store.conflicts_at(&a, insert(&a, 4));
    store.committed(Batch::new().delete(a.clone()));
    store.committed(insert(&a, 5));
    assert_eq!(number(&store.present(&a)), 5);
}

/// An insert that finds a row is a conflict of its whole batch: nothing is applied, and nothing is
/// left out.
pub fn a_conflict_of_an_insert_applies_nothing(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let keys = ["a", "b", "c", "d"].map(key);
    let [a, b, c, d] = &keys;
    store.committed(Batch::new().put(b.clone(), document(1)).put(d.clone(), document(1)));
    let before = store.get(&keys);

    let around = |taken: &Key| {
        let batch = Batch::new().insert(a.clone(), document(2)).delete(d.clone());
        batch.insert(taken.clone(), document(2)).put(c.clone(), document(2))
    };
    store.conflicts_at(b, around(b));
    assert_same(&store.get(&keys), &before);
    store.committed(around(&key("free")));
    assert_eq!(store.get(&keys).iter().flatten().count(), 3);
}

/// Inserts are judged behind the preconditions, in the order of the changes: the conflict names the
/// first that failed.
pub fn inserts_are_judged_behind_the_preconditions(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let [a, b, c, z] = ["a", "b", "c", "z"].map(key);
    let put = |batch: Batch, key: &Key| batch.put(key.clone(), document(1));
    store.committed([&a, &b, &c].into_iter().fold(Batch::new(), put));

    let both = |first: &Key, then: &Key| {
        let batch = Batch::new().insert(z.clone(), document(2)).insert(first.clone(), document(2));
        batch.put(key("y"), document(2)).insert(then.clone(), document(2))
    };
    store.conflicts_at(&a, both(&a, &b));
    store.conflicts_at(&b, both(&b, &a));
    store.conflicts_at(&c, both(&a, &b).expect(c.clone(), Expected::Absent));
    store.conflicts_at(&b, both(&b, &a).expect(z.clone(), Expected::Absent));
    assert_eq!(store.row(&z), None);
}

/// The key of an insert may be named by preconditions too: each is judged for itself.
pub fn an_insert_is_judged_beside_preconditions_of_its_key(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let old = store.committed(insert(&a, 1).expect(a.clone(), Expected::Absent));
    let holds = || insert(&a, 2).expect(a.clone(), Expected::Version(old));
    store.conflicts_at(&a, holds());
    store.committed(Batch::new().delete(a.clone()));
    store.conflicts_at(&a, holds());
    assert_eq!(store.row(&a), None);
}

/// What was inserted before the close is there, and is not inserted again.
pub fn inserts_outlive_reopening(harness: &dyn Harness) {
    let Durability::Durable = harness.durability() else { return };
    let store = Subject::open(harness);
    let (a, b) = (key("a"), key("b"));
    store.committed(insert(&a, 1));
    store.committed(insert(&b, 1));
    store.committed(Batch::new().delete(b.clone()));
    let store = store.reopen();
    store.conflicts_at(&a, insert(&b, 2).insert(a.clone(), document(2)));
    assert_eq!(number(&store.present(&a)), 1);
    store.committed(insert(&b, 2));
    assert_eq!(number(&store.reopen().present(&b)), 2);
}

fn insert(key: &Key, number: usize) -> Batch {
    Batch::new().insert(key.clone(), document(number))
}
