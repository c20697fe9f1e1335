//! The layout of a store in a database, and how it is made.

use std::time::Duration;

use deadpool_postgres::Object;
use tokio::time::sleep;
use tokio_postgres::error::SqlState;

use crate::{
    connect::{self, CanceledWaits},
    error::{Cause, OpenError, server},
    open::{runtime, unconnected},
    options::{Isolation, PostgresOptions},
    statements::Statements,
};

/// The layout that this version has.
pub(crate) const LAYOUT: i32 = 1;
/// What makes each layout of the one before.
const STEPS: [&str; 1] = [include_str!("layout.sql")];

/// Lock of those who migrate in one database.
const MIGRATION: &str = "SELECT pg_advisory_xact_lock(hashtext('accrue migration'))";

/// How often it is tried again where others do the same at once, and there are no locks.
const AGAIN: usize = 20;
/// How long it waits before that.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn migrate(
    options: PostgresOptions,
    tables: Vec<&'static str>,
) -> Result<(), OpenError> {
    let runtime = runtime(&options)?;
    let schema = quoted(&options.schema)?;
    let pool = connect::pool(&options, CanceledWaits::default(), 1)?;
    let task = async move {
        let client = pool.get().await.map_err(unconnected)?;
        let mut tries = 0..AGAIN;
        let done = loop {
            let done = migrate_in(&client, &options, &schema, &tables).await;
            let is_in_the_way = done.as_ref().is_err_and(|cause| {
                options.isolation == Isolation::Serializable && cause.is_of_another_transaction()
            });
            if !is_in_the_way || tries.next().is_none() {
                break done;
            }
            client.batch_execute("ROLLBACK").await.map_err(server("its tables cannot be made"))?;
            sleep(PAUSE).await;
        };
        // Whatever it was in the middle of ends with the connection.
        drop(Object::take(client));
        done
    };
    Ok(runtime.spawn(task).await.map_err(|_| Cause::Ended)??)
}

/// Checks the name of a schema, and returns it as SQL has it.
pub(crate) fn quoted(name: &str) -> Result<String, Cause> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if begins && name.len() <= 40 && name.chars().all(is_plain) {
        Ok(format!("\"{name}\""))
    } else {
        Err(Cause::Schema { name: name.to_owned() })
    }
}

/// Refuses a database that has no place for some texts.
pub(crate) async fn check_encoding(client: &Object) -> Result<(), Cause> {
    let sql = "SELECT current_setting('server_encoding')";
    let row = client.query_one(sql, &[]).await.map_err(server("its encoding cannot be read"))?;
    match row.get::<_, String>(0) {
        found if found == "UTF8" => Ok(()),
        found => Err(Cause::Encoding { found }),
    }
}

/// Refuses another layout than ours.
pub(crate) async fn check_layout(
    client: &Object,
    schema: &str,
    statements: &Statements,
) -> Result<(), Cause> {
    let not_migrated = || Cause::NotMigrated { schema: schema.to_owned() };
    match client.query_opt(&statements.layout, &[]).await {
        Ok(Some(row)) => match row.get::<_, i32>(0) {
            LAYOUT => Ok(()),
            found if found > LAYOUT => Err(Cause::Newer { found }),
            found => Err(Cause::Older { found }),
        },
        Ok(None) => Err(not_migrated()),
        Err(error) => match error.code() {
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME) => {
                Err(not_migrated())
            }
            _ => Err(server("its layout cannot be read")(error)),
        },
    }
}

/// In one transaction: all of it or nothing.
async fn migrate_in(
    client: &Object,
    options: &PostgresOptions,
    schema: &str,
    tables: &[&'static str],
) -> Result<(), Cause> {
    let name = &options.schema;
    check_encoding(client).await?;
    let execute = async |sql: &str| {
        client.batch_execute(sql).await.map_err(server("its tables cannot be made"))
    };
    execute("BEGIN").await?;
    if options.isolation == Isolation::Locks {
        execute(MIGRATION).await?;
    }
    for step in steps_from(layout(client, name, schema).await?)? {
        execute(&step.replace("{schema}", schema)).await?;
    }
    execute(&format!("UPDATE {schema}.layout SET version = {LAYOUT} WHERE version < {LAYOUT}"))
        .await?;
    make_views(client, name, schema, tables).await?;
    execute("COMMIT").await
}

/// Returns the layout that is there, 0 where there is none.
async fn layout(client: &Object, name: &str, schema: &str) -> Result<i32, Cause> {
    let failed = "its layout cannot be read";
    let sql = "SELECT to_regclass($1) IS NOT NULL";
    let is_there = client.query_one(sql, &[&format!("{schema}.layout")]).await;
    if !is_there.map_err(server(failed))?.get::<_, bool>(0) {
        let sql = format!(
            "CREATE SCHEMA IF NOT EXISTS {schema}; \
             CREATE TABLE {schema}.layout (version integer NOT NULL); \
             INSERT INTO {schema}.layout VALUES (0)"
        );
        client.batch_execute(&sql).await.map_err(server("its schema cannot be made"))?;
    }
    let row = client.query_opt(&format!("SELECT version FROM {schema}.layout"), &[]).await;
    let row = row.map_err(server(failed))?;
    row.map(|row| row.get(0)).ok_or_else(|| Cause::NotMigrated { schema: name.to_owned() })
}

fn steps_from(found: i32) -> Result<&'static [&'static str], Cause> {
    let steps = usize::try_from(found).ok().and_then(|done| STEPS.get(done..));
    steps.ok_or(Cause::Newer { found })
}

/// Numbers the tables, and makes a view for each that has none.
async fn make_views(
    client: &Object,
    name: &str,
    schema: &str,
    tables: &[&'static str],
) -> Result<(), Cause> {
    let failed = || server("its views cannot be made");
    let views = format!("{name}_views");
    let sql = "SELECT viewname::text FROM pg_views WHERE schemaname = $1";
    let found = client.query(sql, &[&views]).await.map_err(failed())?;
    let found: Vec<String> = found.iter().map(|row| row.get(0)).collect();
    let missing: Vec<_> =
        tables.iter().filter(|table| found.iter().all(|found| found != *table)).collect();
    if !missing.is_empty() && found.is_empty() {
        let sql = format!("CREATE SCHEMA IF NOT EXISTS \"{views}\"");
        client.batch_execute(&sql).await.map_err(failed())?;
    }
    for table in missing {
        let sql = format!("SELECT {schema}.number_table($1)");
        let number = client.query_one(&sql, &[table]).await.map_err(failed())?.get::<_, i16>(0);
        let next = number.checked_add(1).ok_or(Cause::Table)?;
        // jsonb would refuse \u0000.
        let sql = format!(
            "CREATE OR REPLACE VIEW \"{views}\".\"{table}\" AS \
             SELECT substr(key, 3) AS key, version, document::json AS document \
             FROM {schema}.rows WHERE key >= '\\x{number:04x}' AND key < '\\x{next:04x}'"
        );
        client.batch_execute(&sql).await.map_err(failed())?;
    }
    Ok(())
}
