use std::{collections::HashMap, fmt, sync::Arc};

use accrue::store::{
    Batch, Commit, Document, Key, Order, Row, Scan, Store, StoreError, Table, Version,
};
use async_trait::async_trait;
use tokio::task::JoinHandle;

use crate::{
    encode::{Encoded, version},
    error::OpenError,
    failure::Failure,
    options::PostgresOptions,
    queue::Judged,
    runtime::Runtime,
    shared::Shared,
    tables::Numbers,
};

/// A store in a PostgreSQL database, which several processes may have open.
///
/// See the [crate's documentation](crate). Dropping the store waits for the calls that are under way,
/// where it has a thread of its own.
///
/// A commit whose future is dropped goes on, or never began: all of it or nothing.
pub struct PostgresStore {
    pub(crate) shared: Arc<Shared>,
    runtime: Runtime,
    lanes: Vec<JoinHandle<()>>,
}

impl PostgresStore {
    /// Opens the store that a [connection string](PostgresOptions::new) leads to.
    ///
    /// # Errors
    ///
    /// If there is no connection, if the tables were not [made](Self::migrate) or are of another
    /// version, if the database is not in UTF-8, and if the server may lose what it confirms.
    pub async fn open(connection: impl Into<String>) -> Result<Self, OpenError> {
        PostgresOptions::new(connection).open().await
    }

    /// Makes the tables of the store, or brings them to the layout that this version has, with a
    /// view for each of `tables`.
    ///
    /// # Errors
    ///
    /// See [`PostgresOptions::migrate`].
    pub async fn migrate(connection: impl Into<String>, tables: &[Table]) -> Result<(), OpenError> {
        PostgresOptions::new(connection).migrate(tables).await
    }

    pub(crate) fn new(shared: Arc<Shared>, runtime: Runtime, lanes: Vec<JoinHandle<()>>) -> Self {
        Self { shared, runtime, lanes }
    }

    /// Returns the numbers of tables, after it has seen to it that these have one.
    async fn numbers(
        &self,
        tables: impl Iterator<Item = Table> + Send,
    ) -> Result<Arc<Numbers>, StoreError> {
        let missing = self.shared.missing(tables);
        if !missing.is_empty() {
            let shared = Arc::clone(&self.shared);
            self.run(async move { shared.number(&missing).await }).await?;
        }
        Ok(self.shared.numbers())
    }

    /// Runs a query on the runtime, whoever polls this.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        query: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let ended = |error| Failure::not_applied("the runtime has ended", error);
        Ok(self.runtime.spawn(query).await.map_err(ended)??)
    }

    /// Judges a batch that changes nothing, in one statement, which sees one instant.
    async fn check(&self, judged: Vec<(Vec<u8>, Option<i64>)>) -> Result<Judged, StoreError> {
        if judged.is_empty() {
            return Ok(Judged::Applied(0));
        }
        let shared = Arc::clone(&self.shared);
        let rows = self.run(async move {
            let (keys, versions): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
            shared.query(&shared.statements.check, &[&keys, &versions]).await
        });
        let rows = rows.await?;
        let place = rows.first().map(|row| row.get::<_, i64>(0).saturating_sub(1));
        let place = place.map(usize::try_from).transpose().unwrap_or_default();
        Ok(place.map_or(Judged::Applied(0), Judged::Failed))
    }

    async fn judge(&self, encoded: Encoded) -> Result<Judged, StoreError> {
        let ended = |error| Failure::unknown("the runtime has ended", error);
        Ok(self.shared.queue.push(encoded).await.map_err(ended)??)
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = self.numbers(keys.iter().map(Key::table)).await?;
        let asked: Arc<Vec<_>> = Arc::new(keys.iter().map(|key| numbers.bytes(key)).collect());
        let (shared, all) = (Arc::clone(&self.shared), Arc::clone(&asked));
        let rows = self.run(async move { shared.query(&shared.statements.get, &[&*all]).await });
        let rows = rows.await?;
        let found = rows.iter().map(Found::read).collect::<Result<Vec<_>, _>>()?;
        let found: HashMap<_, _> = found.into_iter().map(|found| (found.key, found)).collect();
        let row = |(key, bytes): (&Key, &Vec<u8>)| {
            found.get(bytes.as_slice()).map(|found| found.row(key.clone()))
        };
        Ok(keys.iter().zip(&*asked).map(row).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let table = scan.table;
        let numbers = self.numbers(std::iter::once(table)).await?;
        let from = numbers.bytes_in(table, &scan.from);
        let until = match &scan.until {
            Some(until) => numbers.bytes_in(table, until),
            None => numbers.end(table),
        };
        let limit = i64::try_from(scan.limit).unwrap_or(i64::MAX);
        let (shared, order) = (Arc::clone(&self.shared), scan.order);
        let rows = self.run(async move {
            let sql = match order {
                Order::Ascending => &shared.statements.scan_up,
                Order::Descending => &shared.statements.scan_down,
            };
            shared.query(sql, &[&from, &until, &limit]).await
        });
        let rows = rows.await?;
        rows.iter()
            .map(|row| {
                let found = Found::read(row)?;
                let key = found.key.get(2..).ok_or_else(|| StoreError::corrupt("a short key"))?;
                Ok(found.row(Key::new(table, key)))
            })
            .collect()
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let judged = batch.preconditions.iter().map(|of| of.key.table());
        let changed = batch.changes.iter().map(|change| change.key().table());
        let numbers = self.numbers(judged.chain(changed)).await?;
        let encoded = Encoded::new(&batch, &numbers, self.shared.seed);
        let judged = match batch.changes.is_empty() {
            true => self.check(encoded.judged).await?,
            false => self.judge(encoded).await?,
        };
        match judged {
            Judged::Applied(number) => Ok(Commit::Committed(version(number))),
            Judged::Failed(place) => {
                let failed = batch.expectations().nth(place).map(|(key, _)| key.clone());
                let failed = failed.ok_or_else(|| {
                    StoreError::unavailable("the database judged what it was not asked")
                });
                failed.map(Commit::Conflict)
            }
        }
    }
}

/// Row as the database has it.
struct Found<'a> {
    key: &'a [u8],
    document: Document,
    version: Version,
}

impl<'a> Found<'a> {
    fn read(row: &'a tokio_postgres::Row) -> Result<Self, StoreError> {
        let read = || {
            let document: &str = row.try_get(2)?;
            Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?, document))
        };
        let damaged = |error| StoreError::corrupt("a row cannot be read").with_source(error);
        let (key, number, document) = read().map_err(damaged)?;
        let document = Document::from_stored(document.as_bytes());
        let document = document
            .map_err(|error| StoreError::corrupt("a document cannot be read").with_source(error))?;
        Ok(Self { key, document, version: version(number) })
    }

    fn row(&self, key: Key) -> Row {
        Row { key, document: self.document.clone(), version: self.version }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let isolation = self.shared.isolation;
        f.debug_struct("PostgresStore").field("isolation", &isolation).finish_non_exhaustive()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.runtime.end(std::mem::take(&mut self.lanes));
    }
}
