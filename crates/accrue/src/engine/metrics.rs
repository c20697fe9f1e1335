//! Metrics, and the catalogue that every event is held against.

use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    lists::Walk,
    transaction::{Stop, Transaction},
};
use crate::{
    Error, MetricId, Page, PageRequest,
    idempotency::Fingerprint,
    limits,
    metric::{Metric, MetricFilter, MetricUpdate, NewMetric},
    page::Listing,
    schema::{self, Catalogue, Index, Nothing, Slot},
    usage::Meters,
};

impl Account {
    /// Creates a metric (wire 5.2). It measures all events, those that were accepted before too.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, item::NewItem, store::MemoryStore};
    /// # use accrue::metric::{MetricQuery, NewMetric};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("API requests")?)).await?;
    /// let sql = MetricQuery::parse("SELECT sum(output_tokens) FROM events")?;
    /// let metric = NewMetric::new(Name::parse("output tokens")?, item.id, sql);
    /// account.create_metric(metric).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_metric(&self, new: NewMetric) -> Call<Metric> {
        Call::new(self, CreateMetric { new })
    }

    /// Changes a metric. What it measures never changes.
    pub fn update_metric(&self, id: MetricId, update: MetricUpdate) -> Call<Metric> {
        Call::new(self, UpdateMetric { id, update })
    }

    /// Archives a metric: no new alert can watch it, and it goes on to measure for those that do. A
    /// second time is a constraint violation.
    pub fn archive_metric(&self, id: MetricId) -> Call<Metric> {
        Call::new(self, ArchiveMetric { id })
    }

    /// Makes an archived metric active again: it has measured all the while. Of another it is a
    /// constraint violation.
    pub fn unarchive_metric(&self, id: MetricId) -> Call<Metric> {
        Call::new(self, UnarchiveMetric { id })
    }

    /// Returns a metric.
    pub async fn fetch_metric(&self, id: MetricId) -> Result<Metric, Error> {
        self.reading().metric(id).await
    }

    /// Lists the metrics, newest first: archived ones too where no status is asked for.
    pub async fn list_metrics(
        &self,
        filter: &MetricFilter,
        page: &PageRequest,
    ) -> Result<Page<Metric>, Error> {
        let filtered = format!("{filter:?}");
        let listing = Listing { name: "metrics", account: self.id(), filter: filtered };
        // An account has so few that a status needs no index.
        let index = Index::metrics(self.id());
        let mut walk = Walk::new(listing, &index, filter.created, page)?;
        let slot = |id| schema::metric(self.id(), MetricId::from_bytes(id));
        let is_listed = |metric: &Metric| filter.status.is_none_or(|of| of == metric.status);
        let show = |metric: Metric| is_listed(&metric).then_some(metric);
        walk.run(&mut self.reading(), |at| slot(schema::id_at(at)), show).await
    }
}

impl Transaction<'_> {
    pub(super) async fn metric(&mut self, id: MetricId) -> Result<Metric, Error> {
        let found = self.get(&schema::metric(self.account, id)).await?;
        found.ok_or_else(|| Error::not_found("metric", id))
    }

    /// Returns everything that events of the account are held against, in order of creation.
    pub(super) async fn meters(&mut self) -> Result<Meters, Error> {
        let catalogue = self.get(&schema::metric_catalogue(self.account)).await?;
        let Catalogue { revision, metrics, splits, .. } = catalogue.unwrap_or_default();
        let metrics: Vec<_> = metrics.iter().map(|id| schema::metric(self.account, *id)).collect();
        let splits: Vec<_> = splits.iter().map(|id| schema::split(self.account, *id)).collect();
        let keys = metrics.iter().map(Slot::key).chain(splits.iter().map(Slot::key));
        self.fetch(keys.collect::<Vec<_>>()).await?;
        let missing = || Error::corrupt("the catalogue of metrics names nothing");
        let metrics = self.get_all(&metrics).await?.into_iter().collect::<Option<Vec<_>>>();
        let splits = self.get_all(&splits).await?.into_iter().collect::<Option<Vec<_>>>();
        let (metrics, splits) = (metrics.ok_or_else(missing)?, splits.ok_or_else(missing)?);
        Ok(Meters::all(revision, metrics, splits))
    }
}

struct CreateMetric {
    new: NewMetric,
}

#[async_trait]
impl Command for CreateMetric {
    type Outcome = Metric;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Metric, Stop> {
        let item = tx.item(self.new.item_id).await?;
        if item.archived_at.is_some() {
            return Err(Error::constraint("the item is archived").into());
        }
        let slot = schema::metric_catalogue(tx.account);
        let mut catalogue = tx.get(&slot).await?.unwrap_or_default();
        if catalogue.metrics.len() >= limits::METRICS {
            let detail = format!("the account has {} metrics already", limits::METRICS);
            return Err(Error::constraint(detail).into());
        }
        check_terms(&tx.meters().await?, &self.new)?;
        let id = MetricId::generate(tx.now, tx.entropy());
        catalogue.revision = catalogue.revision.saturating_add(1);
        catalogue.metrics.push(id);
        let metric = self.new.clone().decide(id, catalogue.revision, tx.now)?;
        tx.schedule_measuring(&mut catalogue).await?;
        tx.put(&slot, &catalogue)?;
        tx.put(&schema::metric(tx.account, id), &metric)?;
        tx.put(&schema::metric_by_time(tx.account, &metric), &Nothing {})?;
        Ok(metric)
    }
}

impl Request for CreateMetric {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_metric", &self.new)
    }
}

/// Refuses a metric with which each event of the account would take too many comparisons.
fn check_terms(meters: &Meters, new: &NewMetric) -> Result<(), Error> {
    let (there, own, most) = (meters.terms(), new.sql.terms(), limits::METRIC_TERMS);
    if there.saturating_add(own) <= most {
        return Ok(());
    }
    Err(Error::constraint(format!(
        "with {own} comparisons beside {there} of other metrics, an event would take more than {most}: a \
         shorter condition helps"
    )))
}

struct UpdateMetric {
    id: MetricId,
    update: MetricUpdate,
}

#[async_trait]
impl Command for UpdateMetric {
    type Outcome = Metric;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Metric, Stop> {
        let metric = self.update.clone().decide(tx.metric(self.id).await?)?;
        tx.put(&schema::metric(tx.account, self.id), &metric)?;
        Ok(metric)
    }
}

impl Request for UpdateMetric {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("update_metric", &(self.id, &self.update))
    }
}

struct ArchiveMetric {
    id: MetricId,
}

#[async_trait]
impl Command for ArchiveMetric {
    type Outcome = Metric;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Metric, Stop> {
        let metric = tx.metric(self.id).await?.archive()?;
        tx.put(&schema::metric(tx.account, self.id), &metric)?;
        Ok(metric)
    }
}

impl Request for ArchiveMetric {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("archive_metric", &self.id)
    }
}

struct UnarchiveMetric {
    id: MetricId,
}

#[async_trait]
impl Command for UnarchiveMetric {
    type Outcome = Metric;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Metric, Stop> {
        let metric = tx.metric(self.id).await?.unarchive()?;
        tx.put(&schema::metric(tx.account, self.id), &metric)?;
        Ok(metric)
    }
}

impl Request for UnarchiveMetric {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("unarchive_metric", &self.id)
    }
}
