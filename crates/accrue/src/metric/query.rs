use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Function, Scalar};
use crate::{
    Decimal,
    expression::{Expression, ExpressionError, Fields, Keyword, Kind, Parser, Value},
};

/// Query of a metric, in a subset of SQL, with the text that it was parsed from.
///
/// ```ebnf
/// query    = "SELECT" , function , "FROM" , "events" , [ "WHERE" , condition ] , [ ";" ] ;
/// function = "count" , "(" , ( "*" | [ "DISTINCT" ] , field ) , ")"
///          | ( "sum" | "min" | "max" | "latest" ) , "(" , property , ")" ;
/// field    = "event_name" | "timestamp" | "timestamp_millis" | property ;
/// ```
///
/// Conditions, properties and their null are those of [`expression`](crate::expression). Keywords
/// and functions are in any case, names (`events` too) in theirs; functions are no reserved words.
///
/// In documents it is its text.
///
/// ```
/// use accrue::metric::{Function, MetricQuery};
///
/// let query = MetricQuery::parse("SELECT sum(tokens) FROM events WHERE region = 'eu'")?;
/// assert!(matches!(query.function(), Function::Sum(name) if name.as_str() == "tokens"));
/// assert_eq!(query.condition().map(ToString::to_string).as_deref(), Some("region = 'eu'"));
///
/// let error = MetricQuery::parse("SELECT avg(tokens) FROM events").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "at character 8: found `avg`, expected `count`, `sum`, `min`, `max` or `latest`",
/// );
/// # Ok::<(), accrue::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricQuery {
    text: Arc<str>,
    function: Function,
    condition: Option<Expression>,
}

/// Contribution of one event to a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contribution {
    /// Occurrence, to a count.
    Occurrence,
    /// Number, to a sum, minimum, maximum or latest value.
    Number(Decimal),
    /// Value, to a count of distinct values.
    Distinct(Scalar),
}

impl MetricQuery {
    /// Parses a metric's SQL.
    ///
    /// # Errors
    ///
    /// If the text is no such query, or is too long or too deep: the first place where it is
    /// wrong, what is there, and what was expected.
    pub fn parse(sql: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser::new(sql)?;
        parser.expect_keyword(Keyword::Select)?;
        let function = Function::read(&mut parser)?;
        parser.expect_keyword(Keyword::From)?;
        expect_events(&mut parser)?;
        parser.could_follow(Some("`WHERE`"));
        let condition = if parser.accept(Kind::Keyword(Keyword::Where)) {
            Some(Expression::read(&mut parser)?)
        } else {
            None
        };
        if parser.accept(Kind::Semicolon) {
            parser.could_follow(None);
        }
        parser.finish()?;
        Ok(Self { text: sql.into(), function, condition })
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the function.
    #[must_use]
    pub const fn function(&self) -> &Function {
        &self.function
    }

    /// Returns the condition; without one every event counts.
    #[must_use]
    pub const fn condition(&self) -> Option<&Expression> {
        self.condition.as_ref()
    }

    /// Returns the most comparisons that it takes to tell what an event adds, one for the function.
    pub(crate) fn terms(&self) -> usize {
        self.condition.as_ref().map_or(0, Expression::terms).saturating_add(1)
    }

    /// Returns the contribution of an event to the metric.
    ///
    /// There is none where the condition is not true, or where the property is missing, null or, for a
    /// function that takes numbers, no number.
    ///
    /// ```
    /// use accrue::{EventName, PropertyName, Timestamp};
    /// use accrue::{expression::Fields, metric::{Contribution, MetricQuery}, usage::Properties};
    ///
    /// let name = EventName::parse("completion")?;
    /// let properties = Properties::from_iter([(PropertyName::parse("tokens")?, 44_u64.into())]);
    /// let event = Fields::new(&name, Timestamp::parse("2026-03-01T08:00:00Z")?, &properties);
    ///
    /// let query = MetricQuery::parse("SELECT sum(tokens) FROM events")?;
    /// assert_eq!(query.contribution(&event), Some(Contribution::Number(44.into())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contribution(&self, event: &Fields<'_>) -> Option<Contribution> {
        if self.condition.as_ref().is_some_and(|condition| !condition.matches(event)) {
            return None;
        }
        match &self.function {
            Function::CountAll => Some(Contribution::Occurrence),
            Function::Count(field) => event.value(field).map(|_| Contribution::Occurrence),
            Function::CountDistinct(field) => {
                event.value(field).map(|value| Contribution::Distinct(value.into()))
            }
            Function::Sum(name)
            | Function::Min(name)
            | Function::Max(name)
            | Function::Latest(name) => match event.property(name)? {
                Value::Number(number) => Some(Contribution::Number(number.into_owned())),
                Value::Boolean(_) | Value::Text(_) | Value::Instant(_) => None,
            },
        }
    }
}

/// Consumes the name of the one table that there is.
fn expect_events(parser: &mut Parser<'_>) -> Result<(), ExpressionError> {
    let expected = "the table `events`";
    if parser.token().text != "events" {
        return Err(parser.unexpected(expected));
    }
    parser.expect(Kind::Name, expected)
}

impl FromStr for MetricQuery {
    type Err = ExpressionError;

    /// Parses a metric's SQL, as [`parse`](Self::parse) does.
    fn from_str(sql: &str) -> Result<Self, ExpressionError> {
        Self::parse(sql)
    }
}

impl fmt::Display for MetricQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for MetricQuery {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for MetricQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        PropertyName,
        expression::{Field, sample},
    };

    fn property(name: &str) -> PropertyName {
        PropertyName::parse(name).unwrap()
    }

    #[test]
    fn every_function_is_read() {
        let check = |sql: &str, expect: Function| {
            let query = MetricQuery::parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(query.function(), &expect, "{sql}");
            assert_eq!(query.condition(), None, "{sql}");
        };
        let field = |name: &str| Field::Property(property(name));
        check("SELECT count(*) FROM events", Function::CountAll);
        check("SELECT count(p) FROM events", Function::Count(field("p")));
        check("SELECT count(DISTINCT p) FROM events", Function::CountDistinct(field("p")));
        check("SELECT sum(p) FROM events", Function::Sum(property("p")));
        check("SELECT min(p) FROM events", Function::Min(property("p")));
        check("SELECT max(p) FROM events", Function::Max(property("p")));
        check("SELECT latest(p) FROM events", Function::Latest(property("p")));
        check("select COUNT ( * ) from events", Function::CountAll);
        check("\nSelect\tcOuNt(distinct p)\r\nFrom events ; ", Function::CountDistinct(field("p")));
        check("SELECT Latest(P.q) FROM events;", Function::Latest(property("P.q")));
        check("SELECT count(event_name) FROM events", Function::Count(Field::EventName));
        check("SELECT count(timestamp) FROM events", Function::Count(Field::Timestamp));
        check(
            "SELECT count(DISTINCT event_name) FROM events",
            Function::CountDistinct(Field::EventName),
        );
        check("SELECT sum(\"timestamp\") FROM events", Function::Sum(property("timestamp")));
        check("SELECT sum(\"sum\") FROM events", Function::Sum(property("sum")));
        check("SELECT sum(count) FROM events", Function::Sum(property("count")));
        check("SELECT sum(events) FROM events", Function::Sum(property("events")));
        check("SELECT count(\"DISTINCT\") FROM events", Function::Count(field("DISTINCT")));
        check("SELECT sum(\"a \"\"b\"\"\") FROM events", Function::Sum(property("a \"b\"")));
    }

    #[test]
    fn a_condition_keeps_its_own_text() {
        let check = |sql: &str, expect: &str| {
            let query = MetricQuery::parse(sql).unwrap();
            assert_eq!(query.condition(), Some(&Expression::parse(expect).unwrap()), "{sql}");
            assert_eq!(query.to_string(), sql);
            let document = serde_json::to_string(&query).unwrap();
            assert_eq!(document, serde_json::to_string(sql).unwrap());
            assert_eq!(serde_json::from_str::<MetricQuery>(&document).unwrap(), query);
        };
        check("SELECT count(*) FROM events WHERE a", "a");
        check("SELECT sum(p) FROM events where  a = 'x' AND\nb  ; ", "a = 'x' AND\nb");
        check("SELECT sum(p) FROM events WHERE(a)", "(a)");
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        // `¦` marks it.
        let check = |marked: &str, found: &str, expected: &str| {
            let position = marked.find('¦').unwrap();
            let sql = marked.replacen('¦', "", 1);
            let error = MetricQuery::parse(&sql).expect_err(&sql);
            assert_eq!((error.found(), error.expected()), (found, expected), "{sql}");
            assert_eq!(error.position(), position, "{sql}");
        };
        let functions = "`count`, `sum`, `min`, `max` or `latest`";
        check("¦", "the end", "`SELECT`");
        check("¦count(*)", "`count`", "`SELECT`");
        check("¦DELETE FROM events", "`DELETE`", "`SELECT`");
        check("SELECT¦", "the end", functions);
        check("SELECT ¦* FROM events", "`*`", functions);
        check("SELECT ¦avg(x) FROM events", "`avg`", functions);
        check("SELECT ¦\"count\"(x) FROM events", "`\"count\"`", functions);
        check("SELECT ¦DISTINCT x FROM events", "`DISTINCT`", functions);
        check("SELECT count ¦FROM events", "`FROM`", "`(`");
        check("SELECT count(¦) FROM events", "`)`", "`*`, `DISTINCT` or a property");
        check("SELECT count(¦1) FROM events", "`1`", "`*`, `DISTINCT` or a property");
        check("SELECT count(DISTINCT ¦*) FROM events", "`*`", "a property");
        check("SELECT count(DISTINCT a¦, b) FROM events", "`,`", "`)`");
        check("SELECT sum(¦*) FROM events", "`*`", "a property");
        check("SELECT sum(¦) FROM events", "`)`", "a property");
        check("SELECT sum(¦'p') FROM events", "`'p'`", "a property");
        check("SELECT sum(a ¦+ b) FROM events", "`+`", "`)`");
        check("SELECT sum(a¦, b) FROM events", "`,`", "`)`");
        check(
            "SELECT sum(¦DISTINCT a) FROM events",
            "`DISTINCT`",
            "a property (a property of that name goes in double quotes)",
        );
        for function in ["sum", "MIN", "max", "latest"] {
            for field in ["timestamp", "event_name"] {
                let expected = format!("a property, as `{function}` takes numbers");
                let marked = format!("SELECT {function}(¦{field}) FROM events");
                check(&marked, &format!("`{field}`"), &expected);
            }
        }
        check("SELECT sum(a)¦", "the end", "`FROM`");
        check("SELECT sum(a)¦, max(b) FROM events", "`,`", "`FROM`");
        check("SELECT sum(a) ¦AS total FROM events", "`AS`", "`FROM`");
        check("SELECT sum(a) ¦WHERE b", "`WHERE`", "`FROM`");
        check("SELECT sum(a) FROM¦", "the end", "the table `events`");
        check("SELECT sum(a) FROM ¦customers", "`customers`", "the table `events`");
        check("SELECT sum(a) FROM ¦Events", "`Events`", "the table `events`");
        check("SELECT sum(a) FROM ¦\"events\"", "`\"events\"`", "the table `events`");
        check("SELECT sum(a) FROM events ¦e", "`e`", "`WHERE` or the end");
        check("SELECT sum(a) FROM events¦, events", "`,`", "`WHERE` or the end");
        check("SELECT sum(a) FROM events ¦GROUP BY b", "`GROUP`", "`WHERE` or the end");
        check("SELECT sum(a) FROM events; ¦SELECT", "`SELECT`", "the end");
        check("SELECT sum(a) FROM events;¦;", "`;`", "the end");
        check("SELECT sum(a) FROM events WHERE¦", "the end", "a condition");
        check("SELECT sum(a) FROM events WHERE ¦;", "`;`", "a condition");
        check("SELECT sum(a) FROM events WHERE b ¦GROUP BY b", "`GROUP`", "an operator or the end");
        check(
            "SELECT sum(a) FROM events WHERE b = 1 ¦ORDER BY b",
            "`ORDER`",
            "`AND`, `OR` or the end",
        );
        check("SELECT sum(a) FROM events WHERE (b = 1¦;", "`;`", "`AND`, `OR` or `)`");
        check(
            "SELECT sum(a) FROM events WHERE b = ¦'x",
            "quoted text that does not end",
            "a closing `'`",
        );
    }

    #[test]
    fn an_event_contributes_or_not() {
        let event = sample::event();
        let check = |sql: &str, expect: Option<Contribution>| {
            let query = MetricQuery::parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(query.contribution(&Fields::from(&event)), expect, "{sql}");
        };
        let occurs = |what: &str| check(what, Some(Contribution::Occurrence));
        let number = |sql: &str, expect: &str| {
            check(sql, Some(Contribution::Number(Decimal::parse(expect).unwrap())));
        };
        let distinct = |what: &str, expect: Scalar| {
            let sql = format!("SELECT count(DISTINCT {what}) FROM events");
            check(&sql, Some(Contribution::Distinct(expect)));
        };
        occurs("SELECT count(*) FROM events");
        occurs("SELECT count(*) FROM events WHERE yes");
        check("SELECT count(*) FROM events WHERE no", None);
        check("SELECT count(*) FROM events WHERE missing", None);
        check("SELECT count(*) FROM events WHERE NOT missing", None);
        occurs("SELECT count(*) FROM events WHERE event_name = 'completion'");
        for present in ["yes", "no", "one", "apple", "empty", "event_name", "timestamp"] {
            occurs(&format!("SELECT count({present}) FROM events"));
        }
        for null in ["nil", "missing", "\"Timestamp\""] {
            check(&format!("SELECT count({null}) FROM events"), None);
            check(&format!("SELECT count(DISTINCT {null}) FROM events"), None);
        }
        for function in ["sum", "min", "max", "latest"] {
            number(&format!("SELECT {function}(one) FROM events"), "1");
            number(&format!("SELECT {function}(debt) FROM events WHERE one = 1"), "-2.5");
            check(&format!("SELECT {function}(debt) FROM events WHERE one = 2"), None);
            for other in ["yes", "apple", "digit", "empty", "nil", "missing", "\"timestamp\""] {
                check(&format!("SELECT {function}({other}) FROM events"), None);
            }
        }
        distinct("one", Scalar::Number(1.into()));
        distinct("uno", Scalar::Number(1.into()));
        distinct("digit", Scalar::Text("1".into()));
        distinct("yes", Scalar::Boolean(true));
        distinct("event_name", Scalar::Text("completion".into()));
        distinct("\"event_name\"", Scalar::Text("shadow".into()));
        distinct("timestamp", Scalar::Instant(event.timestamp));
        check("SELECT count(DISTINCT one) FROM events WHERE nil", None);
    }
}
