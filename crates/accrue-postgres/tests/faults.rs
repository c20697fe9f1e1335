//! What a store tells its callers while connections end, and servers stop, fill up and take another's place.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on says so")]

mod support;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use accrue::store::{Batch, Commit, Expected, Scan, Store, StoreError};
use accrue_postgres::{Isolation, PostgresOptions, PostgresStore};
use pollster::block_on;
use support::{
    Server, TABLE, Told, document, execute, is_installed, key, new_store, number, shared_server,
    try_execute, work,
};

const WORKERS: u32 = 8;

/// Writes half a megabyte to the log of a server.
const NOISE: &str = "SELECT pg_logical_emit_message(true, 'noise', repeat('x', 500000))";

/// Lets workers commit while something happens, and checks all that they were told.
fn during(store: &PostgresStore, happens: impl FnOnce(&Told)) -> Told {
    let (stop, told) = (AtomicBool::new(false), Told::default());
    let (stopped, heard) = (&stop, &told);
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..WORKERS).map(|at| scope.spawn(move || work(store, at, stopped, heard))).collect();
        happens(heard);
        stop.store(true, Ordering::SeqCst);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    println!("{told:?}");
    told
}

/// Waits until there were so many more commits.
fn more(told: &Told, commits: u32) {
    let enough = told.committed.load(Ordering::SeqCst) + commits;
    while told.committed.load(Ordering::SeqCst) < enough {
        thread::yield_now();
    }
}

fn migrated(options: PostgresOptions) -> PostgresStore {
    block_on(options.clone().migrate(&[TABLE])).unwrap();
    block_on(options.open()).unwrap()
}

/// A connection that ends is nothing that a caller notices.
fn ended_at_random(isolation: Isolation) {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server).isolation(isolation);
    let connection = options.connection().to_owned();
    let store = block_on(options.open()).unwrap();
    let told = during(&store, |told| {
        for _ in 0..60 {
            more(told, 5);
            let one = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \
                       datname = current_database() AND pid <> pg_backend_pid() \
                       ORDER BY random() LIMIT 2";
            execute(&connection, &[one]);
        }
    });
    assert_eq!(told.indeterminate.into_inner(), 0);
}

#[test]
fn connections_that_end_lose_nothing() {
    ended_at_random(Isolation::Locks);
}

#[test]
fn connections_that_end_lose_nothing_when_serializable() {
    ended_at_random(Isolation::Serializable);
}

#[test]
fn a_server_that_is_restarted_loses_nothing() {
    if !is_installed() {
        return;
    }
    let server = Server::start(&[]);
    let store = migrated(PostgresOptions::new(server.connection()));
    during(&store, |told| {
        for mode in ["fast", "immediate", "fast", "immediate"] {
            more(told, 50);
            server.end(mode);
            server.begin();
        }
        more(told, 50);
    });
}

#[test]
fn a_commit_in_doubt_is_settled_before_anything_is_read() {
    if !is_installed() {
        return;
    }
    let server = Server::start(&[]);
    let patience = std::time::Duration::from_millis(300);
    let store = migrated(PostgresOptions::new(server.connection()).patience(patience));
    let read = || block_on(store.get(&[key("a")]));
    // The commit waits for a lock of the table until its connection ends.
    let holder = Holder::lock(&server.connection(), "accrue.rows");
    let answer = thread::scope(|scope| {
        let commit =
            scope.spawn(|| block_on(store.commit(Batch::new().put(key("a"), document("{}")))));
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
        while number(&server.connection(), waiting) == 0 {}
        server.end("immediate");
        commit.join().unwrap()
    });
    assert!(matches!(answer, Err(StoreError::Indeterminate { .. })), "{answer:?}");
    assert!(matches!(read(), Err(StoreError::Unavailable { .. })));
    drop(holder);
    server.begin();
    while read().is_err() {}
    assert_eq!(read().unwrap(), [None]);
    let fenced = "SELECT count(*) FROM accrue.calls WHERE NOT applied";
    assert_eq!(number(&server.connection(), fenced), 1);
}

#[test]
fn a_server_with_room_for_few_locks_takes_the_greatest_commits() {
    if !is_installed() {
        return;
    }
    let few = ["max_locks_per_transaction = 10", "max_connections = 20", "shared_buffers = 1MB"];
    let server = Server::start(&few);
    let store = migrated(PostgresOptions::new(server.connection()).connections(8));
    let batch = |caller: u32, rows: u32| {
        (0..rows).fold(Batch::new(), |batch, row| {
            batch.insert(key(format!("{caller} {row}")), document("{}"))
        })
    };
    thread::scope(|scope| {
        for caller in 0..8 {
            let (store, batch) = (&store, &batch);
            scope.spawn(move || {
                for turn in 0..4 {
                    let rows = [10, 2_000, 19, 400][turn];
                    let name = caller * 4 + u32::try_from(turn).unwrap();
                    let answer = block_on(store.commit(batch(name, rows)));
                    assert!(matches!(answer, Ok(Commit::Committed(_))), "{answer:?}");
                }
            });
        }
    });
    let rows = number(&server.connection(), "SELECT count(*) FROM accrue.rows");
    assert_eq!(rows, 8 * (10 + 2_000 + 19 + 400));
}

#[test]
fn others_who_hold_all_locks_leave_room_for_that_of_the_store() {
    if !is_installed() {
        return;
    }
    let few = ["max_locks_per_transaction = 10", "max_connections = 20", "shared_buffers = 1MB"];
    let server = Server::start(&few);
    let store = migrated(PostgresOptions::new(server.connection()).connections(8));
    let holder = Holder::all_locks(&server.connection());
    let batch = (0..20).fold(Batch::new(), |batch, row| batch.put(key([row]), document("{}")));
    let answer = block_on(store.commit(batch));
    assert!(
        matches!(answer, Ok(Commit::Committed(_)) | Err(StoreError::Unavailable { .. })),
        "{answer:?}"
    );
    drop(holder);
    let check = Batch::new().put(key("a"), document("{}")).expect(key("a"), Expected::Absent);
    assert!(matches!(block_on(store.commit(check)), Ok(Commit::Committed(_))));
}

#[test]
fn a_full_disk_loses_nothing_that_was_answered() {
    if !is_installed() {
        return;
    }
    let server = Server::start(&[]);
    let Some(disk) = server.small_disk() else { return };
    let folder = disk.path().display().to_string();
    let connection = server.connection();
    let place = format!("CREATE TABLESPACE small LOCATION '{folder}'");
    execute(&connection, &[&place]);
    block_on(PostgresOptions::new(&connection).migrate(&[TABLE])).unwrap();
    execute(&connection, &["ALTER TABLE accrue.rows SET TABLESPACE small"]);
    let store = block_on(PostgresOptions::new(&connection).open()).unwrap();
    let big = document(&format!(r#"{{"text":"{}"}}"#, noise(30_000)));
    let commit = |number: u32| {
        block_on(store.commit(Batch::new().put(key(number.to_be_bytes()), big.clone())))
    };
    let full = (0..).find(|number| commit(*number).is_err()).unwrap();
    assert!(matches!(commit(full), Err(StoreError::Unavailable { .. })));
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"", 10_000))).unwrap();
    assert_eq!(rows.len(), usize::try_from(full).unwrap());
    execute(&connection, &["ALTER TABLE accrue.rows SET TABLESPACE pg_default"]);
    assert!(matches!(commit(full), Ok(Commit::Committed(_))));
}

#[test]
fn a_full_disk_of_the_log_loses_nothing_that_was_answered() {
    if !is_installed() {
        return;
    }
    let Some((server, disk)) = Server::with_a_small_log(&[]) else { return };
    let store = migrated(PostgresOptions::new(server.connection()));
    let told = during(&store, |told| {
        for _ in 0..3 {
            more(told, 50);
            disk.fill();
            // The server ends itself once it has written its log to the end of what it has of the disk.
            while try_execute(&server.connection(), NOISE).is_ok() {}
            disk.free();
            server.restart();
        }
        more(told, 50);
    });
    assert!(told.committed.into_inner() >= 200);
}

/// A text that is no shorter when it is compressed.
fn noise(bytes: usize) -> String {
    let mut state = 7_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b' ' + 1 + u8::try_from(state >> 58).unwrap())
    };
    std::iter::repeat_with(next).filter(|c| !['"', '\\'].contains(c)).take(bytes).collect()
}

#[test]
fn a_promoted_standby_has_all_that_was_answered() {
    if !is_installed() {
        return;
    }
    let primary = Server::start(&["hot_standby = on"]);
    let standby = Server::standby(&primary, "standby", &[]);
    primary.configure(&["synchronous_standby_names = 'standby'"]);
    primary.reload();
    let wait = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while number(&primary.connection(), wait) == 0 {}
    let both = format!("host={},{} user=test dbname=postgres", primary.socket(), standby.socket());
    let store = migrated(PostgresOptions::new(both));
    during(&store, |told| {
        more(told, 200);
        primary.end("immediate");
        standby.promote();
        more(told, 200);
    });
}

#[test]
fn a_wait_for_the_standby_that_is_canceled_is_not_told_as_committed() {
    if !is_installed() {
        return;
    }
    let primary = Server::start(&[]);
    let connection = primary.connection();
    let patience = std::time::Duration::from_millis(300);
    let store = migrated(PostgresOptions::new(&connection).patience(patience));
    block_on(store.commit(Batch::new().put(key("a"), document("{}")))).unwrap();
    // There is no such standby.
    primary.configure(&["synchronous_standby_names = 'standby'"]);
    primary.reload();
    for how in ["pg_cancel_backend", "pg_terminate_backend"] {
        let answer = canceled(&store, &connection, how);
        assert!(matches!(answer, StoreError::Indeterminate { .. }), "{how}: {answer:?}");
        // It is there, but not on a standby.
        let read = block_on(store.get(&[key("b")]));
        assert!(matches!(read, Err(StoreError::Unavailable { .. })), "{how}: {read:?}");
        primary.configure(&["synchronous_standby_names = ''"]);
        primary.reload();
        while block_on(store.get(&[key("b")])).is_err() {}
        primary.configure(&["synchronous_standby_names = 'standby'"]);
        primary.reload();
    }
}

/// Commits, and cancels the wait for the standby: a commit before the server has read its settings has none.
fn canceled(store: &PostgresStore, connection: &str, how: &str) -> StoreError {
    let cancel = format!("SELECT {how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    loop {
        let answer = thread::scope(|scope| {
            let batch = Batch::new().put(key("b"), document("{}"));
            let commit = scope.spawn(|| block_on(store.commit(batch)));
            // What waits may be an earlier question yet.
            while !commit.is_finished() {
                execute(connection, &[&cancel]);
            }
            commit.join().unwrap()
        });
        if let Err(error) = answer {
            return error;
        }
    }
}

/// Session that holds locks until it is dropped.
struct Holder {
    runtime: tokio::runtime::Runtime,
    _client: tokio_postgres::Client,
}

impl Holder {
    fn lock(connection: &str, table: &str) -> Self {
        Self::of(connection, &format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE"))
    }

    /// Takes locks until there is room for a few more.
    fn all_locks(connection: &str) -> Self {
        let sql = "DO $$ BEGIN FOR n IN 1..1000000 LOOP PERFORM pg_advisory_lock(1000000 + n); \
                   END LOOP; EXCEPTION WHEN out_of_memory THEN \
                   PERFORM pg_advisory_unlock(1000000 + n) FROM generate_series(1, 15) AS n; END $$";
        Self::of(connection, sql)
    }

    fn of(connection: &str, sql: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        let connected = tokio_postgres::connect(connection, tokio_postgres::NoTls);
        let (client, connection) = runtime.block_on(connected).unwrap();
        runtime.spawn(connection);
        runtime.block_on(client.batch_execute(sql)).unwrap();
        Self { runtime, _client: client }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The connection ends with its runtime.
        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
        std::mem::replace(&mut self.runtime, other).shutdown_background();
    }
}
