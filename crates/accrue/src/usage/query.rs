use super::{QueryTimeframe, View};
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
/// use accrue::{PropertyName, usage::{QueryTimeframe, UsageQuery, View}};
///
/// let by_model = UsageQuery {
///     view: View::Periodic,
///     group_by: Some(PropertyName::parse("model")?),
///     ..UsageQuery::default()
/// };
/// assert_eq!(by_model.timeframe, QueryTimeframe::Current);
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    /// Timeframe of the usage: the current billing period where nothing is said, all of it where
    /// nothing cuts it.
    pub timeframe: QueryTimeframe,
    /// View: how the timeframe is cut.
    pub view: View,
    /// Metrics to compute.
    pub metrics: UsageMetrics,
    /// Property by whose values events are grouped.
    pub group_by: Option<PropertyName>,
    /// True where events without that property are a group too.
    pub with_missing: bool,
    /// Texts that some properties have in the events that count; all events where there are none.
    pub dimensions: Vec<(PropertyName, String)>,
}

/// Metrics whose usage is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageMetrics {
    /// All of the account, in order of creation.
    #[default]
    All,
    /// Those that the prices of the subscription have had, in order of creation.
    Priced,
    /// One of the account.
    One(MetricId),
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
