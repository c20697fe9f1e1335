use super::View;
use crate::{Decimal, MetricId, Name, PropertyName, Timeframe};

/// The usage of a subscription in one billing period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The billing period.
    pub timeframe: Timeframe,
    /// One figure for each metric of the account, in order of creation.
    pub metrics: Vec<MetricUsage>,
}

/// The usage of one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricUsage {
    /// The metric.
    pub metric_id: MetricId,
    /// Its name.
    pub name: Name,
    /// The figure; `None` where min, max or latest has no event.
    pub quantity: Option<Decimal>,
}

/// Which usage of a subscription to compute, and how to cut it (wire 5.1).
///
/// ```
/// use accrue::{PropertyName, usage::{UsageQuery, View}};
///
/// let by_model = UsageQuery {
///     view: View::Periodic,
///     group_by: Some(PropertyName::parse("model")?),
///     ..UsageQuery::default()
/// };
/// assert_eq!(by_model.timeframe, None);
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    /// Between which instants; the current billing period where none are given.
    pub timeframe: Option<Timeframe>,
    /// How to cut the timeframe.
    pub view: View,
    /// Of which metric; of all where none is given.
    pub metric_id: Option<MetricId>,
    /// By the values of which property.
    pub group_by: Option<PropertyName>,
}

/// The usage of one metric, or of one group of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageSeries {
    /// The metric.
    pub metric_id: MetricId,
    /// Its name.
    pub name: Name,
    /// The group; `None` where usage is not grouped.
    pub group: Option<PropertyGroup>,
    /// The figures, oldest first.
    pub usage: Vec<UsageSlot>,
}

/// The events that share a value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyGroup {
    /// The property.
    pub property: PropertyName,
    /// The text of its value; `None` where it is missing.
    pub value: Option<String>,
}

/// The usage between two instants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageSlot {
    /// Between which instants.
    pub timeframe: Timeframe,
    /// The figure; `None` where min, max or latest has no event.
    pub quantity: Option<Decimal>,
}
