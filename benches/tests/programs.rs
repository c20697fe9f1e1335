//! The programs work: each runs for a moment and says what it is to say. Their figures mean nothing here.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

use std::{path::Path, process::Command};

/// Runs a program to its end, and returns what it printed.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let said = String::from_utf8(output.stdout).expect("text");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}{complaints}");
    said
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn rates_and_growth_are_measured_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let [rates, growth] = ["rates.json", "growth.json"].map(|name| folder.path().join(name));

    let said = run(env!("CARGO_BIN_EXE_rates"), &["--quick", "--json", text(&rates)]);
    for side in ["append log", "fjall, accrue", "memory, raw", "sled, accrue"] {
        assert!(said.contains(side), "{side} is not in {said}");
    }
    for measured in ["keyed ingest of one event", "batches of 500", "fetch of", "page of 20"] {
        assert!(said.contains(measured), "{measured} is not in {said}");
    }

    let said = run(env!("CARGO_BIN_EXE_growth"), &["fjall", "10000", "--json", text(&growth)]);
    assert!(said.contains("10000"), "{said}");

    let files = ["--rates", text(&rates), "--growth", text(&growth)];
    run(env!("CARGO_BIN_EXE_plots"), &[&[text(folder.path())], &files[..]].concat());
    let drawn = std::fs::read_dir(folder.path()).expect("a folder").filter(|entry| {
        let path = entry.as_ref().expect("a file").path();
        path.extension().is_some_and(|extension| extension == "svg")
            && std::fs::read_to_string(path).expect("text").contains("<svg")
    });
    assert!(drawn.count() > 2);
}

#[test]
fn backfills_are_measured() {
    let arguments = ["memory", "--events", "20000", "--backfill", "1000", "--rounds", "1"];
    let said = run(env!("CARGO_BIN_EXE_backfill"), &arguments);
    assert!(said.contains("ratio"), "{said}");
}

#[test]
fn invoices_are_measured() {
    let said = run(env!("CARGO_BIN_EXE_invoices"), &["memory", "--customers", "150"]);
    assert!(said.contains("       150        150"), "{said}");
}

#[test]
fn migrations_are_measured() {
    let said = run(env!("CARGO_BIN_EXE_migrations"), &["memory", "--subscriptions", "150"]);
    assert!(said.contains("          150       150"), "{said}");
}

#[test]
fn terms_are_measured() {
    let said = run(env!("CARGO_BIN_EXE_terms"), &["memory", "--rounds", "1"]);
    assert!(said.contains("five cadences, ten groups"), "{said}");
}

#[test]
fn deliveries_are_measured() {
    let few = ["--messages", "20", "--rounds", "1", "--waiting", "20", "--events", "5"];
    let said = run(env!("CARGO_BIN_EXE_webhooks"), &[&["memory"], &few[..]].concat());
    assert!(said.contains("20 messages that wait") && said.contains("median"), "{said}");
}
