//! Two processes that deliver webhook messages, of which one is killed at random, under load: each message comes, none more
//! than twice, and those of a customer in their order.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use accrue_crash_tests::{Delivered, Deliverers, Kind, Place, kills};
use accrue_postgres_server::{Server, is_installed, left_out};
use serde_json::json;

/// How many with a worker are killed in one folder, one after another: the clock of a folder goes on by a minute with each.
const KILLS: u64 = 100;

/// Kills processes whose workers run, of stores that are made anew, one after another.
fn check<S>(new: impl Fn() -> (Place, S)) {
    let (mut left, mut twice) = (kills(5), 0);
    for seed in 1.. {
        if left == 0 {
            break;
        }
        let program = Path::new(env!("CARGO_BIN_EXE_crash-deliverer"));
        let (place, _server) = new();
        let name = place.name();
        let mut deliverers = Deliverers::new(place, program, seed);
        for _ in 0..left.min(KILLS) {
            deliverers.kill_one();
        }
        left -= left.min(KILLS);
        let delivered = deliverers.end();
        twice += delivered.twice();
        eprintln!("{name}: {delivered}; {twice} twice so far");
        write(name, &delivered);
    }
}

/// Writes what was received into a folder, for the libraries of receivers to verify.
fn write(name: &str, delivered: &Delivered) {
    let Some(folder) = std::env::var_os("ACCRUE_RECEIVED") else { return };
    let file = Path::new(&folder).join(format!("{name}.jsonl"));
    let mut file = BufWriter::new(File::options().append(true).create(true).open(file).unwrap());
    for (of, secret) in delivered.requests() {
        let headers: serde_json::Map<_, _> =
            of.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let line = json!({"headers": headers, "body": of.body, "secret": secret});
        writeln!(file, "{line}").unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn webhooks_a_process_on_fjall_that_is_killed_loses_no_message_and_sends_none_more_than_twice() {
    check(|| (Place::Folder(Kind::Fjall), ()));
}

#[test]
fn webhooks_a_process_on_sled_that_is_killed_loses_no_message_and_sends_none_more_than_twice() {
    check(|| (Place::Folder(Kind::Sled), ()));
}

#[test]
fn webhooks_one_of_two_processes_on_postgres_is_killed_and_no_message_is_lost_or_sent_more_than_twice()
 {
    if !is_installed() {
        return left_out("two processes on one database", "there is no initdb");
    }
    check(|| {
        let server = Server::start(&[]);
        (Place::Database(server.connection()), server)
    });
}
