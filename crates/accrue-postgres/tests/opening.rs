//! What is refused when a store is opened, and what is not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use accrue::store::{Batch, Commit, Expected, Scan, Store};
use accrue_postgres::{OpenError, OpenErrorKind, PostgresOptions, PostgresStore};
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
