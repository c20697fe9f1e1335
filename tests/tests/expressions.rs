//! Whatever is said as an expression parses or does not: what a fuzzer kept, and random texts.

use std::{fs, path::Path};

use accrue_tests::expressions;
use proptest::prelude::*;

#[test]
fn what_a_fuzzer_kept_parses_or_does_not() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/expression");
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        expressions::run(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "there is no corpus");
}

/// What expressions are made of, and what they are not.
const WORDS: &[&str] = &[
    "n",
    "region",
    "cached",
    "event_name",
    "timestamp",
    "\"say \"\"hi\"\"\"",
    "größe",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "LIKE",
    "BETWEEN",
    "TRUE",
    "FALSE",
    "(",
    ")",
    ",",
    "=",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "1",
    "-2.5",
    "1e3",
    "'eu'",
    "'it''s'",
    "'2026-03-01T08:00:00Z'",
    "'",
    "\"",
    "--",
    ";",
];

proptest! {
    #[test]
    fn any_bytes_parse_or_do_not(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        expressions::run(&bytes);
    }

    #[test]
    fn any_words_parse_or_do_not(words in prop::collection::vec(prop::sample::select(WORDS), 0..14)) {
        expressions::run(words.join(" ").as_bytes());
    }
}
