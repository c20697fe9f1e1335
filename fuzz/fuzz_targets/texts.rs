//! Any bytes, as the text of a value, a query, a cursor, an API key or a document: none makes a parser
//! panic, and what is read is written as what is read again.

#![no_main]

use accrue_tests::texts::Target;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static TARGET: Target = Target::default();
}

fuzz_target!(|bytes: &[u8]| TARGET.with(|target| target.run(bytes)));
