//! The program as it is started, and what it says when it does not start.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accrue-server"));
    command.args(arguments).env_remove("ACCRUE_API_KEY").stdin(Stdio::null()).output().unwrap()
}

#[test]
fn its_help_says_where_everything_is_kept() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for said in ["[default: fjall:accrue-data]", "postgres:URL", "--console", "receive"] {
        assert!(help.contains(said), "{said} is not in {help}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let stores = "expected `memory`, `fjall:DIR`, `sled:DIR` or `postgres:URL`";
    for (arguments, expected) in [
        (&["--store", "x"][..], stores),
        (&["receive", "--store", "memory"], "unexpected argument '--store'"),
    ] {
        let Output { status, stdout, stderr } = run(arguments);
        let said = String::from_utf8(stderr).unwrap();
        assert!(!status.success() && stdout.is_empty(), "{said}");
        assert!(said.contains(expected), "{expected} is not in {said}");
    }
}
