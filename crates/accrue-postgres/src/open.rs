use std::sync::{Arc, Mutex};

use deadpool_postgres::{Object, Pool};

use crate::{
    connect::{self, CanceledWaits},
    encode::lock,
    error::{Cause, OpenError, server},
    lane::Lane,
    migrate::{check_encoding, check_layout, quoted},
    options::PostgresOptions,
    queue::Queue,
    runtime::Runtime,
    shared::Shared,
    statements::Statements,
    store::PostgresStore,
    tables::Tables,
    versions::Versions,
};

/// The most locks of one call, where the server has room for them.
const MOST_LOCKS: i64 = 1_000;
/// The least, however little room the server has.
const LEAST_LOCKS: i64 = 8;
/// The share of the server's room for locks that one call takes at most.
const SHARE: i64 = 8;

/// How many locks the server has room for.
const ROOM: &str = "SELECT current_setting('max_locks_per_transaction')::bigint * \
    (current_setting('max_connections')::bigint + \
    current_setting('max_prepared_transactions')::bigint)";

pub(crate) async fn open(options: PostgresOptions) -> Result<PostgresStore, OpenError> {
    let runtime = runtime(&options)?;
    let lanes = options.lanes;
    let waits = CanceledWaits::default();
    let connections = options.connections.max(options.lanes.saturating_add(1));
    let pool = connect::pool(&options, waits.clone(), connections)?;
    let turns = connect::pool(&options, waits.clone(), options.turns)?;
    let task = async move {
        let found = look(&pool, &options).await?;
        Ok::<_, Cause>(share(options, (pool, turns), waits, found))
    };
    let shared = Arc::new(runtime.spawn(task).await.map_err(|_| Cause::Ended)??);
    let lanes = (0..lanes).map(|_| runtime.spawn(Lane::new(Arc::clone(&shared)).run())).collect();
    Ok(PostgresStore::new(shared, runtime, lanes))
}

pub(crate) fn runtime(options: &PostgresOptions) -> Result<Runtime, OpenError> {
    match &options.handle {
        Some(handle) => Ok(Runtime::of_host(handle.clone())),
        None => Ok(Runtime::own().map_err(Cause::Thread)?),
    }
}

/// What a database says of the store in it.
struct Found {
    statements: Statements,
    tables: Tables,
    epoch: i64,
    most_locks: usize,
}

async fn look(pool: &Pool, options: &PostgresOptions) -> Result<Found, Cause> {
    let statements = Statements::of(&quoted(&options.schema)?);
    let client = pool.get().await.map_err(unconnected)?;
    check_encoding(&client).await?;
    check_layout(&client, &options.schema, &statements).await?;
    let tables = tables(&client, &statements).await?;
    let epoch = client.query_one(&statements.take_epoch, &[]).await;
    let epoch = epoch.map_err(server("it cannot be written"))?.get(0);
    let room = client.query_one(ROOM, &[]).await;
    let room: i64 = room.map_err(server("its settings cannot be read"))?.get(0);
    let most_locks = (room / SHARE).clamp(LEAST_LOCKS, MOST_LOCKS);
    let most_locks = usize::try_from(most_locks).unwrap_or_default();
    Ok(Found { statements, tables, epoch, most_locks })
}

async fn tables(client: &Object, statements: &Statements) -> Result<Tables, Cause> {
    let rows = client.query(&statements.tables, &[]).await;
    let rows = rows.map_err(server("its tables cannot be read"))?;
    let tables = Tables::default();
    tables.add(rows.iter().map(|row| (row.get(1), row.get(0))));
    Ok(tables)
}

fn share(
    options: PostgresOptions,
    (pool, turns): (Pool, Pool),
    waits: CanceledWaits,
    found: Found,
) -> Shared {
    let Found { statements, tables, epoch, most_locks } = found;
    Shared {
        pool,
        turns,
        statements,
        isolation: options.isolation,
        patience: options.patience,
        waits,
        tables,
        versions: Versions::of(epoch),
        queue: Queue::default(),
        doubts: Mutex::default(),
        seed: lock(options.schema.as_bytes(), 0).cast_unsigned(),
        most_locks,
    }
}

/// Says why there is no connection: a server that is refused says it in words.
pub(crate) fn unconnected(error: deadpool_postgres::PoolError) -> Cause {
    use deadpool_postgres::{HookError, PoolError};
    match error {
        PoolError::PostCreateHook(HookError::Message(reason)) => {
            Cause::Unsafe { reason: reason.into_owned() }
        }
        error => Cause::Pool(error),
    }
}
