//! A store that is wrong on purpose, to see that it is found out.

use std::sync::Arc;

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// Knows nothing of the idempotency keys that were used: what is asked again is done again.
#[derive(Debug)]
pub(crate) struct Forgetful(pub(crate) Arc<dyn Store>);

fn is_forgotten(key: &Key) -> bool {
    key.table().name() == "record"
}

#[async_trait]
impl Store for Forgetful {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let found = self.0.get(keys).await?;
        let known = |(key, row): (&Key, Option<Row>)| row.filter(|_| !is_forgotten(key));
        Ok(keys.iter().zip(found).map(known).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.0.scan(scan).await
    }

    async fn commit(&self, mut batch: Batch) -> Result<Commit, StoreError> {
        batch.preconditions.retain(|of| !is_forgotten(&of.key));
        self.0.commit(batch).await
    }
}
