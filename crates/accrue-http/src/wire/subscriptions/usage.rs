use accrue::{
    JsonNumber, MetricId, PropertyName,
    usage::{UsageQuery, UsageSeries, View},
};
use serde::Serialize;

use crate::{
    problem::Problem,
    shape::{Describe, Moment, Object, Property, Schema, choices, request, response},
    wire::{
        costs::{ViewMode, ends_after_its_start, timeframe},
        not_built::NotBuilt,
    },
};

request! {
    /// Which usage, and how it is cut.
    pub(crate) struct UsageQueryIn => ends_after_its_start {
        /// Of which metric: of all where nothing is said.
        billable_metric_id: Option<MetricId>,
        /// By the values of which property.
        group_by: Option<PropertyName>,
        /// Day by day, or not cut where nothing is said.
        granularity: Option<Granularity>,
        /// Each day alone, as where nothing is said, or from the beginning to the end of each.
        view_mode: Option<ViewMode>,
        /// From when: the current billing period where nothing is said.
        timeframe_start: Option<Moment>,
        /// Until when.
        timeframe_end: Option<Moment>,
        /// Not available with a value.
        first_dimension_key: Option<NotBuilt<String>>,
        /// Not available with a value.
        first_dimension_value: Option<NotBuilt<String>>,
        /// Not available with a value.
        second_dimension_key: Option<NotBuilt<String>>,
        /// Not available with a value.
        second_dimension_value: Option<NotBuilt<String>>,
    }
}

response! {
    /// The usage of one metric.
    struct Ungrouped {
        /// The metric.
        billable_metric: NamedMetric,
        /// How it is cut.
        view_mode: ViewMode,
        /// The figures, oldest first.
        usage: Vec<Slot>,
    }

    /// The usage of one metric, of the events that share a value.
    struct Grouped {
        /// The metric.
        billable_metric: NamedMetric,
        /// The value.
        metric_group: MetricGroup,
        /// How it is cut.
        view_mode: ViewMode,
        /// The figures, oldest first.
        usage: Vec<Slot>,
    }

    /// A metric by its name.
    struct NamedMetric {
        /// Its id.
        id: String,
        /// What people call it.
        name: String,
    }

    /// A value of a property.
    struct MetricGroup {
        /// The property.
        property_key: PropertyName,
        /// The text of the value; empty where events have none.
        property_value: String,
    }

    /// The usage between two instants.
    struct Slot {
        /// From when.
        timeframe_start: Moment,
        /// Until when.
        timeframe_end: Moment,
        /// The figure; 0 where there are no events.
        quantity: JsonNumber,
    }
}

/// The usage of a subscription: of each metric, or of each group of its events.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UsageOverTime {
    data: Vec<Series>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination_metadata: Option<OnePage>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Series {
    Ungrouped(Ungrouped),
    Grouped(Grouped),
}

response! {
    /// All groups are on one page.
    struct OnePage {
        /// Never.
        has_more: bool,
        /// Always null.
        next_cursor: Option<String>,
    }
}

/// How usage is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    Day,
}

choices! {
    Granularity { "day" => Granularity::Day, }
}

impl UsageQueryIn {
    /// Makes what the engine is asked for, and says how the answer is cut.
    pub(crate) fn into_query(self) -> Result<(UsageQuery, ViewMode), Problem> {
        let mode = self.view_mode.unwrap_or(ViewMode::Periodic);
        let query = UsageQuery {
            timeframe: timeframe(self.timeframe_start, self.timeframe_end)?,
            view: match (self.granularity, mode) {
                (None, _) => View::Whole,
                (Some(Granularity::Day), ViewMode::Periodic) => View::Periodic,
                (Some(Granularity::Day), ViewMode::Cumulative) => View::Cumulative,
            },
            metric_id: self.billable_metric_id,
            group_by: self.group_by,
        };
        Ok((query, mode))
    }
}

impl UsageOverTime {
    pub(crate) fn of(series: Vec<UsageSeries>, is_grouped: bool, mode: ViewMode) -> Self {
        let page = OnePage { has_more: false, next_cursor: None };
        Self {
            data: series.into_iter().map(|series| Series::of(series, mode)).collect(),
            pagination_metadata: is_grouped.then_some(page),
        }
    }
}

impl Series {
    fn of(series: UsageSeries, view_mode: ViewMode) -> Self {
        let metric =
            NamedMetric { id: series.metric_id.to_string(), name: series.name.to_string() };
        let usage = series.usage.into_iter().map(|slot| Slot {
            timeframe_start: slot.timeframe.start().into(),
            timeframe_end: slot.timeframe.end().into(),
            quantity: JsonNumber(slot.quantity.unwrap_or_default()),
        });
        let usage = usage.collect();
        match series.group {
            None => Self::Ungrouped(Ungrouped { billable_metric: metric, view_mode, usage }),
            Some(group) => Self::Grouped(Grouped {
                billable_metric: metric,
                metric_group: MetricGroup {
                    property_key: group.property,
                    property_value: group.value.unwrap_or_default(),
                },
                view_mode,
                usage,
            }),
        }
    }
}

/// Grouped usage has a group, and says that there is one page.
impl Describe for UsageOverTime {
    fn schema() -> Schema {
        let property = |name, schema, is_required| Property {
            name,
            description: String::new(),
            schema,
            is_required,
        };
        let Schema::Object(mut series) = Grouped::schema() else { return Schema::Any };
        series.name = "UsageSeries";
        series.description = "The usage of one metric, or of one group of its events.".to_owned();
        for property in &mut series.properties {
            property.is_required &= property.name != "metric_group";
        }
        let items = Box::new(Schema::Object(series));
        Schema::Object(Object {
            name: "SubscriptionUsage",
            description: "The usage of a subscription.".to_owned(),
            is_closed: false,
            properties: vec![
                property("data", Schema::Array { items, most: None }, true),
                property("pagination_metadata", OnePage::schema(), false),
            ],
        })
    }
}
