//! Metrics, and the meters that divide them.

use crate::{
    Error, MetricId,
    engine::kernel::Transaction,
    metric::Metric,
    schema::{self, Catalogue, Slot},
    usage::Meters,
};

impl Transaction<'_> {
    pub(in crate::engine) async fn metric(&mut self, id: MetricId) -> Result<Metric, Error> {
        let found = self.get(&schema::metric(self.account, id)).await?;
        found.ok_or_else(|| Error::not_found("metric", id))
    }

    /// Returns everything that events of the account are held against, in order of creation.
    pub(in crate::engine) async fn meters(&mut self) -> Result<Meters, Error> {
        let catalogue = self.get(&schema::metric_catalogue(self.account)).await?;
        let Catalogue { revision, metrics, meters, .. } = catalogue.unwrap_or_default();
        let metrics: Vec<_> = metrics.iter().map(|id| schema::metric(self.account, *id)).collect();
        let meters: Vec<_> = meters.iter().map(|id| schema::meter(self.account, *id)).collect();
        let keys = metrics.iter().map(Slot::key).chain(meters.iter().map(Slot::key));
        self.fetch(keys.collect::<Vec<_>>()).await?;
        let missing = || Error::corrupt("the catalogue of metrics names nothing");
        let metrics = self.get_all(&metrics).await?.into_iter().collect::<Option<Vec<_>>>();
        let meters = self.get_all(&meters).await?.into_iter().collect::<Option<Vec<_>>>();
        let (metrics, meters) = (metrics.ok_or_else(missing)?, meters.ok_or_else(missing)?);
        Ok(Meters::all(revision, metrics, meters))
    }
}
