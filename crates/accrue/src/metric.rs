//! Metrics: aggregates of events, each given by a query.

mod filter;
mod function;
mod query;
mod scalar;

use serde::{Deserialize, Serialize};

pub use self::{
    filter::MetricFilter,
    function::Function,
    query::{Contribution, MetricQuery},
    scalar::Scalar,
};
use crate::{
    Decimal, Description, Error, ItemId, Metadata, MetadataUpdate, MetricId, Name, Patch,
    Timestamp, metadata,
};

/// Metric: an aggregate of events (wire 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metric {
    /// Its id.
    pub id: MetricId,
    /// Its name.
    pub name: Name,
    /// Its description.
    pub description: Option<Description>,
    /// Item that it belongs to.
    pub item_id: ItemId,
    /// Query that it measures by. It never changes.
    pub sql: MetricQuery,
    /// Its status: whether new alerts and prices can use it.
    pub status: MetricStatus,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// The revision of the account's metrics that it came with.
    pub(crate) since: u64,
}

impl Metric {
    /// Returns the figure without events that contribute: zero for a count or a sum.
    pub(crate) fn figure_without_events(&self) -> Option<Decimal> {
        match self.sql.function() {
            Function::CountAll
            | Function::Count(_)
            | Function::CountDistinct(_)
            | Function::Sum(_) => Some(Decimal::zero()),
            Function::Min(_) | Function::Max(_) | Function::Latest(_) => None,
        }
    }
}

/// Status of a metric: whether new alerts and prices can use it. An archived one keeps measuring for
/// those that exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MetricStatus {
    /// Metric that new alerts and prices can use.
    Active,
    /// Metric that new alerts and prices cannot use.
    Archived,
    /// Metric that is not ready. No operation creates one: a list of them is empty.
    Draft,
}

/// Metric to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewMetric {
    /// Its name.
    pub name: Name,
    /// Its description.
    pub description: Option<Description>,
    /// Item that it belongs to.
    pub item_id: ItemId,
    /// Query that it measures by.
    pub sql: MetricQuery,
    /// The caller's own strings.
    pub metadata: Metadata,
}

impl NewMetric {
    /// Prepares a metric with the values that every metric needs.
    #[must_use]
    pub const fn new(name: Name, item_id: ItemId, sql: MetricQuery) -> Self {
        Self { name, description: None, item_id, sql, metadata: Metadata::new() }
    }

    pub(crate) fn decide(self, id: MetricId, since: u64, now: Timestamp) -> Result<Metric, Error> {
        metadata::check(&self.metadata)?;
        Ok(Metric {
            id,
            name: self.name,
            description: self.description,
            item_id: self.item_id,
            sql: self.sql,
            status: MetricStatus::Active,
            metadata: self.metadata,
            created_at: now,
            since,
        })
    }
}

/// Changes to a metric. Its query never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MetricUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// Change of its description.
    pub description: Patch<Description>,
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
}

impl MetricUpdate {
    pub(crate) fn decide(self, mut metric: Metric) -> Result<Metric, Error> {
        metric.name = self.name.unwrap_or(metric.name);
        self.description.apply(&mut metric.description);
        self.metadata.apply(&mut metric.metadata)?;
        Ok(metric)
    }
}

impl Metric {
    pub(crate) fn archive(mut self) -> Result<Self, Error> {
        if self.status == MetricStatus::Archived {
            return Err(Error::constraint("the metric is archived already"));
        }
        self.status = MetricStatus::Archived;
        Ok(self)
    }

    pub(crate) fn unarchive(mut self) -> Result<Self, Error> {
        if self.status != MetricStatus::Archived {
            return Err(Error::constraint("the metric is not archived"));
        }
        self.status = MetricStatus::Active;
        Ok(self)
    }
}
