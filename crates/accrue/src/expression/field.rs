use crate::PropertyName;

/// Field of an event that a name in an expression stands for.
///
/// ```
/// use accrue::{PropertyName, expression::Field, metric::{Function, MetricQuery}};
///
/// let own = MetricQuery::parse("SELECT count(DISTINCT event_name) FROM events")?;
/// assert_eq!(own.function(), &Function::CountDistinct(Field::EventName));
///
/// let property = MetricQuery::parse("SELECT count(DISTINCT \"event_name\") FROM events")?;
/// let name = PropertyName::parse("event_name")?;
/// assert_eq!(property.function(), &Function::CountDistinct(Field::Property(name)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The event's own name: `event_name`.
    EventName,
    /// The event's own instant: `timestamp`.
    Timestamp,
    /// The event's own instant, as a number of milliseconds since the beginning of 1970 in UTC:
    /// `timestamp_millis`.
    TimestampMillis,
    /// A property: any other name, and every name in double quotes.
    Property(PropertyName),
}
