//! Whatever is said as an expression parses or does not: what a fuzzer kept, and random texts.

use std::{fs, path::Path};

use accrue::expression::{ComputedProperty, Expression};
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

/// The page of the language, and the sources that have its grammar in their documentation.
const PAGE: &str = include_str!("../../../docs/expressions.md");
const SOURCES: [&str; 2] = [
    include_str!("../../../crates/accrue/src/expression.rs"),
    include_str!("../../../crates/accrue/src/metric/query.rs"),
];

/// The blocks of a language in a text.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&*fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_grammar_of_the_page_is_that_of_the_sources() {
    let documented = SOURCES.map(|source| {
        let lines = source.lines().filter_map(|line| {
            line.strip_prefix("//!")
                .or(line.strip_prefix("///"))
                .map(|text| text.trim_start_matches(' '))
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let documented = documented.each_ref().map(|text| blocks(text, "ebnf").concat()).concat();
    let of_page = blocks(PAGE, "ebnf").concat();
    let of_page: Vec<_> = of_page.lines().map(str::trim_start).collect();
    assert_eq!(of_page.join("\n"), documented.trim_end());
}

#[test]
fn the_examples_of_the_page_are_expressions() {
    let [examples] = blocks(PAGE, "sql")[..] else { panic!("one block of examples") };
    for example in examples.lines() {
        ComputedProperty::parse(example).unwrap_or_else(|error| panic!("{example}: {error}"));
    }
    let [wrong] = blocks(PAGE, "text")[..] else { panic!("one error") };
    let error = Expression::parse("region = 'eu' plan").unwrap_err().to_string();
    assert_eq!(wrong.trim_end(), error);
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
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "coalesce(",
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
