//! Whatever is said as a value is one or is not: what a fuzzer kept, and random texts.

use std::{fs, path::Path};

use accrue_tests::texts::Target;
use proptest::prelude::*;

#[test]
fn what_a_fuzzer_kept_is_a_value_or_is_none() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/texts");
    let (target, mut inputs) = (Target::default(), 0);
    for entry in fs::read_dir(corpus).unwrap() {
        target.run(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "there is no corpus");
}

proptest! {
    #![proptest_config(accrue_tests::cases(300))]

    #[test]
    fn any_text_is_a_value_or_is_none(text in prop_oneof![
        any::<String>(),
        "-?[0-9]{0,30}(\\.[0-9]{0,30})?(e[+-]?[0-9]{1,3})?",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,12})?)?(Z|[+-][0-9:]{2,6})?",
        "20[0-9]{2}-0[1-9]-[12][0-9][T ][01][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?(Z|[+-]0[0-9]:[0-5][0-9])",
        "SELECT (count|sum|min|max|latest)\\((\\*|n|DISTINCT n|\"a b\")\\) FROM events( WHERE n [<>=]{1,2} [0-9]{1,3})?;?",
        "[A-Za-z_/+-]{1,30}",
        "accrue_[a-z0-9_]{0,80}",
        "[A-Za-z0-9_-]{0,120}",
        r#"\{"idempotency_key":"[a-z]{0,2}","event_name":"e","timestamp":"2026-03-10T1[0-9]:00:00(\.[0-9]{1,7})?Z","properties":\{"n":(-?[0-9]{1,20}(\.[0-9]{1,9})?(e-?[0-9]{1,3})?|"[ -~]{0,8}"|null|true|\[\])\},"(external_)?customer_id":"[a-z]{0,2}"\}"#,
        r#"[\x00-\x7f]{8}\{"v":1,"[a-z]{0,3}":[0-9e.-]{0,9}\}"#,
    ]) {
        Target::default().run(text.as_bytes());
    }
}
