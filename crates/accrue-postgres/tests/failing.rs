//! The suite of backends on servers in trouble: each case holds there as on any other.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on says so")]

mod support;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use accrue::store::Store;
use accrue_conformance::{Case, Durability, Harness, cases};
use accrue_postgres::PostgresOptions;
use pollster::block_on;
use support::{Server, execute, is_installed, new_store, number, try_execute};

/// Writes half a megabyte to the log of a server.
const NOISE: &str = "SELECT pg_logical_emit_message(true, 'noise', repeat('x', 500000))";

/// What happens to a server while a case has it fail: something that takes a while, beside the commit.
type Trouble = dyn Fn() + Send + Sync;

/// A database of its own on a server that gets into trouble at every so many commits.
struct Database {
    options: PostgresOptions,
    trouble: Arc<Trouble>,
    every: u64,
    commits: AtomicU64,
    happens: Mutex<Option<JoinHandle<()>>>,
}

impl Harness for Database {
    fn open(&self) -> Arc<dyn Store> {
        // An opening whose session ends says so, and is tried again.
        let mut opened = (0..20).map(|_| block_on(self.options.clone().open()));
        Arc::new(opened.find_map(Result::ok).unwrap())
    }

    fn durability(&self) -> Durability {
        Durability::Durable
    }

    fn begin_failing(&self) {
        let commit = self.commits.fetch_add(1, Ordering::SeqCst);
        if commit % self.every == self.every - 1 {
            let trouble = Arc::clone(&self.trouble);
            *self.happens.lock().unwrap() = Some(thread::spawn(move || trouble()));
            // The commit finds the server before its trouble, in the midst of it, and behind it.
            thread::sleep(Duration::from_millis(commit * 7 % 50));
        }
    }

    fn end_failing(&self) {
        if let Some(happens) = self.happens.lock().unwrap().take() {
            happens.join().unwrap();
        }
    }
}

/// Runs all cases, those about failures first: the others find a server that has been through them.
fn suite(server: &str, every: u64, trouble: impl Fn() + Send + Sync + 'static) {
    let trouble: Arc<Trouble> = Arc::new(trouble);
    let is_first = |case: &&Case| case.group == "failures";
    let others = cases().iter().filter(|case| !is_first(case));
    for case in cases().iter().filter(is_first).chain(others) {
        println!("{}::{}", case.group, case.name);
        let connection = format!("{} application_name=case", new_store(server).connection());
        (case.run)(&Database {
            options: PostgresOptions::new(connection),
            trouble: Arc::clone(&trouble),
            every,
            commits: AtomicU64::new(0),
            happens: Mutex::new(None),
        });
    }
}

fn host(server: &Server) -> String {
    format!("host={} user=test", server.socket())
}

#[test]
fn sessions_that_end_keep_the_contract() {
    if !is_installed() {
        return;
    }
    let server = Server::start(&[]);
    let connection = server.connection();
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'case'";
    suite(&host(&server), 3, {
        let connection = connection.clone();
        move || execute(&connection, &[all])
    });
    let killed = "SELECT sum(sessions_killed)::bigint FROM pg_stat_database";
    assert!(number(&connection, killed) > 50);
}

#[test]
fn a_server_with_room_for_few_locks_keeps_the_contract() {
    if !is_installed() {
        return;
    }
    let few = ["max_locks_per_transaction = 10", "max_connections = 20", "shared_buffers = 1MB"];
    let server = Server::start(&few);
    suite(&host(&server), u64::MAX, || {});
}

#[test]
fn a_server_that_is_restarted_keeps_the_contract() {
    if !is_installed() {
        return;
    }
    let server = Arc::new(Server::start(&[]));
    let restarted = Arc::clone(&server);
    suite(&host(&server), 20, move || restarted.restart());
}

#[test]
fn a_standby_that_is_promoted_keeps_the_contract() {
    if !is_installed() {
        return;
    }
    let primary = Arc::new(Server::start(&["hot_standby = on"]));
    let standby = Arc::new(Server::standby(&primary, "standby", &[]));
    primary.configure(&["synchronous_standby_names = 'standby'"]);
    primary.reload();
    let both = format!("host={},{} user=test", primary.socket(), standby.socket());
    let is_promoted = AtomicBool::new(false);
    let promoted = Arc::clone(&standby);
    suite(&both, 200, move || {
        if !is_promoted.swap(true, Ordering::SeqCst) {
            primary.end("immediate");
            promoted.promote();
        }
    });
}

#[test]
fn a_server_whose_log_has_no_disk_keeps_the_contract() {
    if !is_installed() {
        return;
    }
    let Some((server, disk)) = Server::with_a_small_log(&[]) else { return };
    let server = Arc::new(server);
    let filled = Arc::clone(&server);
    suite(&host(&server), 130, move || {
        disk.fill();
        // The server ends itself once its log has taken all that it had of the disk.
        while try_execute(&filled.connection(), NOISE).is_ok() {}
        disk.free();
        filled.restart();
    });
}
