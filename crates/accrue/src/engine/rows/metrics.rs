//! Metrics, and the meters that divide them.

use std::sync::Arc;

use crate::{
    Error, MetricId,
    engine::{
        kernel::{Guard, Transaction},
        rows::account,
    },
    metric::Metric,
    schema::{self, AccountHead, Catalogue, Slot},
    usage::Meters,
};

pub(in crate::engine) async fn metric(
    tx: &mut Transaction<'_>,
    id: MetricId,
) -> Result<Metric, Error> {
    let found = account::guard(tx).await?.get(tx, &schema::metric(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("metric", id))
}

/// Returns which metrics and meters events of the account are held against.
pub(in crate::engine) async fn catalogue(tx: &mut Transaction<'_>) -> Result<Catalogue, Error> {
    let slot = schema::metric_catalogue(tx.account);
    Ok(account::guard(tx).await?.get(tx, &slot).await?.unwrap_or_default())
}

/// Returns everything that events of the account are held against, in order of creation.
pub(in crate::engine) async fn meters(tx: &mut Transaction<'_>) -> Result<Arc<Meters>, Error> {
    let guard = account::guard(tx).await?;
    if let Some(known) = guard.recall(tx) {
        return Ok(known);
    }
    let meters = Arc::new(read_meters(tx, &guard).await?);
    guard.remember(tx, &meters);
    Ok(meters)
}

async fn read_meters(
    tx: &mut Transaction<'_>,
    guard: &Guard<AccountHead>,
) -> Result<Meters, Error> {
    let Catalogue { revision, metrics, meters, .. } = catalogue(tx).await?;
    let metrics: Vec<_> = metrics.iter().map(|id| schema::metric(tx.account, *id)).collect();
    let meters: Vec<_> = meters.iter().map(|id| schema::meter(tx.account, *id)).collect();
    let keys = metrics.iter().map(Slot::key).chain(meters.iter().map(Slot::key));
    Guard::fetch(tx, keys.map(|key| (guard, key)).collect::<Vec<_>>()).await?;
    let missing = || Error::corrupt("the catalogue of metrics names nothing");
    let metrics = guard.get_all(tx, &metrics).await?.into_iter().collect::<Option<Vec<_>>>();
    let meters = guard.get_all(tx, &meters).await?.into_iter().collect::<Option<Vec<_>>>();
    let (metrics, meters) = (metrics.ok_or_else(missing)?, meters.ok_or_else(missing)?);
    Ok(Meters::all(revision, metrics, meters))
}
