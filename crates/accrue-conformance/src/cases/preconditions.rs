//! Judging preconditions (store 3).

use accrue::store::{Batch, Commit, Expected, Key, Version};

use crate::{
    Harness,
    fixtures::{assert_same, document, key, number},
    subject::Subject,
};

/// `Absent` holds without a row, fails with one, and holds again after deletion.
pub fn absent_holds_only_without_a_row(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let insert = |number| insert(&a, number);

    store.committed(insert(1));
    store.conflicts_at(&a, insert(2));
    assert_eq!(number(&store.present(&a)), 1);
    store.committed(Batch::new().delete(a.clone()));
    store.committed(insert(3));
    assert_eq!(number(&store.present(&a)), 3);
}

/// A version holds while the row has it, and fails once the row has another.
pub fn a_version_holds_only_while_the_row_has_it(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let first = store.committed(insert(&a, 1));
    let second = store.committed(update(&a, first, 2));
    store.conflicts_at(&a, update(&a, first, 3));
    assert_eq!(number(&store.present(&a)), 2);
    let third = store.committed(update(&a, second, 4));
    store.conflicts_at(&a, update(&a, first, 5));
    store.conflicts_at(&a, update(&a, second, 5));
    store.committed(Batch::new().expect(a.clone(), Expected::Version(third)).delete(a.clone()));
    assert_eq!(store.row(&a), None);
}

/// No version holds where there is no row.
pub fn a_version_does_not_hold_of_a_deleted_row(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, never) = (key("a"), key("never"));
    let version = store.committed(insert(&a, 1));
    store.committed(Batch::new().delete(a.clone()));

    store.conflicts_at(&a, update(&a, version, 2));
    store.conflicts_at(&never, update(&never, version, 2));
    assert_eq!(store.get(&[a, never]), [None, None]);
}

/// The conflict names the first failed precondition in the order given, not the first by key, by
/// kind or by change.
pub fn a_conflict_names_the_first_failed_precondition(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b, c, d) = (key("a"), key("b"), key("c"), key("d"));
    let old = store.committed(Batch::new().put(a.clone(), document(1)).put(c.clone(), document(1)));
    let new = store.committed(Batch::new().put(a.clone(), document(2)).put(d.clone(), document(2)));

    let holds = [
        (a.clone(), Expected::Version(new)),
        (b.clone(), Expected::Absent),
        (c.clone(), Expected::Version(old)),
    ];
    let fails = [
        (d.clone(), Expected::Absent),
        (a, Expected::Version(old)),
        (b, Expected::Version(old)),
        (c, Expected::Absent),
    ];
    for order in permutations(&fails) {
        let (first, _) = order.first().expect("each permutation has every precondition");
        let expect =
            |batch: Batch, (key, expected): &(Key, Expected)| batch.expect(key.clone(), *expected);
        let failing = order.iter().fold(Batch::new(), expect);
        store.conflicts_at(first, failing);
        let between = holds.iter().chain(&order).chain(&holds).fold(Batch::new(), expect);
        store.conflicts_at(first, between.put(key("z"), document(3)).delete(d.clone()));
    }
}

/// Where a precondition fails, no change is applied: not before it, not after it.
pub fn a_conflict_applies_nothing(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b, c) = (key("a"), key("b"), key("c"));
    store.committed(Batch::new().put(a.clone(), document(1)).put(b.clone(), document(1)));
    let keys = [a.clone(), b.clone(), c.clone()];
    let before = store.get(&keys);

    let changes = || Batch::new().put(a.clone(), document(2)).delete(b.clone());
    store.conflicts_at(
        &a,
        changes().put(c.clone(), document(2)).expect(a.clone(), Expected::Absent),
    );
    assert_same(&store.get(&keys), &before);
    let batch = changes().expect(c.clone(), Expected::Absent).expect(b.clone(), Expected::Absent);
    store.conflicts_at(&b, batch);
    assert_same(&store.get(&keys), &before);
}

/// Preconditions speak of the state that the changes apply to, not of the one that they make.
pub fn preconditions_are_judged_before_the_changes(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b) = (key("a"), key("b"));
    let version = store.committed(insert(&a, 1));

    let batch = Batch::new().put(b.clone(), document(2)).delete(a.clone());
    let batch =
        batch.expect(b.clone(), Expected::Absent).expect(a.clone(), Expected::Version(version));
    store.committed(batch);
    assert_eq!(store.row(&a), None);
    assert_eq!(number(&store.present(&b)), 2);
    store.conflicts_at(&b, Batch::new().delete(b.clone()).expect(b.clone(), Expected::Absent));
}

/// A key may be named by several preconditions; each of them counts.
pub fn preconditions_of_one_key_are_all_judged(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let version = store.committed(insert(&a, 1));
    let (holds, fails) = (Expected::Version(version), Expected::Absent);
    let twice = |first, second| {
        Batch::new().expect(a.clone(), first).expect(a.clone(), second).put(a.clone(), document(2))
    };

    store.conflicts_at(&a, twice(fails, holds));
    store.conflicts_at(&a, twice(holds, fails));
    assert_eq!(number(&store.present(&a)), 1);
    store.committed(twice(holds, holds));
    assert_eq!(number(&store.present(&a)), 2);
}

/// A batch without changes answers whether its preconditions hold.
pub fn a_check_is_judged_like_a_commit(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b) = (key("a"), key("b"));
    let check = |key: &Key, expected| Batch::new().expect(key.clone(), expected);

    store.committed(Batch::new());
    store.committed(check(&a, Expected::Absent));
    let old = store.committed(insert(&a, 1));
    let new = store.committed(update(&a, old, 2));
    store.committed(check(&a, Expected::Version(new)).expect(b.clone(), Expected::Absent));
    store.conflicts_at(&a, check(&a, Expected::Version(old)));
    store.conflicts_at(&a, check(&a, Expected::Absent));
    store.conflicts_at(
        &b,
        check(&a, Expected::Version(new)).expect(b.clone(), Expected::Version(new)),
    );
}

/// A batch without changes leaves every row with the version that it had.
pub fn a_check_makes_no_version(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b, c) = (key("a"), key("b"), key("c"));
    let version =
        store.committed(Batch::new().put(a.clone(), document(1)).put(b.clone(), document(1)));
    let keys = [a.clone(), b.clone(), c.clone()];
    let before = store.get(&keys);

    let holds = Expected::Version(version);
    store.committed(Batch::new().expect(a.clone(), holds).expect(c, Expected::Absent));
    store.committed(Batch::new());
    store.conflicts_at(
        &b,
        Batch::new().expect(a.clone(), holds).expect(b.clone(), Expected::Absent),
    );
    assert_same(&store.get(&keys), &before);
    assert!(matches!(store.commit(update(&a, version, 2)), Commit::Committed(_)));
}

fn insert(key: &Key, number: usize) -> Batch {
    Batch::new().expect(key.clone(), Expected::Absent).put(key.clone(), document(number))
}

fn update(key: &Key, version: Version, number: usize) -> Batch {
    let batch = Batch::new().expect(key.clone(), Expected::Version(version));
    batch.put(key.clone(), document(number))
}

fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for (at, first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(at);
        orders.extend(permutations(&rest).into_iter().map(|mut order| {
            order.insert(0, first.clone());
            order
        }));
    }
    orders
}
