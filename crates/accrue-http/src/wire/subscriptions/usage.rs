use accrue::{
    JsonNumber, MetricId, PropertyName,
    usage::{UsageMetrics, UsageQuery, UsageSeries, View},
};
use serde::Serialize;

use crate::{
    problem::Problem,
    shape::{
        Describe, Fields, Moment, Object, Property, Reader, Schema, Source, choices, request,
        response,
    },
    wire::costs::{ViewMode, ends_after_its_start, timeframe},
};

request! {
    /// Filters of usage, and the division of its timeframe.
    pub(crate) struct UsageQueryIn => its_rules {
        /// Metric of the usage: those that the subscription prices where nothing is said.
        billable_metric_id: Option<MetricId>,
        /// Property to group the usage by.
        group_by: Option<PropertyName>,
        /// Division of the timeframe: day by day, or none where nothing is said.
        granularity: Option<Granularity>,
        /// View of the days: each day alone, the default, or from the start of the timeframe to the
        /// end of each.
        view_mode: Option<ViewMode>,
        /// Start of the timeframe, which is the current billing period where none is given.
        timeframe_start: Option<Moment>,
        /// End of the timeframe.
        timeframe_end: Option<Moment>,
        /// Property of the events that count.
        first_dimension_key: Option<PropertyName>,
        /// Text that this property has.
        first_dimension_value: Option<String>,
        /// Another property of the events that count.
        second_dimension_key: Option<PropertyName>,
        /// Text that this property has.
        second_dimension_value: Option<String>,
    }
}

fn its_rules(fields: &Fields<'_>, reader: &mut Reader) {
    ends_after_its_start(fields, reader);
    for dimension in ["first", "second"] {
        let [key, value] = ["key", "value"].map(|part| format!("{dimension}_dimension_{part}"));
        for (there, missing) in [(&key, &value), (&value, &key)] {
            if has_text(fields, there) && !has_text(fields, missing) {
                let message = format!("is missing beside {there}");
                let _: Option<()> = reader.wrong(&fields.pointer(missing), message);
            }
        }
    }
}

/// Tells whether a parameter is there: an empty one is not.
fn has_text(fields: &Fields<'_>, name: &str) -> bool {
    fields.peek::<Option<String>>(name, Source::Query).flatten().is_some()
}

response! {
    /// The usage of one metric.
    struct Ungrouped {
        /// Metric.
        billable_metric: NamedMetric,
        /// View of the days.
        view_mode: ViewMode,
        /// Figures, oldest first.
        usage: Vec<Slot>,
    }

    /// The usage of one metric, of the events that share a value.
    struct Grouped {
        /// Metric.
        billable_metric: NamedMetric,
        /// Value that the events share.
        metric_group: MetricGroup,
        /// View of the days.
        view_mode: ViewMode,
        /// Figures, oldest first.
        usage: Vec<Slot>,
    }

    /// A metric by its name.
    struct NamedMetric {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
    }

    /// A value of a property.
    struct MetricGroup {
        /// Property.
        property_key: PropertyName,
        /// Text of the value.
        property_value: String,
    }

    /// The usage in a timeframe.
    struct Slot {
        /// Start of the timeframe.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Figure; 0 where there are no events.
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
    /// The pagination of usage: all groups are on one page.
    struct OnePage {
        /// Always false.
        has_more: bool,
        /// Always null.
        next_cursor: Option<String>,
    }
}

/// The division of a timeframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    Day,
}

choices! {
    Granularity { "day" => Granularity::Day, }
}

impl UsageQueryIn {
    /// Makes the query for the engine, and returns the view of the answer.
    pub(crate) fn into_query(self) -> Result<(UsageQuery, ViewMode), Problem> {
        let mode = self.view_mode.unwrap_or(ViewMode::Periodic);
        let first = self.first_dimension_key.zip(self.first_dimension_value);
        let second = self.second_dimension_key.zip(self.second_dimension_value);
        let query = UsageQuery {
            timeframe: timeframe(self.timeframe_start, self.timeframe_end)?,
            view: match (self.granularity, mode) {
                (None, _) => View::Whole,
                (Some(Granularity::Day), ViewMode::Periodic) => View::Periodic,
                (Some(Granularity::Day), ViewMode::Cumulative) => View::Cumulative,
            },
            metrics: self.billable_metric_id.map_or(UsageMetrics::Priced, UsageMetrics::One),
            group_by: self.group_by,
            dimensions: [first, second].into_iter().flatten().collect(),
            ..UsageQuery::default()
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
