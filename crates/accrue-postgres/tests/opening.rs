//! What is refused when a store is opened, and what is not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use std::time::Duration;

use accrue::store::{Batch, Commit, Expected, Scan, Store, StoreError, Table, Turns};
use accrue_postgres::{Isolation, OpenError, OpenErrorKind, PostgresOptions, PostgresStore};
use pollster::block_on;
use support::{TABLE, document, execute, key, new_database, new_store, number, shared_server};

fn refused(options: PostgresOptions) -> OpenError {
    block_on(options.open()).unwrap_err()
}

#[test]
fn a_database_without_tables_is_refused() {
    let Some(server) = shared_server() else { return };
    let error = refused(PostgresOptions::new(new_database(&server, "")));
    assert!(error.is_not_migrated(), "{error}");
    assert!(error.to_string().contains("call PostgresStore::migrate"), "{error}");
}

#[test]
fn a_newer_layout_is_refused_and_left_alone() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let connection = options.connection();
    execute(connection, &["UPDATE accrue.layout SET version = 2"]);
    for error in
        [refused(options.clone()), block_on(options.clone().migrate(&[TABLE])).unwrap_err()]
    {
        assert_eq!(error.kind(), OpenErrorKind::Layout);
        assert!(error.to_string().contains("layout 2, expected at most 1"), "{error}");
    }
    assert_eq!(number(connection, "SELECT version::bigint FROM accrue.layout"), 2);
}

#[test]
fn another_encoding_than_utf8_is_refused() {
    let Some(server) = shared_server() else { return };
    let latin = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    let options = PostgresOptions::new(new_database(&server, latin));
    for error in [refused(options.clone()), block_on(options.migrate(&[])).unwrap_err()] {
        assert_eq!(error.kind(), OpenErrorKind::Server);
        assert!(error.to_string().contains("LATIN1, expected UTF8"), "{error}");
    }
}

#[test]
fn commits_that_do_not_wait_for_the_disk_are_refused() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let connection = options.connection();
    for level in ["off", "local", "remote_write"] {
        let set = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = {level}', \
             current_database()); END $$"
        );
        execute(connection, &[&set]);
        let error = refused(options.clone());
        assert_eq!(error.kind(), OpenErrorKind::Server);
        let said = format!("synchronous_commit is {level}, expected on");
        assert!(error.to_string().contains(&said), "{error}");
    }
    block_on(options.accepting_lost_commits().open()).unwrap();
}

#[test]
fn a_server_without_fsync_is_refused() {
    if !support::is_installed() {
        return;
    }
    let server = support::Server::start(&["fsync = off"]);
    let options = PostgresOptions::new(server.connection());
    let error = block_on(options.clone().migrate(&[])).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Server);
    assert!(error.to_string().contains("fsync is off, expected on"), "{error}");
    block_on(options.clone().accepting_lost_commits().migrate(&[])).unwrap();
    assert_eq!(refused(options.clone()).kind(), OpenErrorKind::Server);
    block_on(options.accepting_lost_commits().open()).unwrap();
}

#[test]
fn what_is_no_connection_string_schema_or_authority_is_refused() {
    let check = |options: PostgresOptions| {
        assert_eq!(refused(options).kind(), OpenErrorKind::Configuration);
    };
    check(PostgresOptions::new("host=localhost sslmode=sometimes"));
    check(PostgresOptions::new("host=localhost").schema("\"; DROP TABLE rows"));
    check(PostgresOptions::new("host=localhost").schema(""));
    check(PostgresOptions::new("host=localhost").authorities("no certificate"));
}

#[test]
fn nobody_who_answers_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let options = PostgresOptions::new(format!("host={} user=test", folder.path().display()));
    assert_eq!(refused(options).kind(), OpenErrorKind::Unavailable);
}

#[test]
fn migrating_again_changes_nothing() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let batch = Batch::new().put(key("a"), document("{}"));
    let store = block_on(options.clone().open()).unwrap();
    let committed = block_on(store.commit(batch)).unwrap();
    block_on(options.clone().migrate(&[TABLE])).unwrap();
    let again = block_on(options.open()).unwrap();
    let Commit::Committed(version) = committed else { panic!("{committed:?}") };
    let check = Batch::new().expect(key("a"), Expected::Version(version));
    assert!(matches!(block_on(again.commit(check)), Ok(Commit::Committed(_))));
}

#[test]
fn processes_that_migrate_at_once_make_one_store() {
    let Some(server) = shared_server() else { return };
    let connection = &new_database(&server, "");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tables = accrue::schema::TABLES;
                block_on(PostgresStore::migrate(connection.clone(), tables)).unwrap();
            });
        }
    });
    let views = "SELECT count(*) FROM pg_views WHERE schemaname = 'accrue_views'";
    let tables = i64::try_from(accrue::schema::TABLES.len()).unwrap();
    assert_eq!(number(connection, views), tables);
    assert_eq!(number(connection, "SELECT count(*) FROM accrue.tables"), tables);
}

#[test]
fn a_database_without_locks_is_migrated_by_several_at_once_and_has_no_turns() {
    let Some(server) = shared_server() else { return };
    let options = support::new_store_without_locks(&server).schema("other");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| block_on(options.clone().migrate(accrue::schema::TABLES)).unwrap());
        }
    });
    let tables = i64::try_from(accrue::schema::TABLES.len()).unwrap();
    assert_eq!(number(options.connection(), "SELECT count(*) FROM other.tables"), tables);
    let store = block_on(options.clone().open()).unwrap();
    assert!(block_on(store.take(1)).unwrap().is_none());
    let locks = options.isolation(Isolation::Locks);
    let error = block_on(locks.clone().migrate(&[])).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Unavailable);
}

#[test]
fn a_table_that_comes_later_gets_its_view() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let views = "SELECT count(*) FROM pg_views WHERE schemaname = 'accrue_views'";
    assert_eq!(number(options.connection(), views), 1);
    block_on(options.clone().migrate(&[TABLE, Table::new("later")])).unwrap();
    assert_eq!(number(options.connection(), views), 2);
}

#[test]
fn an_older_layout_is_refused_until_it_is_migrated() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    execute(options.connection(), &["UPDATE accrue.layout SET version = 0"]);
    let error = refused(options);
    assert_eq!(error.kind(), OpenErrorKind::Layout);
    assert!(error.to_string().contains("call PostgresStore::migrate"), "{error}");
}

/// Sessions of the database of an open store end, and the next ones have other settings.
fn reconnect(options: &PostgresOptions, setting: &str) {
    let set = format!(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting}', current_database()); END $$"
    );
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    execute(options.connection(), &[&set, end]);
}

#[test]
fn a_later_connection_that_does_not_wait_for_the_disk_is_refused_too() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server).patience(Duration::from_millis(200));
    let store = block_on(options.clone().open()).unwrap();
    // A session that ends beside a commit leaves open whether it is stored.
    let commit = || loop {
        match block_on(store.commit(Batch::new().put(key("a"), document("{}")))) {
            Err(StoreError::Indeterminate { .. }) => {}
            result => return result,
        }
    };
    reconnect(&options, "synchronous_commit = off");
    let error = commit().unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    reconnect(&options, "synchronous_commit = on");
    commit().unwrap();
}

/// As through a pooler that gives each transaction another session.
#[test]
fn a_session_whose_settings_were_lost_commits_nothing() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let call = "SELECT accrue.apply(1, '{}', 1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', \
                '{}', '{1}', '{a}', '{\"{}\"}', '{}', '{}')";
    let tries = |begin: &str| {
        let sql = format!(
            "DO $$ BEGIN PERFORM ({call}); EXCEPTION WHEN raise_exception THEN RETURN; END $$"
        );
        execute(options.connection(), &[begin, &sql, "COMMIT"]);
        number(options.connection(), "SELECT count(*) FROM accrue.rows")
    };
    assert_eq!(tries("BEGIN ISOLATION LEVEL READ COMMITTED"), 0);
    assert_eq!(tries("BEGIN ISOLATION LEVEL SERIALIZABLE"), 1);
}

#[test]
fn plans_read_no_table_as_a_whole() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let store = block_on(options.clone().open()).unwrap();
    let scans =
        "SELECT coalesce(sum(seq_scan), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'rows'";
    let before = number(options.connection(), scans);
    for _ in 0..3 {
        let batch = Batch::new().put(key("a"), document("{}"));
        block_on(store.commit(batch)).unwrap();
        let row = block_on(store.get(&[key("a"), key("b")])).unwrap().remove(0).unwrap();
        let again = Batch::new().expect(key("a"), Expected::Version(row.version));
        block_on(store.commit(again.put(key("a"), document("{}")).delete(key("b")))).unwrap();
        block_on(store.scan(&Scan::prefix(TABLE, b"", 10))).unwrap();
    }
    drop(store);
    execute(options.connection(), &["SELECT pg_stat_force_next_flush()", "SELECT pg_sleep(1.2)"]);
    assert_eq!(number(options.connection(), scans), before);
}

#[test]
fn a_view_shows_the_rows_of_its_table() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let store = block_on(options.clone().open()).unwrap();
    let odd = r#"{"name":"ada","odd":"\u0000"}"#;
    let other = accrue::store::Key::new(accrue::store::Table::new("other"), *b"a");
    let batch = Batch::new()
        .put(key("a"), document(r#"{"name":"ada"}"#))
        .put(key("b"), document(odd))
        .put(other, document("{}"));
    block_on(store.commit(batch)).unwrap();
    let connection = options.connection();
    let ada = "SELECT count(*) FROM accrue_views.item \
               WHERE key = 'a'::bytea AND document->>'name' = 'ada'";
    assert_eq!(number(connection, ada), 1);
    let whole = format!("SELECT count(*) FROM accrue_views.item WHERE document::text = '{odd}'");
    assert_eq!(number(connection, &whole), 1);
    assert_eq!(number(connection, "SELECT count(*) FROM accrue_views.item"), 2);
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"b", 10))).unwrap();
    assert_eq!(rows[0].document.as_str(), odd);
}

#[test]
fn stores_in_two_schemas_share_nothing() {
    let Some(server) = shared_server() else { return };
    let one = new_store(&server);
    let two = one.clone().schema("two");
    block_on(two.clone().migrate(&[TABLE])).unwrap();
    let [one, two] = [one, two].map(|options| block_on(options.open()).unwrap());
    block_on(one.commit(Batch::new().put(key("a"), document("{}")))).unwrap();
    assert_eq!(block_on(two.get(&[key("a")])).unwrap(), [None]);
}
