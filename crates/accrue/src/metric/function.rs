use crate::{
    PropertyName,
    expression::{ExpressionError, Field, Keyword, Kind, Parser},
};

/// Aggregate function of a metric, over the values of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// `count(*)`: number of events.
    CountAll,
    /// `count(p)`: number of events where it is not null.
    Count(Field),
    /// `count(DISTINCT p)`: number of different values.
    CountDistinct(Field),
    /// `sum(p)`: sum of its numbers.
    Sum(PropertyName),
    /// `min(p)`: least of its numbers.
    Min(PropertyName),
    /// `max(p)`: greatest of its numbers.
    Max(PropertyName),
    /// `latest(p)`: its number in the last event that has one.
    Latest(PropertyName),
}

impl Function {
    pub(super) fn read(parser: &mut Parser<'_>) -> Result<Self, ExpressionError> {
        let token = parser.token();
        let name = if token.kind == Kind::Name { token.text } else { "" };
        let numeric: fn(PropertyName) -> Self = match name.to_ascii_lowercase().as_str() {
            "count" => return Self::read_count(parser),
            "sum" => Self::Sum,
            "min" => Self::Min,
            "max" => Self::Max,
            "latest" => Self::Latest,
            _ => return Err(parser.unexpected("`count`, `sum`, `min`, `max` or `latest`")),
        };
        open(parser)?;
        let property = read_numeric(parser, name)?;
        close(parser)?;
        Ok(numeric(property))
    }

    fn read_count(parser: &mut Parser<'_>) -> Result<Self, ExpressionError> {
        open(parser)?;
        let function = if parser.accept(Kind::Star) {
            Self::CountAll
        } else if parser.accept(Kind::Keyword(Keyword::Distinct)) {
            Self::CountDistinct(parser.field("a property")?)
        } else {
            Self::Count(parser.field("`*`, `DISTINCT` or a property")?)
        };
        close(parser)?;
        Ok(function)
    }
}

/// Consumes the name of a function and the parenthesis behind it.
fn open(parser: &mut Parser<'_>) -> Result<(), ExpressionError> {
    parser.expect(Kind::Name, "a function")?;
    parser.expect(Kind::Open, "`(`")
}

fn close(parser: &mut Parser<'_>) -> Result<(), ExpressionError> {
    parser.expect(Kind::Close, "`)`")
}

fn read_numeric(parser: &mut Parser<'_>, function: &str) -> Result<PropertyName, ExpressionError> {
    let token = parser.token();
    match parser.field("a property")? {
        Field::Property(name) => Ok(name),
        Field::EventName | Field::Timestamp | Field::TimestampMillis => {
            Err(parser.unexpected_at(token, format!("a property, as `{function}` takes numbers")))
        }
    }
}
