//! The programs work, on little: each ends well only where nothing is lost, doubled or in error. Their
//! figures mean nothing here.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::process::Command;

use accrue_postgres_server::{Server, is_installed};

/// Runs a program to its end, and returns what it printed.
fn run(program: &str, arguments: &[&str]) -> String {
    let (is_well, said) = try_run(program, arguments);
    assert!(is_well, "{arguments:?}: {said}");
    said
}

/// The same, and whether it ended well.
fn try_run(program: &str, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).expect("text"));
    (output.status.success(), said.concat())
}

/// Returns the count in the line of a table.
fn count(said: &str, what: &str) -> usize {
    let line = said.lines().find_map(|line| line.trim().strip_prefix(what));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or_else(|| panic!("{what}: {said}"))
}

fn check_kills(arguments: &[&str]) {
    let few = ["--kills", "6", "--stored", "2000", "--connections", "4"];
    let said = run(env!("CARGO_BIN_EXE_kills"), &[&few, arguments].concat());
    assert_eq!(["kills", "lost", "doubled"].map(|what| count(&said, what)), [6, 0, 0], "{said}");
    assert!(count(&said, "acknowledged") > 0, "{said}");
    assert!(count(&said, "replays") > count(&said, "acknowledged"), "{said}");
}

#[test]
fn a_killed_server_on_fjall_loses_and_doubles_nothing() {
    check_kills(&["--store", "fjall"]);
}

#[test]
fn a_killed_server_on_sled_loses_and_doubles_nothing() {
    check_kills(&["--store", "sled", "--framework", "actix"]);
}

/// A server that forgets is found out.
#[test]
fn what_is_lost_is_found_out() {
    let few = ["--store", "memory", "--kills", "2", "--stored", "0"];
    let (is_well, said) = try_run(env!("CARGO_BIN_EXE_kills"), &few);
    assert!(!is_well && count(&said, "lost") > 0, "{said}");
}

fn check_failover(arguments: &[&str]) -> Option<String> {
    let few = ["--rounds", "1", "--servers", "2", "--callers", "6"];
    let said = run(env!("CARGO_BIN_EXE_failover"), &[&few, arguments].concat());
    // Where PostgreSQL is not installed, it says so.
    (!said.contains("left out")).then_some(said)
}

#[test]
fn a_database_that_fails_over_loses_and_doubles_nothing() {
    let Some(said) = check_failover(&[]) else { return };
    assert_eq!(
        ["failovers", "lost", "doubled"].map(|what| count(&said, what)),
        [1, 0, 0],
        "{said}"
    );
    let [acknowledged, replays] = ["acknowledged", "replays"].map(|what| count(&said, what));
    assert!(acknowledged > 0 && replays == 2 * acknowledged, "{said}");
}

/// A standby that is behind when it is promoted is found out.
#[test]
fn what_a_standby_had_not_received_is_found_out() {
    let Some(said) = check_failover(&["--asynchronous"]) else { return };
    assert!(count(&said, "lost") > 0, "{said}");
}

#[test]
fn killed_servers_on_postgres_lose_and_double_nothing() {
    if !is_installed() {
        return;
    }
    let database = Server::start(&[]);
    let store = format!("postgres:{}", database.connection());
    check_kills(&["--store", &store, "--servers", "2"]);
}

fn check_crowd(kinds: &[&str]) {
    let (store, all) = (["--store", "memory"], kinds.join(","));
    let few = [
        ["--kinds", &all],
        ["--seconds", "1"],
        ["--stored", "600"],
        ["--ors", "20"],
        ["--metrics", "3"],
        ["--events", "50"],
        ["--listed", "5"],
        ["--event-bytes", "2000"],
        ["--unpacked-bytes", "200000"],
        ["--members", "1000"],
        ["--backfilled", "100"],
    ];
    let arguments = [store.as_slice(), few.as_flattened()].concat();
    let said = run(env!("CARGO_BIN_EXE_crowd"), &arguments);
    for row in [&["alone", "all at once"], kinds].concat() {
        assert!(said.contains(row), "{row} is not in {said}");
    }
}

#[test]
fn a_healthy_client_is_answered_beside_work() {
    check_crowd(&["evaluations", "reads", "backfills", "conditions"]);
}

#[test]
fn a_healthy_client_is_answered_beside_bodies() {
    check_crowd(&["large-batches", "refused-batches", "expansions", "members"]);
}

#[test]
fn what_is_acknowledged_under_load_is_counted() {
    let few =
        [["--store", "fjall"], ["--customers", "500"], ["--seconds", "2"], ["--events", "5000"]];
    let said = run(env!("CARGO_BIN_EXE_sustain"), few.as_flattened());
    for row in ["new ledger entry", "slowest", "resident MiB", "events acknowledged"] {
        assert!(said.contains(row), "{row} is not in {said}");
    }
}
