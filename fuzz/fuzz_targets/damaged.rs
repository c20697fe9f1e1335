//! Any bytes, as what a store gives back for rows that it was given: a request is answered in a bounded
//! number of calls, and without a panic.

#![no_main]

use accrue_tests::served::Damaged;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static TARGET: Damaged = Damaged::default();
}

fuzz_target!(|bytes: &[u8]| TARGET.with(|target| target.run(bytes)));
