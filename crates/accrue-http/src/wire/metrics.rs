use accrue::{
    Description, ItemId, Metadata, Name, limits,
    metric::{self, MetricQuery, MetricStatus, MetricUpdate},
    related::Related,
};

use super::items::Item;
use crate::shape::{
    Describe, Maybe, MetadataIn, Moment, Nullable, Schema, Whole, Words, choices, metadata_update,
    new_metadata, request, response, texts,
};

request! {
    /// A metric to create.
    pub(crate) struct NewMetric {
        /// What people call it.
        name: Name,
        /// What it is.
        description: Nullable<Words>,
        /// The item that it belongs to.
        item_id: ItemId,
        /// What of the events it measures.
        sql: MetricQuery,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }

    /// What to change of a metric.
    pub(crate) struct UpdateMetric {
        /// What people call it from now on.
        name: Option<Name>,
        /// What it is; null where nothing is to be said of it.
        description: Maybe<Words>,
        /// Texts to set, or to remove where they are null; null removes all.
        metadata: MetadataIn,
    }

    /// Which metrics, and which page of them.
    pub(crate) struct MetricListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Only those of one status.
        status: Option<MetricStatus>,
        /// Created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Moment>,
        /// Created later.
        "created_at[gt]" created_at_gt: Option<Moment>,
        /// Created earlier.
        "created_at[lt]" created_at_lt: Option<Moment>,
        /// Created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Moment>,
    }
}

response! {
    /// What of the events is measured (wire 5.2).
    pub(crate) struct Metric {
        /// Its id.
        id: String,
        /// What people call it.
        name: Name,
        /// What it is.
        description: Option<Description>,
        /// Whether new alerts and prices can use it.
        status: MetricStatus,
        /// The item that it belongs to.
        item: ItsItem,
        /// Texts of the caller's own.
        metadata: Metadata,
        /// What of the events it measures.
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
