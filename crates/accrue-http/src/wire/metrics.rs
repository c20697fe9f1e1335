use accrue::{
    Description, ItemId, Metadata, Name, limits,
    metric::{self, MetricQuery, MetricStatus, MetricUpdate},
    related::Related,
};

use super::{items::Item, pages::Limit};
use crate::{
    shape::{
        Describe, Maybe, MetadataIn, Nullable, Schema, Words, choices, metadata_update,
        new_metadata, request, response, texts,
    },
    wire::dates::{Date, created},
};

request! {
    /// A metric to create.
    pub(crate) struct NewMetric {
        /// Its name.
        name: Name,
        /// Its description.
        description: Nullable<Words>,
        /// Item that it belongs to.
        item_id: ItemId,
        /// SQL query that it measures events with.
        sql: MetricQuery,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// Changes to a metric.
    pub(crate) struct UpdateMetric {
        /// Its name from now on.
        name: Option<Name>,
        /// Its description; null removes it.
        description: Maybe<Words>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
    }

    /// Filters and page of a list of metrics.
    pub(crate) struct MetricListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Status of the metrics.
        status: Option<MetricStatus>,
        /// Metrics created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Metrics created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Metrics created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Metrics created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

created!(MetricListQuery);

response! {
    /// A metric: a figure that is measured of events (wire 5.2).
    pub(crate) struct Metric {
        /// Its id.
        id: String,
        /// Its name.
        name: Name,
        /// Its description.
        description: Option<Description>,
        /// Its status: new alerts and prices can use a metric that is active.
        status: MetricStatus,
        /// Item that it belongs to.
        item: ItsItem,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
        /// SQL query that it measures events with.
        sql: String,
    }
}

choices! {
    MetricStatus {
        "active" => MetricStatus::Active,
        "archived" => MetricStatus::Archived,
        "draft" => MetricStatus::Draft,
    }
}

texts! {
    MetricQuery: 1, limits::EXPRESSION_BYTES;
}

/// The item of a metric. It is always there: items are archived, and never deleted.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct ItsItem(Option<Item>);

impl Describe for ItsItem {
    fn schema() -> Schema {
        Item::schema()
    }
}

impl From<NewMetric> for metric::NewMetric {
    fn from(new: NewMetric) -> Self {
        let mut metric = Self::new(new.name, new.item_id, new.sql);
        metric.description = new.description.0.and_then(|words| words.0);
        metric.metadata = new_metadata(new.metadata);
        metric
    }
}

impl From<UpdateMetric> for MetricUpdate {
    fn from(update: UpdateMetric) -> Self {
        Self {
            name: update.name,
            description: update.description.and_then(|words| words.0).into(),
            metadata: metadata_update(update.metadata),
        }
    }
}

impl Metric {
    /// Writes a metric, with its item.
    pub(crate) fn of(metric: &metric::Metric, related: &Related) -> Self {
        Self {
            id: metric.id.to_string(),
            name: metric.name.clone(),
            description: metric.description.clone(),
            status: metric.status,
            item: ItsItem(related.item(metric.item_id).map(Item::from)),
            metadata: metric.metadata.clone(),
            sql: metric.sql.to_string(),
        }
    }
}
