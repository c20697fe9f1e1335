//! Metrics, and the meters that divide them.

use std::sync::Arc;

use crate::{
    Error, MetricId,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            account::{self, AccountTerms},
            corrections,
        },
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
pub(in crate::engine) async fn catalogue(
    tx: &mut Transaction<'_>,
) -> Result<Arc<Catalogue>, Error> {
    if let Some(terms) = account::recalled(tx).await? {
        return Ok(Arc::clone(&terms.catalogue));
    }
    let slot = schema::metric_catalogue(tx.account);
    Ok(account::guard(tx).await?.get_shared(tx, &slot).await?.unwrap_or_default())
}

/// Returns everything that events of the account are held against, in order of creation.
pub(in crate::engine) async fn meters(tx: &mut Transaction<'_>) -> Result<Arc<Meters>, Error> {
    if let Some(terms) = account::recalled(tx).await? {
        return Ok(Arc::clone(&terms.meters));
    }
    let guard = account::guard(tx).await?;
    let catalogue = catalogue(tx).await?;
    let terms = Arc::new(AccountTerms {
        meters: Arc::new(read_meters(tx, &guard, &catalogue).await?),
        catalogue,
        entry: account::account_entry(tx).await?,
        corrections: corrections::of_all(tx).await?,
    });
    guard.remember(tx, &terms);
    Ok(Arc::clone(&terms.meters))
}

async fn read_meters(
    tx: &mut Transaction<'_>,
    guard: &Guard<AccountHead>,
    catalogue: &Catalogue,
) -> Result<Meters, Error> {
    let Catalogue { revision, metrics, meters, .. } = catalogue;
    let metrics: Vec<_> = metrics.iter().map(|id| schema::metric(tx.account, *id)).collect();
    let meters: Vec<_> = meters.iter().map(|id| schema::meter(tx.account, *id)).collect();
    let keys = metrics.iter().map(Slot::key).chain(meters.iter().map(Slot::key));
    Guard::fetch(tx, keys.map(|key| (guard, key)).collect::<Vec<_>>()).await?;
    let missing = || Error::corrupt("the catalogue of metrics names nothing");
    let metrics = guard.get_all(tx, &metrics).await?.into_iter().collect::<Option<Vec<_>>>();
    let meters = guard.get_all(tx, &meters).await?.into_iter().collect::<Option<Vec<_>>>();
    let (metrics, meters) = (metrics.ok_or_else(missing)?, meters.ok_or_else(missing)?);
    Ok(Meters::all(*revision, metrics, meters))
}
