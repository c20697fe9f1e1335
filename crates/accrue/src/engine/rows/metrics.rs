//! Metrics, and the meters that divide them.

use crate::{
    Error, MetricId,
    engine::kernel::Transaction,
    metric::Metric,
    schema::{self, Catalogue, Slot},
    usage::Meters,
};

pub(in crate::engine) async fn metric(
    tx: &mut Transaction<'_>,
    id: MetricId,
) -> Result<Metric, Error> {
    let found = tx.get(&schema::metric(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("metric", id))
}

/// Returns everything that events of the account are held against, in order of creation.
pub(in crate::engine) async fn meters(tx: &mut Transaction<'_>) -> Result<Meters, Error> {
    let catalogue = tx.get(&schema::metric_catalogue(tx.account)).await?;
    let Catalogue { revision, metrics, meters, .. } = catalogue.unwrap_or_default();
    let metrics: Vec<_> = metrics.iter().map(|id| schema::metric(tx.account, *id)).collect();
    let meters: Vec<_> = meters.iter().map(|id| schema::meter(tx.account, *id)).collect();
    let keys = metrics.iter().map(Slot::key).chain(meters.iter().map(Slot::key));
    tx.fetch(keys.collect::<Vec<_>>()).await?;
    let missing = || Error::corrupt("the catalogue of metrics names nothing");
    let metrics = tx.get_all(&metrics).await?.into_iter().collect::<Option<Vec<_>>>();
    let meters = tx.get_all(&meters).await?.into_iter().collect::<Option<Vec<_>>>();
    let (metrics, meters) = (metrics.ok_or_else(missing)?, meters.ok_or_else(missing)?);
    Ok(Meters::all(revision, metrics, meters))
}
