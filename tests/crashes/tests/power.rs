//! What the model of a power cut leaves of a few changes.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use accrue_crash_tests::power::{Uncovered, cut};

/// Takes the steps, cuts the power, and tells what is there: `a=text`, and `a/` for a folder.
fn left(flushes: &str, steps: &[&str], uncovered: Uncovered, seed: u64) -> String {
    let own = tempfile::tempdir().unwrap();
    let (folder, notes) = (own.path().join("folder"), own.path().join("notes"));
    fs::create_dir(&folder).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_crash-worker"))
        .arg("script")
        .args([&folder, &notes])
        .arg(flushes)
        .args(steps)
        .status()
        .unwrap();
    assert!(status.success());
    cut(&folder, &notes, uncovered, seed).unwrap();
    listed(&folder)
}

fn listed(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries: BTreeSet<String> = entries
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                return format!("{name}/");
            }
            format!("{name}={}", String::from_utf8(fs::read(path).unwrap()).unwrap())
        })
        .collect();
    entries.into_iter().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(steps: &str, expect: &str) {
    let steps: Vec<_> = steps.split(' ').collect();
    assert_eq!(left("flushes", &steps, Uncovered::Lost, 1), expect, "{steps:?}");
}

#[test]
fn a_file_needs_a_flush_and_its_name_that_of_the_folder() {
    check("a=x", "");
    check("a=x a!", "");
    check("a=x !", "a=");
    check("a=x a! !", "a=x");
    check("a=x ! a!", "a=x");
    check("d/", "");
    check("d/ !", "d/");
}

#[test]
fn what_is_written_after_a_flush_is_lost() {
    check("a=x a! ! a+y", "a=x");
    check("a=x a! ! a+y a! a+z", "a=xy");
    check("a=abc a! ! a=xy a=z", "a=abc");
    check("a=abc a! ! a#1", "a=abc");
    check("a=abc a! ! a#1 a+z", "a=abc");
    check("a=abc a! ! a#1 a! a+z", "a=a");
    check("a=abc a! ! a#9", "a=abc");
    check("a=x b=y a! ! a+x b+y b!", "a=x b=yy");
}

#[test]
fn a_name_that_is_moved_or_removed_comes_back() {
    check("a=x a! ! a>b", "a=x");
    check("a=x a! ! a>b !", "b=x");
    check("a=x a! b=y b! ! a>b", "a=x b=y");
    check("a=x a! b=y b! ! a>b !", "b=x");
    check("a=x a! ! a>b b>c", "a=x");
    check("a=x a! ! a-", "a=x");
    check("a=x a! ! a- !", "");
    check("a=x a! ! a+y a-", "a=x");
    check("a=x a! ! a- a=y a!", "a=x");
    // What is moved without a flush of the file has its new name and nothing in it.
    check("a=x a>b !", "b=");
}

#[test]
fn flushes_can_be_for_nothing() {
    assert_eq!(left("none", &["a=x", "a!", "!"], Uncovered::Lost, 1), "");
}

#[test]
fn the_first_few_changes_can_be_there() {
    let steps = ["a=x", "a!", "!", "a+1", "a+2", "a>b"];
    let found: BTreeSet<_> =
        (0..40).map(|seed| left("flushes", &steps, Uncovered::Begun, seed)).collect();
    assert_eq!(found, ["a=x", "a=x1", "a=x12", "b=x12"].map(str::to_owned).into());
}

#[test]
fn pages_can_be_there_in_any_order() {
    const PAGE: usize = 4096;
    let [old, new] = ["o", "n"].map(|text| text.repeat(2 * PAGE));
    let steps = [&format!("a={old}"), "a!", "!", &format!("a={new}")];
    let pages = |left: String| {
        let text = left.strip_prefix("a=").unwrap();
        let (first, second) = text.split_at(PAGE);
        for page in [first, second] {
            assert!(page == &old[..PAGE] || page == &new[..PAGE], "half a page");
        }
        (first.starts_with('n'), second.starts_with('n'))
    };
    let found: BTreeSet<_> =
        (0..40).map(|seed| pages(left("flushes", &steps, Uncovered::Torn, seed))).collect();
    assert_eq!(found.len(), 4, "{found:?}");
}
