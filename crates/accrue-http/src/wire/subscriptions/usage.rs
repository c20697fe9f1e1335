use accrue::{
    JsonNumber, MetricId, PropertyName,
    usage::{self, UsageMetrics, UsageQuery, View},
};

use crate::{
    problem::Problem,
    shape::{Fields, Moment, Reader, Source, Sparse, choices, request, response},
    wire::{
        costs::{ViewMode, query_timeframe},
        dates::instants_are_in_order,
        pages::PaginationMetadata,
    },
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
        /// Start of the timeframe: that of the current billing period where none is given.
        timeframe_start: Option<Moment>,
        /// End of the timeframe: now where none is given; that of the billing period where nothing is
        /// given, nor divided.
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
    instants_are_in_order(fields, reader);
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
    /// The usage of a subscription.
    pub(crate) struct SubscriptionUsage {
        /// The usage of each metric, or of each group of its events.
        data: Vec<UsageSeries>,
        /// Pagination of grouped usage.
        pagination_metadata: Sparse<PaginationMetadata>,
    }

    /// The usage of one metric, or of one group of its events.
    pub(crate) struct UsageSeries {
        /// Metric.
        billable_metric: NamedMetric,
        /// Value that the events of a group share.
        metric_group: Sparse<MetricGroup>,
        /// View of the days.
        view_mode: ViewMode,
        /// Figures, oldest first.
        usage: Vec<Slot>,
    }

    /// A metric by its name.
    pub(crate) struct NamedMetric {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
    }

    /// A value of a property.
    pub(crate) struct MetricGroup {
        /// Property.
        property_key: PropertyName,
        /// Text of the value.
        property_value: String,
    }

    /// The usage in a timeframe.
    pub(crate) struct Slot {
        /// Start of the timeframe.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Figure; 0 where there are no events.
        quantity: JsonNumber,
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
            timeframe: query_timeframe(self.timeframe_start, self.timeframe_end)?,
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

impl SubscriptionUsage {
    /// Writes the usage. All groups are on one page.
    pub(crate) fn of(series: Vec<usage::UsageSeries>, is_grouped: bool, mode: ViewMode) -> Self {
        Self {
            data: series.into_iter().map(|series| UsageSeries::of(series, mode)).collect(),
            pagination_metadata: Sparse(is_grouped.then_some(PaginationMetadata::LAST)),
        }
    }
}

impl UsageSeries {
    fn of(series: usage::UsageSeries, view_mode: ViewMode) -> Self {
        let usage = series.usage.into_iter().map(|slot| Slot {
            timeframe_start: slot.timeframe.start().into(),
            timeframe_end: slot.timeframe.end().into(),
            quantity: JsonNumber(slot.quantity.unwrap_or_default()),
        });
        let group = series.group.map(|group| MetricGroup {
            property_key: group.property,
            property_value: group.value.unwrap_or_default(),
        });
        Self {
            billable_metric: NamedMetric {
                id: series.metric_id.to_string(),
                name: series.name.to_string(),
            },
            metric_group: Sparse(group),
            view_mode,
            usage: usage.collect(),
        }
    }
}
