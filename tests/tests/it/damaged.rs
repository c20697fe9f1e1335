//! Whatever a store gives back is answered: what a fuzzer kept, and random damage.

use std::{collections::BTreeSet, fs, path::Path, sync::LazyLock};

use accrue::store::{Batch, Document, Row};
use accrue_tests::served::Damaged;
use proptest::prelude::*;

/// After each damage, one of so many requests is sent, and each of them after other damage.
const STRIDE: usize = 101;

#[test]
fn what_a_fuzzer_kept_is_answered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/damaged");
    let (target, mut inputs) = (Damaged::default(), 0);
    for entry in fs::read_dir(corpus).unwrap() {
        target.run(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "there is no corpus");
}

/// Tables whose keys say everything, so that no document of theirs is read.
const UNREAD: &[&str] =
    &["subscription_by_customer", "subscription_by_plan", "subscription_by_time"];

/// Rows of another version are told to be corrupt by some request, or by what time brings after one,
/// whatever table they are of.
#[test]
fn a_table_that_cannot_be_read_is_noticed() {
    let target = Damaged::default();
    // Where only keys say something, documents are not read.
    let says = |row: &&Row| row.document.as_str() != r#"{"v":1}"#;
    let tables: BTreeSet<_> =
        target.rows().iter().filter(says).map(|row| row.key.table()).collect();
    let unreadable = Document::parse(r#"{"v":99}"#).unwrap();
    let mut unnoticed = BTreeSet::new();
    // Who notices one table is likely to notice another, and is asked first.
    let mut cases: Vec<_> = target.cases().iter().collect();
    for table in tables {
        let rows = target.rows().iter().filter(|row| row.key.table() == table);
        let damage = || {
            rows.clone()
                .fold(Batch::new(), |batch, row| batch.put(row.key.clone(), unreadable.clone()))
        };
        match cases.iter().position(|case| target.is_noticed(case, damage())) {
            Some(who) => cases[..=who].rotate_right(1),
            None => {
                unnoticed.insert(table.name());
            }
        }
    }
    assert_eq!(unnoticed, UNREAD.iter().copied().collect());
}

#[test]
fn a_row_that_is_gone_or_empty_is_survived() {
    let target = Damaged::default();
    let mut number = 0_usize;
    for row in target.rows() {
        let empty = Document::parse(r#"{"v":1}"#).unwrap();
        for damage in
            [Batch::new().delete(row.key.clone()), Batch::new().put(row.key.clone(), empty)]
        {
            for case in target.cases() {
                number += 1;
                if number.is_multiple_of(STRIDE) {
                    target.is_noticed(case, damage.clone());
                }
            }
        }
    }
    assert!(number > 0, "nothing is stored");
}

proptest! {
    #![proptest_config(accrue_tests::cases(1_500))]

    #[test]
    fn any_damage_is_survived(input in prop::collection::vec(any::<u8>(), 0..120)) {
        static TARGET: LazyLock<Damaged> = LazyLock::new(Damaged::default);
        TARGET.run(&input);
    }
}
