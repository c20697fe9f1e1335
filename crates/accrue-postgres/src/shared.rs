use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use accrue::store::Table;
use deadpool_postgres::{Object, Pool, PoolError};
use tokio::time::timeout;
use tokio_postgres::{Row, types::ToSql};

use crate::{
    connect::CanceledWaits,
    failure::{Failure, Meaning, is_ended},
    options::Isolation,
    queue::Queue,
    statements::Statements,
    tables::{Numbers, Tables},
    versions::Versions,
};

/// How often a statement is made again that was rolled back for the sake of others.
pub(crate) const AGAIN: usize = 1_000;
/// How often a statement is made again whose connection was lost.
pub(crate) const LOST: usize = 3;

/// What the callers and the lanes of a store share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pool: Pool,
    /// Connections that wait for turns.
    pub(crate) turns: Pool,
    pub(crate) statements: Statements,
    pub(crate) isolation: Isolation,
    pub(crate) patience: Duration,
    pub(crate) waits: CanceledWaits,
    pub(crate) tables: Tables,
    pub(crate) versions: Versions,
    pub(crate) queue: Queue,
    /// Calls whose callers were told that nobody knows. Nothing is answered before they are settled.
    pub(crate) doubts: Mutex<Vec<i64>>,
    pub(crate) seed: u64,
    pub(crate) most_locks: usize,
}

impl Shared {
    /// Takes a connection, on which every earlier doubt is settled.
    pub(crate) async fn client(&self) -> Result<Object, Failure> {
        let client = self.connection().await;
        let client =
            client.map_err(|error| Failure::not_applied("there is no connection", error))?;
        let doubts = self.doubts().clone();
        if doubts.is_empty() {
            return Ok(client);
        }
        match timeout(self.patience, self.settle(&client, &doubts)).await {
            Ok(Ok(_)) => {
                self.doubts().retain(|number| !doubts.contains(number));
                Ok(client)
            }
            Ok(Err(error)) => {
                drop(Object::take(client));
                Err(error)
            }
            Err(late) => {
                drop(Object::take(client));
                Err(Failure::not_applied("an earlier commit is not settled", late))
            }
        }
    }

    /// Takes a connection, another one where it ended while it was made.
    async fn connection(&self) -> Result<Object, PoolError> {
        let mut lost = 0..LOST;
        loop {
            match self.pool.get().await {
                Err(error) if is_ended(&error) && lost.next().is_some() => {}
                connection => return connection,
            }
        }
    }

    /// Settles calls without an answer, and returns what became of them.
    pub(crate) async fn settle(
        &self,
        client: &Object,
        numbers: &[i64],
    ) -> Result<Vec<Row>, Failure> {
        let failed = |error| Failure::of_statement("an earlier commit cannot be settled", error);
        let waits = self.waits.count();
        let statement = client.prepare_cached(&self.statements.settle).await.map_err(failed)?;
        let rows = client.query(&statement, &[&numbers]).await.map_err(failed)?;
        if waits == self.waits.count() {
            return Ok(rows);
        }
        Err(Failure::not_applied("a wait for the standby was canceled", Canceled))
    }

    /// Runs a statement that may be run twice.
    pub(crate) async fn query(
        &self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let (mut again, mut lost) = (0, 0);
        loop {
            let client = self.client().await?;
            let rows = match client.prepare_cached(sql).await {
                Ok(statement) => client.query(&statement, parameters).await,
                Err(error) => Err(error),
            };
            let error = match rows {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            match Meaning::of(&error) {
                Meaning::Again if again < AGAIN => again += 1,
                Meaning::Doubtful | Meaning::Elsewhere if lost < LOST => {
                    lost += 1;
                    drop(Object::take(client));
                }
                _ => return Err(Failure::of_statement("the database does not answer", error)),
            }
        }
    }

    /// Makes sure that tables have numbers.
    pub(crate) async fn number(&self, names: &[&'static str]) -> Result<(), Failure> {
        for name in names {
            let rows = self.query(&self.statements.number_table, &[name]).await?;
            let number = rows.first().and_then(|row| row.try_get::<_, i16>(0).ok());
            let number =
                number.ok_or_else(|| Failure::not_applied("a table has no number", Unnumbered))?;
            self.tables.add([((*name).to_owned(), number)]);
        }
        Ok(())
    }

    /// Returns the number of the next call, from a new epoch where there is none left.
    pub(crate) async fn next_version(&self, client: &Object) -> Result<i64, Failure> {
        if let Some(number) = self.versions.next() {
            return Ok(number);
        }
        let failed = |error| Failure::of_statement("there are no further versions", error);
        let row = client.query_one(&self.statements.take_epoch, &[]).await.map_err(failed)?;
        self.versions.renew(row.get(0));
        self.versions.next().ok_or_else(|| Failure::not_applied("an epoch is empty", Unnumbered))
    }

    /// Keeps in mind that nobody knows what became of a call.
    pub(crate) fn doubt(&self, number: i64) {
        self.doubts().push(number);
    }

    fn doubts(&self) -> MutexGuard<'_, Vec<i64>> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn missing(&self, tables: impl Iterator<Item = Table>) -> Vec<&'static str> {
        self.numbers().missing(tables)
    }

    pub(crate) fn numbers(&self) -> Arc<Numbers> {
        self.tables.numbers()
    }
}

/// The server said that it answers before its standby has what was committed.
#[derive(Debug, thiserror::Error)]
#[error("the standby may not have what was committed")]
pub(crate) struct Canceled;

#[derive(Debug, thiserror::Error)]
#[error("the server gave no number")]
struct Unnumbered;
