//! Values that are computed from the fields of an event.

use std::{fmt, str::FromStr, sync::Arc};

use super::{Expression, ExpressionError, Field, Fields, Parser, condition::Operand};
use crate::{PropertyName, event::PropertyValue};

/// A computed property: a value that an expression makes of the fields of an event, and the text that it
/// was parsed from.
///
/// It is a property, a literal, `CASE`, a function, or a condition, in the language of
/// [`Expression`](crate::expression).
///
/// ```
/// use accrue::expression::ComputedProperty;
///
/// let size = "CASE WHEN tokens > 1000 THEN 'large' ELSE 'small' END";
/// assert_eq!(ComputedProperty::parse(size)?.to_string(), size);
/// let hour = ComputedProperty::parse("hour_floor_timestamp_millis(timestamp_millis)")?;
/// # let _ = hour;
/// # Ok::<(), accrue::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedProperty {
    text: Arc<str>,
    computed: Computed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Computed {
    Operand(Operand),
    Condition(Expression),
}

impl ComputedProperty {
    /// Parses a computed property.
    ///
    /// # Errors
    ///
    /// If the text is neither a value nor a condition, or is too long or too deep. The error has the
    /// first place where it is wrong, what is there, and what was expected.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let computed = match Parser::new(text)?.only_operand() {
            Ok(operand) => Computed::Operand(operand),
            Err(error) => match Expression::parse(text) {
                Ok(condition) => Computed::Condition(condition),
                // What reads further has understood more of it.
                Err(other) if other.position() > error.position() => return Err(other),
                Err(_) => return Err(error),
            },
        };
        Ok(Self { text: text.into(), computed })
    }

    /// Evaluates it for an event; null where it has no value.
    #[must_use]
    pub fn evaluate(&self, event: &Fields<'_>) -> PropertyValue {
        match &self.computed {
            Computed::Operand(operand) => {
                operand.value(event).map_or(PropertyValue::Null, PropertyValue::from)
            }
            Computed::Condition(condition) => {
                condition.evaluate(event).map_or(PropertyValue::Null, PropertyValue::Boolean)
            }
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the most comparisons and calls that evaluating it makes.
    pub(crate) fn terms(&self) -> usize {
        match &self.computed {
            Computed::Operand(operand) => operand.terms(),
            Computed::Condition(condition) => condition.terms(),
        }
    }

    /// Tells whether another one computes the same, however it is written.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (&self.computed, &other.computed) {
            (Computed::Operand(own), Computed::Operand(other)) => own == other,
            (Computed::Condition(own), Computed::Condition(other)) => own.is_like(other),
            _ => false,
        }
    }
}

impl From<PropertyName> for ComputedProperty {
    fn from(name: PropertyName) -> Self {
        let own = Operand::Field(Field::Property(name.clone()));
        match Self::parse(&name) {
            Ok(bare) if bare.computed == Computed::Operand(own.clone()) => bare,
            _ => {
                let text = format!("\"{}\"", name.replace('"', "\"\"")).into();
                Self { text, computed: Computed::Operand(own) }
            }
        }
    }
}

impl FromStr for ComputedProperty {
    type Err = ExpressionError;

    /// Parses a computed property, as [`parse`](Self::parse) does.
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::parse(text)
    }
}

impl fmt::Display for ComputedProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decimal, expression::sample};

    fn number(text: &str) -> PropertyValue {
        PropertyValue::Number(Decimal::parse(text).unwrap())
    }

    fn text(text: &str) -> PropertyValue {
        PropertyValue::from(text)
    }

    #[track_caller]
    fn check(source: &str, expect: PropertyValue) {
        let event = sample::event();
        let property = ComputedProperty::parse(source).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(property.evaluate(&Fields::from(&event)), expect, "{source}");
    }

    #[test]
    fn a_field_and_a_literal_are_values() {
        check("one", number("1"));
        check("apple", text("apple"));
        check("nil", PropertyValue::Null);
        check("missing", PropertyValue::Null);
        check("\"and\"", number("8"));
        check("event_name", text("completion"));
        check("\"event_name\"", text("shadow"));
        check("'x'", text("x"));
        check("NULL", PropertyValue::Null);
        check("yes", true.into());
    }

    #[test]
    fn a_condition_is_true_false_or_null() {
        check("one < ten", true.into());
        check("NOT yes", false.into());
        check("missing = 1", PropertyValue::Null);
        check("(yes)", true.into());
    }

    #[test]
    fn a_case_is_its_first_branch_that_holds() {
        check("CASE WHEN one > 5 THEN 'a' WHEN ten > 5 THEN 'b' ELSE 'c' END", text("b"));
        check("case when no then 1 else apple end", text("apple"));
        check("CASE WHEN no THEN 1 END", PropertyValue::Null);
        check("CASE WHEN missing = 1 THEN 1 ELSE 2 END", number("2"));
        check("CASE apple WHEN pear THEN 1 WHEN 'apple' THEN 2 ELSE 3 END", number("2"));
        check("CASE missing WHEN NULL THEN 1 ELSE 2 END", number("2"));
        check("CASE WHEN yes THEN CASE one WHEN 1 THEN 'deep' END END", text("deep"));
        check("CASE WHEN yes THEN ten END > 5", true.into());
        check("CASE WHEN one = 1 THEN yes END AND yes", true.into());
        check("ten IN (1, 10) AND CASE apple WHEN 'apple' THEN 'x' END = 'x'", true.into());
    }

    #[test]
    fn functions_are_of_their_arguments() {
        check("coalesce(missing, nil, one, ten)", number("1"));
        check("COALESCE(missing, nil)", PropertyValue::Null);
        check("coalesce('x')", text("x"));
        check("upper(apple)", text("APPLE"));
        check("lower('ÄRGER')", text("ärger"));
        check("lower(one)", PropertyValue::Null);
        check("coalesce(lower(one), upper(pear))", text("PEAR"));
    }

    #[test]
    fn instants_are_cut_to_minutes_hours_and_days() {
        // The first of March 2026 at eight.
        let eight = "1772352000000";
        check("timestamp_millis", number(eight));
        check("hour_floor_timestamp_millis(timestamp_millis)", number(eight));
        check("day_floor_timestamp_millis(timestamp_millis)", number("1772323200000"));
        check("hour_floor_timestamp_millis(3599999.9)", number("0"));
        check("hour_floor_timestamp_millis(3600000)", number("3600000"));
        check("minute_floor_timestamp_millis(119999)", number("60000"));
        check("minute_floor_timestamp_millis(-1)", number("-60000"));
        check("minute_floor_timestamp_millis(apple)", PropertyValue::Null);
        check("\"timestamp_millis\"", PropertyValue::Null);
    }

    #[test]
    fn what_is_wrong_is_told_where_it_is() {
        let check = |source: &str, expect: &str| {
            let error = ComputedProperty::parse(source).unwrap_err().to_string();
            assert!(error.starts_with(expect), "{source}: {error}");
        };
        check("", "at character 1: found the end, expected a property or a literal");
        check("one two", "at character 5: found `two`, expected an operator or the end");
        check("floor(one)", "at character 1: found `floor`, expected one of coalesce, lower,");
        check("lower(one, two)", "at character 10: found `,`, expected `)`");
        check("coalesce(one two)", "at character 14: found `two`, expected `,` or `)`");
        check("CASE END", "at character 6: found `END`, expected `WHEN`, a property or a literal");
        check("CASE WHEN yes 1 END", "at character 15: found `1`, expected an operator or `THEN`");
        check("CASE WHEN yes THEN 1", "at character 21: found the end, expected `WHEN`, `ELSE` or");
        check("CASE WHEN yes THEN 1 ELSE 2", "at character 28: found the end, expected `END`");
        check("one + ten", "at character 5: found `+`, expected an operator or the end");
        let deep = format!("{}one{}", "lower(".repeat(100), ")".repeat(100));
        assert!(ComputedProperty::parse(&deep).unwrap_err().to_string().contains("levels of"));
    }

    #[test]
    fn a_name_is_quoted_where_it_is_made_of_a_property() {
        let name = PropertyName::parse("say \"hi\"").unwrap();
        let property = ComputedProperty::from(name);
        assert_eq!(property.as_str(), "\"say \"\"hi\"\"\"");
        assert_eq!(ComputedProperty::parse(property.as_str()).unwrap(), property);
        let check = |name: &str, expect: &str| {
            let property = ComputedProperty::from(PropertyName::parse(name).unwrap());
            assert_eq!(property.as_str(), expect);
        };
        check("one", "one");
        check("a b", "\"a b\"");
        check("end", "\"end\"");
        check("timestamp", "\"timestamp\"");
        assert!(ComputedProperty::parse("\"one\"").unwrap().is_like(&"one".parse().unwrap()));
    }
}
