//! The program as it is started. What it shares with the one on axum is tested there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actix-server"));
    command.args(arguments).env_remove("ACCRUE_API_KEY").stdin(Stdio::null()).output().unwrap()
}

#[test]
fn its_help_says_what_it_takes() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for said in ["--listen", "--store", "postgres:URL", "--console"] {
        assert!(help.contains(said), "{said} is not in {help}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let Output { status, stdout, stderr } = run(&["--store", "x"]);
    let said = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && stdout.is_empty(), "{said}");
    assert!(
        said.contains("expected `memory`, `fjall:DIR`, `sled:DIR` or `postgres:URL`"),
        "{said}"
    );
}
