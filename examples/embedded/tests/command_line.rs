//! What the command line refuses, and what it says.

use std::{fs, path::Path, process::Command};

/// Runs the example in a folder of its own. Returns whether it succeeded, and its two outputs.
fn embedded(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_embedded"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the example starts");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Checks that a run is refused with an error that says `expect`, and shows nothing.
fn refused(folder: &Path, arguments: &[&str], expect: &str) {
    let (success, stdout, stderr) = embedded(folder, arguments);
    assert!(!success, "{arguments:?}");
    assert_eq!(stdout, "", "{arguments:?}");
    assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    assert!(stderr.contains(expect), "{arguments:?}: {stderr}");
}

/// Checks that a table has a row.
fn shows(stdout: &str, cells: &[&str]) {
    let has = |line: &str| line.split('┆').map(str::trim).eq(cells.iter().copied());
    assert!(stdout.lines().any(has), "{cells:?} in {stdout}");
}

#[test]
fn a_wrong_argument_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expect: &str| refused(folder.path(), arguments, expect);
    let customers = "expected a number from 1 to 100000";
    for count in ["0", "-1", "100001", "8.5", "many", "", "18446744073709551616"] {
        check(&["--customers", count], if count == "-1" { "'-1'" } else { customers });
        check(&[&format!("--customers={count}")], customers);
    }
    for size in ["0", "1001", "1e3", ""] {
        check(&["--batch", size], "expected a number from 1 to 1000");
    }
    for store in ["", "sled", "sled:", "fjall", "fjall:", "Memory", "memory:x", "postgres:x"] {
        check(&["--store", store], "expected `memory`, `fjall:DIR` or `sled:DIR`");
    }
    check(&["--report"], "a value is required");
    check(&["--speed", "1"], "'--speed'");
    check(&["--backfill=18:45"], "unexpected value '18:45'");
    check(&["--backfill", "--backfill"], "cannot be used multiple times");
    check(&["--invoices=2"], "unexpected value '2'");
    check(&["--invoices", "--invoices"], "cannot be used multiple times");
    check(&["--invoices", "2"], "trace 2 cannot be read");
    check(&["a.csv", "b.csv"], "'b.csv'");
    check(&["a.csv", "--backfill", "b.csv"], "'b.csv'");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn the_year_takes_nothing_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let arguments: [&[&str]; 7] = [
        &["t.csv"],
        &["--store", "memory"],
        &["--customers", "8"],
        &["--batch", "500"],
        &["--report", "r.json"],
        &["--backfill"],
        &["--invoices"],
    ];
    for other in arguments {
        let arguments = [&["--year"], other].concat();
        refused(folder.path(), &arguments, "'--year' cannot be used with");
    }
}

#[test]
fn the_year_is_shown_and_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (success, stdout, stderr) = embedded(folder.path(), &["--year"]);
    assert!(success && stderr.is_empty(), "{stderr}");
    let parts = [" of 5 customers in 2026\n", "\nthames, Europe/London\n", "┼", "Jan Feb Mar Apr"];
    for part in parts {
        assert!(stdout.contains(part), "{part} in {stdout}");
    }
    let header = [
        "month",
        "invoices",
        "invoiced",
        "credit notes",
        "credited",
        "payments",
        "paid",
        "open at its end",
    ];
    shows(&stdout, &header);
    let year = ["2026", "58", "3,302.31", "2", "10", "54", "3,137.85", "159.46"];
    shows(&stdout, &year);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_file_that_is_no_trace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |content: &[u8], expect: &str| {
        fs::write(folder.path().join("t.csv"), content).unwrap();
        refused(folder.path(), &["t.csv", "--store", "memory"], expect);
    };
    let header = "TIMESTAMP,ContextTokens,GeneratedTokens";
    let rows = |rows: &str, expect: &str| {
        check(format!("{header}\n{rows}").as_bytes(), expect);
        let windows = format!("{header}\n{rows}").replace('\n', "\r\n");
        check(windows.as_bytes(), expect);
    };
    check(b"", "trace t.csv has no rows, expected a header and at least one row");
    check(b"\n\n", "trace t.csv has no rows");
    rows("", "trace t.csv has no rows");
    check(
        b"time,ContextTokens,GeneratedTokens\n",
        "t.csv, line 1: found the header \"time,ContextTokens,GeneratedTokens\", \
         expected a column TIMESTAMP",
    );
    check(b"TIMESTAMP,GeneratedTokens\n", "expected a column ContextTokens");
    check(b"TIMESTAMP,ContextTokens\n", "expected a column GeneratedTokens");
    check(&[0xff; 8], "t.csv, line 1: found bytes that are not UTF-8");
    let good = "2023-11-16 18:15:46.6805900,374,44";
    rows(&format!("{good}\n{good},1\n"), "line 3: found 4 fields, expected 3 as in the header");
    rows(&format!("{good}\nx\n"), "line 3: found 1 fields, expected 3 as in the header");
    rows(
        "2023-11-16,374,44\n",
        "line 2: column TIMESTAMP: found \"2023-11-16\", \
         expected a date and time like 2023-11-16 18:15:46.6805900",
    );
    for tokens in ["-1", "1.5", "", "18446744073709551616", "1e3"] {
        let expect = format!("found \"{tokens}\", expected a whole number from 0");
        rows(
            &format!("{good}\n2023-11-16 18:15:47,{tokens},44\n"),
            &format!("line 3: column ContextTokens: {expect}"),
        );
        rows(
            &format!("{good}\n2023-11-16 18:15:47,374,{tokens}\n"),
            &format!("line 3: column GeneratedTokens: {expect}"),
        );
    }
    rows(
        &format!("{good}\n{good}\n2023-11-16 18:15:46.6805899,374,44\n"),
        "line 4: column TIMESTAMP: found \"2023-11-16 18:15:46.6805899\", \
         expected 2023-11-16T18:15:46.680590Z or later, as in the row before",
    );
    rows(&format!("{}\n", "9".repeat(100_000)), "line 2: found 1 fields");
    rows(&format!("{},1,1\n", "9".repeat(100_000)), &format!("{}…", "9".repeat(60)));
    check(format!("{header}\n{good}\n\u{fe}").as_bytes(), "line 3: found 1 fields");
    let mut bytes = format!("{header}\n{good}\n").into_bytes();
    bytes.extend([0xff, b',', b'1', b',', b'2', b'\n']);
    check(&bytes, "line 3: found bytes that are not UTF-8");
}

#[test]
fn other_spellings_of_a_trace_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let check = |content: &str| {
        fs::write(folder.path().join("t.csv"), content).unwrap();
        let (success, stdout, stderr) = embedded(folder.path(), &["t.csv", "--store", "memory"]);
        assert!(success, "{stderr}");
        assert!(stdout.starts_with("1 event of 8 customers from t.csv, stored in memory\n"));
    };
    check("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44");
    check("\u{feff}TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16T18:15:46Z,374,44\r\n");
    check("GeneratedTokens, ContextTokens, TIMESTAMP, x\n1, 2, 2023-11-16T18:15:46+01:00,\n\n");
    check("TIMESTAMP,ContextTokens,GeneratedTokens\n9998-10-31 23:59:59,0,18446744073709551615\n");
    check("TIMESTAMP,ContextTokens,GeneratedTokens\n1970-01-01 00:00:00,0,0\n");
}

#[test]
fn what_is_not_there_or_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expect: &str| refused(folder.path(), arguments, expect);
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/file"), "mine").unwrap();
    check(&["missing.csv", "--store", "memory"], "trace missing.csv cannot be read: No such file");
    check(&["full", "--store", "memory"], "trace full cannot be read: Is a directory");
    check(&["--store", "sled:full"], "folder full is not empty, expected a new or an empty one");
    check(&["--store", "fjall:full/file"], "folder full/file cannot be prepared for the store: ");
    assert_eq!(fs::read_to_string(folder.path().join("full/file")).unwrap(), "mine");
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_after_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--store", "memory", "--report", "missing/r.json"];
    let (success, stdout, stderr) = embedded(folder.path(), &arguments);
    assert!(!success);
    assert!(stdout.contains("nothing changed: yes"), "{stdout}");
    let expect = "error: report missing/r.json cannot be written: No such file";
    assert!(stderr.starts_with(expect), "{stderr}");
}

#[test]
fn without_arguments_the_sample_runs_on_fjall_in_a_folder_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (success, stdout, stderr) = embedded(folder.path(), &["--report", "r.json"]);
        assert!(success, "{stderr}");
        assert_eq!(stderr, "", "no bar where nobody looks");
        let expect = "2,000 events of 8 customers from the sample, \
                      stored with fjall in target/embedded-fjall\n";
        assert!(stdout.starts_with(expect), "{stdout}");
        assert!(stdout.contains("\nreopened     same figures after reopening: yes\n"), "{stdout}");
        assert!(stdout.lines().all(|line| line.chars().count() <= 100), "{stdout}");
        let shows = |cells: &[&str]| shows(&stdout, cells);
        shows(&["customer", "monthly fee", "output tokens", "input tokens", "total", "alerts"]);
        shows(&["customer-7", "20", "2.28312", "0.510954", "22.794074", "4"]);
        shows(&["total", "160", "10.54994", "4.103446", "174.653386", "14"]);
        shows(&["customer", "given", "drawn", "balance", "alerts that fired"]);
        shows(&["customer-7", "5", "0.625", "4.375", "–"]);
        shows(&["total", "40", "5.000", "35.000", ""]);
        let at = "2026-03-02T09:39:45";
        shows(&["customer-7", "cost in USD", "22.5", "22.484022 → 22.503553", "row-1767", at]);
        let report = fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["events"], 2_000);
        assert!(report["seconds"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_loss_of_the_sample_is_shown_backfilled_and_reverted() {
    let folder = tempfile::tempdir().unwrap();
    for store in ["memory", "fjall:folder", "sled:folder2"] {
        let arguments = ["--backfill", "--store", store, "--report", "r.json"];
        let (success, stdout, stderr) = embedded(folder.path(), &arguments);
        assert!(success && stderr.is_empty(), "{stderr}");
        assert!(stdout.lines().all(|line| line.chars().count() <= 100), "{stdout}");
        let shows = |cells: &[&str]| shows(&stdout, cells);
        let stages = ["backfilled", "reverted"];
        shows(&[&["customer", "cost: lost"], &stages[..], &["balance: lost"], &stages].concat());
        let end = "
lost         667 events, from 2026-03-02T09:15 to 2026-03-02T09:30
backfilled   same figures as without the loss: yes
reverted     same figures as with the loss: yes
";
        assert!(stdout.ends_with(end), "{stdout}");
        let report = fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["backfill"]["events_ingested"], 667);
    }
}

#[test]
fn the_greatest_invoice_of_the_sample_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for store in ["memory", "fjall:folder", "sled:folder2"] {
        let arguments = ["--invoices", "--backfill", "--store", store];
        let (success, stdout, stderr) = embedded(folder.path(), &arguments);
        assert!(success && stderr.is_empty(), "{stderr}");
        assert!(stdout.lines().all(|line| line.chars().count() <= 100), "{stdout}");
        assert!(stdout.contains("\nto           customer-7, customer-7@example.com\n"), "{stdout}");
        shows(
            &stdout,
            &["2026-03-02 – 2026-04-02", "output tokens", "260,390", "", "2.283120", "2.28"],
        );
        shows(&stdout, &["", "amount due", "", "", "", "22.79"]);
        assert!(stdout.contains("\ninvoiced     494.65 USD on 24 invoices\n"), "{stdout}");
        assert!(
            stdout.contains("\nbackfilled   same figures as without the loss: yes\n"),
            "{stdout}"
        );
    }
    let (_, stdout, _) = embedded(folder.path(), &["--store", "memory"]);
    assert!(!stdout.contains("nvoice"), "{stdout}");
}

#[test]
fn the_folder_of_another_run_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("target")).unwrap();
    let lock = fs::File::create(folder.path().join("target/embedded-fjall.lock")).unwrap();
    lock.lock().unwrap();
    refused(folder.path(), &[], "folder target/embedded-fjall is in use by another run");
}

#[test]
fn help_says_what_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--help", "-h"] {
        let (success, stdout, stderr) = embedded(folder.path(), &[flag]);
        assert!(success && stderr.is_empty());
        for part in ["[TRACE.csv]", "--store", "--customers", "--batch", "--report", "--year"] {
            assert!(stdout.contains(part), "{flag}: {stdout}");
        }
        for part in ["--backfill", "--invoices"] {
            assert!(stdout.contains(part), "{flag}: {stdout}");
        }
        assert!(stdout.lines().all(|line| line.chars().count() <= 110), "{stdout}");
    }
}
