//! Any bytes, as requests to the adapter: it answers in bounded time and never panics.

#![no_main]

use std::cell::RefCell;

use accrue_tests::requests::Target;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static TARGET: RefCell<Target> = RefCell::default();
}

fuzz_target!(|bytes: &[u8]| TARGET.with_borrow_mut(|target| target.run(bytes)));
