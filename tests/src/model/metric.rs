use std::{cmp::Ordering, collections::BTreeSet};

use bigdecimal::BigDecimal;

use super::Event;

/// What a metric measures.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSpec {
    pub function: Function,
    pub condition: Option<Condition>,
}

/// How it makes a figure of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    CountAll,
    Count(Field),
    Distinct(Field),
    Sum(&'static str),
    Min(&'static str),
    Max(&'static str),
    Latest(&'static str),
}

/// What it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    EventName,
    Timestamp,
    Property(&'static str),
}

/// Which events it looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    NameIs(&'static str),
    Compare(&'static str, Operator, Value),
    IsNull(&'static str),
    IsNotNull(&'static str),
    /// Unknown stays unknown.
    Not(Box<Condition>),
}

/// How a property is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    AtLeast,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Boolean(bool),
    /// A number as it was written.
    Number(BigDecimal),
    Text(&'static str),
    /// The event's own instant, which no property holds.
    Instant(i64),
}

impl Value {
    /// # Panics
    ///
    /// If the text is no number.
    #[must_use]
    pub fn number(text: &str) -> Self {
        Self::Number(text.parse().unwrap())
    }

    /// A text that equal values share and others do not.
    fn identity(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Boolean(value) => format!("boolean {value}"),
            Self::Number(value) => format!("number {}", value.normalized().to_plain_string()),
            Self::Text(value) => format!("text {value}"),
            Self::Instant(value) => format!("instant {value}"),
        }
    }

    /// Values of different types have no order.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(left), Self::Boolean(right)) => Some(left.cmp(right)),
            (Self::Number(left), Self::Number(right)) => Some(left.cmp(right)),
            (Self::Text(left), Self::Text(right)) => Some(left.cmp(right)),
            _ => None,
        }
    }

    fn sql(&self) -> String {
        match self {
            Self::Null | Self::Instant(_) => "NULL".to_owned(),
            Self::Boolean(value) => value.to_string(),
            Self::Number(value) => value.to_plain_string(),
            Self::Text(value) => format!("'{value}'"),
        }
    }
}

impl Event {
    /// The value of a field; none where it is missing or null.
    pub(crate) fn value(&self, field: Field) -> Option<Value> {
        match field {
            Field::EventName => Some(Value::Text(self.name)),
            Field::Timestamp => Some(Value::Instant(self.at)),
            Field::Property(name) => {
                let found = self.properties.iter().find(|(of, _)| *of == name);
                found.map(|(_, value)| value.clone()).filter(|value| *value != Value::Null)
            }
        }
    }

    fn number(&self, property: &'static str) -> Option<BigDecimal> {
        match self.value(Field::Property(property)) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }
}

impl MetricSpec {
    /// The figure of some events; none where none contributes.
    pub(crate) fn figure<'a>(&self, events: impl Iterator<Item = &'a Event>) -> Option<BigDecimal> {
        let counted = |event: &&Event| {
            self.condition.as_ref().is_none_or(|condition| condition.of(event) == Some(true))
        };
        let events: Vec<&Event> = events.filter(counted).collect();
        let count =
            |count: usize| (count > 0).then(|| BigDecimal::from(u64::try_from(count).unwrap()));
        let numbers = |name| events.iter().filter_map(move |event| event.number(name));
        match self.function {
            Function::CountAll => count(events.len()),
            Function::Count(field) => {
                count(events.iter().filter(|event| event.value(field).is_some()).count())
            }
            Function::Distinct(field) => {
                let values = events.iter().filter_map(|event| event.value(field));
                count(values.map(|value| value.identity()).collect::<BTreeSet<_>>().len())
            }
            Function::Sum(name) => numbers(name).reduce(|sum, number| sum + number),
            Function::Min(name) => numbers(name).min(),
            Function::Max(name) => numbers(name).max(),
            Function::Latest(name) => {
                let having = events.iter().filter(|event| event.number(name).is_some());
                let latest = having.max_by_key(|event| (event.at, event.key.as_bytes()));
                latest.and_then(|event| event.number(name))
            }
        }
    }

    pub(crate) fn figure_without_events(&self) -> Option<BigDecimal> {
        match self.function {
            Function::Min(_) | Function::Max(_) | Function::Latest(_) => None,
            _ => Some(BigDecimal::from(0)),
        }
    }

    /// The SQL that the engine is given.
    #[must_use]
    pub fn sql(&self) -> String {
        let function = match self.function {
            Function::CountAll => "count(*)".to_owned(),
            Function::Count(field) => format!("count({})", field.sql()),
            Function::Distinct(field) => format!("count(DISTINCT {})", field.sql()),
            Function::Sum(name) => format!("sum({name})"),
            Function::Min(name) => format!("min({name})"),
            Function::Max(name) => format!("max({name})"),
            Function::Latest(name) => format!("latest({name})"),
        };
        match &self.condition {
            None => format!("SELECT {function} FROM events"),
            Some(condition) => format!("SELECT {function} FROM events WHERE {}", condition.sql()),
        }
    }
}

impl Field {
    const fn sql(self) -> &'static str {
        match self {
            Self::EventName => "event_name",
            Self::Timestamp => "timestamp",
            Self::Property(name) => name,
        }
    }
}

impl Condition {
    /// Whether it holds for an event; none where that is unknown.
    pub(crate) fn of(&self, event: &Event) -> Option<bool> {
        match self {
            Self::NameIs(name) => Some(event.name == *name),
            Self::IsNull(name) => Some(event.value(Field::Property(name)).is_none()),
            Self::IsNotNull(name) => Some(event.value(Field::Property(name)).is_some()),
            Self::Not(condition) => condition.of(event).map(|holds| !holds),
            Self::Compare(name, operator, value) => {
                let order = event.value(Field::Property(name))?.compare(value)?;
                Some(match operator {
                    Operator::Equal => order == Ordering::Equal,
                    Operator::NotEqual => order != Ordering::Equal,
                    Operator::Less => order == Ordering::Less,
                    Operator::AtLeast => order != Ordering::Less,
                })
            }
        }
    }

    pub(crate) fn sql(&self) -> String {
        match self {
            Self::NameIs(name) => format!("event_name = '{name}'"),
            Self::IsNull(name) => format!("{name} IS NULL"),
            Self::IsNotNull(name) => format!("{name} IS NOT NULL"),
            Self::Not(condition) => format!("NOT ({})", condition.sql()),
            Self::Compare(name, operator, value) => {
                let operator = match operator {
                    Operator::Equal => "=",
                    Operator::NotEqual => "<>",
                    Operator::Less => "<",
                    Operator::AtLeast => ">=",
                };
                format!("{name} {operator} {}", value.sql())
            }
        }
    }
}
