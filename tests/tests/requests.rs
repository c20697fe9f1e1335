//! The adapter answers whatever is sent: what a fuzzer kept, and random bytes.

use std::{fs, path::Path};

use accrue_tests::requests::Target;
use proptest::prelude::*;

#[test]
fn what_a_fuzzer_kept_is_answered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/handle");
    let mut target = Target::default();
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        target.run(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "there is no corpus");
}

proptest! {
    #[test]
    fn any_bytes_are_answered(inputs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..20)) {
        let mut target = Target::default();
        for input in inputs {
            target.run(&input);
        }
    }
}
