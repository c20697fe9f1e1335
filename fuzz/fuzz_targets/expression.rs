//! Any bytes, as the text of an expression: parsing and evaluating never panic, and what parses is
//! displayed as what parses again.

#![no_main]

use accrue_tests::expressions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| expressions::run(bytes));
