use super::View;
use crate::{Decimal, MetricId, Name, PropertyName, Timeframe};

/// Usage of a subscription in one billing period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Billing period of the usage.
    pub timeframe: Timeframe,
    /// Figures, one for each metric of the account, in order of creation.
    pub metrics: Vec<MetricUsage>,
}

/// Usage of one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricUsage {
    /// Metric that measured it.
    pub metric_id: MetricId,
    /// Name of the metric.
    pub name: Name,
    /// Figure of the metric; `None` where min, max or latest has no event.
    pub quantity: Option<Decimal>,
}

/// Query of the usage of a subscription: the figures to compute, and the cuts between them (wire 5.1).
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
    /// Timeframe of the usage; the current billing period where none is given.
    pub timeframe: Option<Timeframe>,
    /// View: how the timeframe is cut.
    pub view: View,
    /// Metric to compute; all where none is given.
    pub metric_id: Option<MetricId>,
    /// Property by whose values events are grouped.
    pub group_by: Option<PropertyName>,
}

/// Usage of one metric, or of one group of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageSeries {
    /// Metric that measured it.
    pub metric_id: MetricId,
    /// Name of the metric.
    pub name: Name,
    /// Group of the events; `None` where usage is not grouped.
    pub group: Option<PropertyGroup>,
    /// Figures, oldest first.
    pub usage: Vec<UsageSlot>,
}

/// Group of the events that share a value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyGroup {
    /// Property that they share.
    pub property: PropertyName,
    /// Text of its value; `None` where it is missing.
    pub value: Option<String>,
}

/// Usage between two instants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageSlot {
    /// Timeframe of the slot.
    pub timeframe: Timeframe,
    /// Figure of the slot; `None` where min, max or latest has no event.
    pub quantity: Option<Decimal>,
}
