//! Metrics, and the catalogue that every event is held against.

use std::sync::Arc;

use crate::{
    Error, MetricId, Page, PageRequest,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, lists::Walk},
        time::metering,
    },
    limits,
    metric::{Metric, MetricFilter, MetricUpdate, NewMetric},
    page::Listing,
    schema::{self, Index, Nothing},
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
        Call::new(self, Op::new("create_metric", new, |tx, new| create_metric(tx, new)))
    }

    /// Changes a metric. Its query never changes.
    pub fn update_metric(&self, id: MetricId, update: MetricUpdate) -> Call<Metric> {
        Call::new(
            self,
            Op::new("update_metric", (id, update), |tx, (id, update)| {
                update_metric(tx, *id, update)
            }),
        )
    }

    /// Archives a metric: no new alert can watch it, and it goes on to measure for those that do. A
    /// second time is a constraint violation.
    pub fn archive_metric(&self, id: MetricId) -> Call<Metric> {
        Call::new(self, Op::new("archive_metric", id, |tx, id| archive_metric(tx, *id)))
    }

    /// Makes an archived metric active again: it has measured all the while. Of another it is a
    /// constraint violation.
    pub fn unarchive_metric(&self, id: MetricId) -> Call<Metric> {
        Call::new(self, Op::new("unarchive_metric", id, |tx, id| unarchive_metric(tx, *id)))
    }

    /// Returns a metric.
    pub async fn fetch_metric(&self, id: MetricId) -> Result<Metric, Error> {
        rows::metrics::metric(&mut self.reading(), id).await
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

#[boxed]
async fn create_metric(tx: &mut Transaction<'_>, new: &NewMetric) -> Result<Metric, Stop> {
    let item = rows::items::item(tx, new.item_id).await?;
    if item.archived_at.is_some() {
        return Err(Error::constraint("the item is archived").into());
    }
    let guard = rows::account::guard(tx).await?;
    let mut catalogue = Arc::unwrap_or_clone(rows::metrics::catalogue(tx).await?);
    if catalogue.metrics.len() >= limits::METRICS {
        let detail = format!("the account has {} metrics already", limits::METRICS);
        return Err(Error::constraint(detail).into());
    }
    metering::check_terms(rows::metrics::meters(tx).await?.terms(), new.sql.terms())?;
    let id = MetricId::generate(tx.now, tx.entropy());
    catalogue.revision = catalogue.revision.saturating_add(1);
    catalogue.metrics.push(id);
    let metric = new.clone().decide(id, catalogue.revision, tx.now)?;
    metering::schedule_measuring(tx, &mut catalogue).await?;
    guard.put(tx, &schema::metric_catalogue(tx.account), &catalogue)?;
    guard.put(tx, &schema::metric(tx.account, id), &metric)?;
    tx.put(&schema::metric_by_time(tx.account, &metric), &Nothing {})?;
    Ok(metric)
}

#[boxed]
async fn update_metric(
    tx: &mut Transaction<'_>,
    id: MetricId,
    update: &MetricUpdate,
) -> Result<Metric, Stop> {
    let metric = update.clone().decide(rows::metrics::metric(tx, id).await?)?;
    put_metric(tx, &metric).await?;
    Ok(metric)
}

#[boxed]
async fn archive_metric(tx: &mut Transaction<'_>, id: MetricId) -> Result<Metric, Stop> {
    let metric = rows::metrics::metric(tx, id).await?.archive()?;
    put_metric(tx, &metric).await?;
    Ok(metric)
}

#[boxed]
async fn unarchive_metric(tx: &mut Transaction<'_>, id: MetricId) -> Result<Metric, Stop> {
    let metric = rows::metrics::metric(tx, id).await?.unarchive()?;
    put_metric(tx, &metric).await?;
    Ok(metric)
}

async fn put_metric(tx: &mut Transaction<'_>, metric: &Metric) -> Result<(), Error> {
    rows::account::guard(tx).await?.put(tx, &schema::metric(tx.account, metric.id), metric)
}
