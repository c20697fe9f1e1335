//! The program, without valgrind: what does not depend on the build is held to the table here too.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

use std::{
    path::Path,
    process::{Command, Output},
};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/budgets.md");
const TABLE_OF_TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests.md");

fn run(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_accrue-budgets");
    Command::new(program).args(arguments).output().expect("the program starts")
}

/// Checks a page that differs from the table, and returns what is said of it.
fn complaint(change: impl FnOnce(String) -> String) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let changed = folder.path().join("budgets.md");
    let page = std::fs::read_to_string(TABLE).expect("the table");
    std::fs::write(&changed, change(page)).expect("a file");
    let only =
        ["--check", "--counts", "--only", "keyed event, replayed", "--table", text(&changed)];
    let output = run(&only);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).expect("text")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn rows_bytes_and_calls_are_within_their_budgets() {
    for table in [TABLE, TABLE_OF_TESTS] {
        let output = run(&["--check", "--counts", "--table", table]);
        let said = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{complaints}");
        let parts = ["batch of 500", "keyed event, cold", "over HTTP", "bare handler", "  budget"];
        for measured in parts {
            assert!(said.contains(measured), "{measured} is not in {said}");
        }
    }
}

#[test]
fn a_table_of_another_build_is_refused() {
    let other = if cfg!(debug_assertions) { TABLE } else { TABLE_OF_TESTS };
    let output = run(&["--check", "--table", other]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("of another build"), "{said}");
}

#[test]
fn what_is_off_is_named() {
    let name = "| keyed event, replayed ";
    let said = complaint(|page| {
        let lines = page.lines().map(|line| match line.strip_suffix("|           2 |") {
            Some(start) if line.starts_with(name) => format!("{start}|           4 |\n"),
            _ => format!("{line}\n"),
        });
        lines.collect()
    });
    assert!(
        said.contains("keyed event, replayed: store calls: budget 4, found 2, 50.0 % less"),
        "{said}"
    );
    assert!(said.contains("--bless"), "{said}");
}

#[test]
fn a_table_that_was_changed_by_hand_is_refused() {
    let said = complaint(|page| page.replace("a call of  ", "a call of "));
    assert!(said.contains("changed by hand"), "{said}");
}
