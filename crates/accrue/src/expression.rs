//! Expressions over usage events: conditions that select those that a metric counts or a backfill
//! replaces, and values that usage is grouped by.
//!
//! The language is the part of SQL's expressions that needs nothing but the event. One
//! implementation serves the `WHERE` of a [`MetricQuery`](crate::metric::MetricQuery), every
//! filter, and every [`ComputedProperty`].
//!
//! ```
//! use accrue::{EventName, PropertyName, Timestamp, expression::{Expression, Fields}, usage::Properties};
//!
//! let name = EventName::parse("completion")?;
//! let properties = Properties::from_iter([
//!     (PropertyName::parse("my_numeric_property")?, 101_u64.into()),
//!     (PropertyName::parse("my_other_property")?, "bar".into()),
//! ]);
//! let event = Fields::new(&name, Timestamp::parse("2026-03-01T08:00:00Z")?, &properties);
//!
//! let filter = Expression::parse("my_numeric_property > 100 AND my_other_property = 'bar'")?;
//! assert!(filter.matches(&event));
//! let unknown = Expression::parse("region = 'eu' AND timestamp >= '2026-03-01T00:00:00Z'")?;
//! assert_eq!(unknown.evaluate(&event), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Grammar
//!
//! ```ebnf
//! condition   = conjunction , { "OR" , conjunction } ;
//! conjunction = negation , { "AND" , negation } ;
//! negation    = "NOT" , negation | "(" , condition , ")" | predicate ;
//! predicate   = operand , comparison , operand
//!             | operand , "IS" , [ "NOT" ] , "NULL"
//!             | operand , [ "NOT" ] , "IN" , "(" , literal , { "," , literal } , ")"
//!             | property | "TRUE" | "FALSE" | "NULL" | case | call ;
//! comparison  = "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ;
//! operand     = "event_name" | "timestamp" | "timestamp_millis" | property | literal | case | call ;
//! case        = "CASE" , "WHEN" , condition , "THEN" , operand , { "WHEN" , condition , "THEN" , operand } ,
//!                 [ "ELSE" , operand ] , "END"
//!             | "CASE" , operand , "WHEN" , operand , "THEN" , operand , { "WHEN" , operand , "THEN" , operand } ,
//!                 [ "ELSE" , operand ] , "END" ;
//! call        = "COALESCE" , "(" , operand , { "," , operand } , ")"
//!             | ( "LOWER" | "UPPER" ) , "(" , operand , ")"
//!             | ( "MINUTE" | "HOUR" | "DAY" ) , "_FLOOR_TIMESTAMP_MILLIS" , "(" , operand , ")" ;
//! computed    = operand | condition ;
//! property    = name | '"' , { character - '"' | '""' } , '"' ;
//! name        = ( letter | "_" ) , { letter | digit | "_" | "." } ;
//! literal     = "TRUE" | "FALSE" | "NULL" | number | "'" , { character - "'" | "''" } , "'" ;
//! number      = [ "-" ] , digits , [ "." , digits ] , [ ( "e" | "E" ) , [ "+" | "-" ] , digits ] ;
//! ```
//!
//! - Letters are those of ASCII; white space is space, tab, line feed, form feed and carriage
//!   return, and need not stand between tokens that are told apart without it.
//! - Keywords and functions are in any case, names in theirs. `event_name`, `timestamp` and
//!   `timestamp_millis` are the event's own, whatever its properties; a name in double quotes is always
//!   a property. A dot is part of a name: properties do not nest. The name of a function is a property
//!   where no parenthesis follows.
//! - The keywords, and `SELECT`, `DISTINCT`, `FROM`, `WHERE`, `BETWEEN` and `LIKE`, are names only in
//!   double quotes.
//! - A text has at most [`EXPRESSION_BYTES`](crate::limits::EXPRESSION_BYTES) bytes, and at most
//!   [`EXPRESSION_DEPTH`](crate::limits::EXPRESSION_DEPTH) parentheses, `NOT`s and `CASE`s within each
//!   other. Parsing is linear in the text; evaluating visits each part at most once.
//!
//! # Values
//!
//! - Numbers are exact, with the bounds of [`Decimal::parse`](crate::Decimal::parse): `1`, `1.0`
//!   and `10e-1` are equal. Strings are in order of code points, false is before true.
//! - `timestamp` is an instant. A string literal beside it is a date and time, as
//!   [`Timestamp::parse`](crate::Timestamp::parse) reads it, or an error. A property has no
//!   instants: compared with `timestamp`, it is of another type.
//! - `timestamp_millis` is that instant as a number of milliseconds since the beginning of 1970 in UTC.
//! - `CASE` is the operand of the first branch whose condition is true, or whose operand equals the one
//!   behind `CASE`; else that behind `ELSE`.
//! - `COALESCE` is the first of its operands that is not null. `LOWER` and `UPPER` change the case of a
//!   string. `HOUR_FLOOR_TIMESTAMP_MILLIS`, and those of a minute and a day, cut a number of
//!   milliseconds down to the beginning of its hour, in UTC. Of another type they are null.
//!
//! # Null
//!
//! As in SQL, a condition is true, false or unknown; an event matches where it is true.
//!
//! - A property that is missing is null. `IS NULL` and `IS NOT NULL` are never unknown.
//! - Comparing is unknown with null on a side (the literal `NULL` too), and between different types,
//!   also by `!=`: `a != 1` does not match where `a` is missing, nor where it is a string.
//! - `a IN (x, y)` is `a = x OR a = y`, and `a NOT IN (x, y)` is its opposite: with `NULL` or a
//!   literal of another type in the list it is never true.
//! - A property, a `CASE` or a function by itself is its boolean; one of another type is unknown.
//! - `NOT` of unknown is unknown. `AND` is false where one side is, `OR` is true where one side is,
//!   whatever the other is; otherwise unknown where one side is.
//!
//! # Absent
//!
//! No arithmetic, no other functions, no `BETWEEN`, `LIKE` or comments, no parentheses around operands,
//! and no comparing of conditions: `(a = 1) = TRUE`.

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

mod computed;
mod condition;
mod error;
mod evaluation;
mod field;
mod fields;
mod lexer;
#[cfg(test)]
mod oracle;
mod parser;
#[cfg(test)]
pub(crate) mod sample;
mod token;
mod value;

use self::condition::Condition;
pub use self::{computed::ComputedProperty, error::ExpressionError, field::Field, fields::Fields};
pub(crate) use self::{
    parser::Parser,
    token::{Keyword, Kind},
    value::Value,
};

/// A condition over the fields of an event, and the text that it was parsed from.
///
/// In documents it is that text.
///
/// ```
/// use accrue::expression::Expression;
///
/// let text = "region IN ('eu', 'us') AND NOT cached";
/// assert_eq!(Expression::parse(text)?.to_string(), text);
/// # Ok::<(), accrue::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: Arc<str>,
    condition: Condition,
    terms: usize,
}

impl Expression {
    /// Parses a condition.
    ///
    /// # Errors
    ///
    /// If the text is no condition, or is too long or too deep. The error has the first place where
    /// it is wrong, what is there, and what was expected.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser::new(text)?;
        let condition = parser.condition()?;
        parser.finish()?;
        Ok(Self::new(text, condition))
    }

    /// Reads the condition that a longer text goes on with.
    pub(crate) fn read(parser: &mut Parser<'_>) -> Result<Self, ExpressionError> {
        let start = parser.token().position;
        let condition = parser.condition()?;
        Ok(Self::new(parser.text_since(start), condition))
    }

    fn new(text: &str, condition: Condition) -> Self {
        Self { text: text.into(), terms: condition.terms(), condition }
    }

    /// Tells whether another one says the same, however it is spaced.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.condition == other.condition
    }

    /// Returns the most comparisons that evaluating it makes.
    pub(crate) const fn terms(&self) -> usize {
        self.terms
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Evaluates it for an event: true or false; none where it is unknown.
    #[must_use]
    pub fn evaluate(&self, event: &Fields<'_>) -> Option<bool> {
        self.condition.evaluate(event)
    }

    /// Tells whether it is true for an event, neither false nor unknown.
    #[must_use]
    pub fn matches(&self, event: &Fields<'_>) -> bool {
        self.evaluate(event) == Some(true)
    }
}

impl FromStr for Expression {
    type Err = ExpressionError;

    /// Parses a condition, as [`parse`](Self::parse) does.
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::parse(text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_text_out() {
        let check = |text: &str| {
            let expression = Expression::parse(text).unwrap();
            assert_eq!(expression.to_string(), text);
            assert_eq!(expression.as_str(), text);
            let document = serde_json::to_string(&expression).unwrap();
            assert_eq!(document, serde_json::to_string(text).unwrap());
            assert_eq!(serde_json::from_str::<Expression>(&document).unwrap(), expression);
        };
        check("a = 1");
        check("  \"a\" =\n 1.00 and(TRUE) ");
        check("a = 'it''s \\ \u{1}'");
    }

    #[test]
    fn a_document_that_is_no_expression_says_where() {
        let error = serde_json::from_str::<Expression>("\"a = \"").unwrap_err();
        let expect = "at character 5: found the end, expected a property or a literal";
        assert!(error.to_string().starts_with(expect), "{error}");
    }

    #[test]
    fn an_expression_goes_between_threads() {
        fn check<T: Clone + fmt::Debug + Eq + Send + Sync + 'static>() {}
        check::<Expression>();
        check::<ExpressionError>();
    }
}
