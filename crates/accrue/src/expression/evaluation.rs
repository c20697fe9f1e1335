//! Three-valued logic: a condition is true, false, or unknown, which is none.

use std::{borrow::Cow, cmp::Ordering};

use super::{
    Fields,
    condition::{Case, Comparison, Condition, Function, Literal, Operand, When},
    value::Value,
};
use crate::Decimal;

impl Condition {
    /// Evaluates it, visiting each of its parts at most once.
    pub(super) fn evaluate(&self, fields: &Fields<'_>) -> Option<bool> {
        match self {
            Self::Any(conditions) => any(conditions.iter().map(|part| part.evaluate(fields))),
            Self::All(conditions) => all(conditions.iter().map(|part| part.evaluate(fields))),
            Self::Not(condition) => not(condition.evaluate(fields)),
            Self::Compare(left, comparison, right) => {
                let order = left.value(fields)?.compare(&right.value(fields)?)?;
                Some(comparison.holds(order))
            }
            Self::IsNull(operand) => Some(operand.value(fields).is_none()),
            Self::In(operand, literals) => {
                let value = operand.value(fields)?;
                let equals = |literal: &Literal| Some(value.compare(&literal.value()?)?.is_eq());
                any(literals.iter().map(equals))
            }
            Self::Holds(operand) => match operand.value(fields)? {
                Value::Boolean(value) => Some(value),
                Value::Number(_) | Value::Text(_) | Value::Instant(_) => None,
            },
        }
    }
}

/// Returns true if one is true; otherwise unknown if one is unknown.
fn any(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut outcome = Some(false);
    for truth in truths {
        match truth {
            Some(true) => return Some(true),
            Some(false) => {}
            None => outcome = None,
        }
    }
    outcome
}

/// Returns false if one is false; otherwise unknown if one is unknown.
fn all(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    not(any(truths.into_iter().map(not)))
}

fn not(truth: Option<bool>) -> Option<bool> {
    truth.map(|truth| !truth)
}

impl Operand {
    /// Returns its value; none where it is null.
    pub(super) fn value<'a>(&'a self, fields: &Fields<'a>) -> Option<Value<'a>> {
        match self {
            Self::Field(field) => fields.value(field),
            Self::Literal(literal) => literal.value(),
            Self::Case(case) => case.value(fields),
            Self::Call(function, arguments) => function.value(arguments, fields),
        }
    }
}

impl Case {
    fn value<'a>(&'a self, fields: &Fields<'a>) -> Option<Value<'a>> {
        let subject = self.subject.as_ref().and_then(|subject| subject.value(fields));
        let holds = |when: &When| match when {
            When::Holds(condition) => condition.evaluate(fields) == Some(true),
            When::Equals(operand) => {
                let order = subject.as_ref().zip(operand.value(fields));
                order.and_then(|(subject, value)| subject.compare(&value)) == Some(Ordering::Equal)
            }
        };
        let branch = self.branches.iter().find(|(when, _)| holds(when)).map(|(_, then)| then);
        branch.or(self.otherwise.as_ref())?.value(fields)
    }
}

impl Function {
    fn value<'a>(self, arguments: &'a [Operand], fields: &Fields<'a>) -> Option<Value<'a>> {
        let mut values = arguments.iter().map(|argument| argument.value(fields));
        match self {
            Self::Coalesce => values.flatten().next(),
            Self::Lower => change_case(values.next()??, str::to_lowercase),
            Self::Upper => change_case(values.next()??, str::to_uppercase),
            Self::FloorMillis(unit) => match values.next()?? {
                Value::Number(millis) => {
                    let units = -(-millis.into_owned()).div_ceil(unit);
                    Some(Value::Number(Cow::Owned(units * Decimal::from(unit.get()))))
                }
                Value::Boolean(_) | Value::Text(_) | Value::Instant(_) => None,
            },
        }
    }
}

fn change_case<'a>(value: Value<'a>, change: fn(&str) -> String) -> Option<Value<'a>> {
    match value {
        Value::Text(text) => Some(Value::Text(Cow::Owned(change(&text)))),
        Value::Boolean(_) | Value::Number(_) | Value::Instant(_) => None,
    }
}

impl Literal {
    fn value(&self) -> Option<Value<'_>> {
        match self {
            Self::Null => None,
            Self::Boolean(value) => Some(Value::Boolean(*value)),
            Self::Number(value) => Some(Value::Number(Cow::Borrowed(value))),
            Self::Text(value) => Some(Value::Text(Cow::Borrowed(value))),
            Self::Instant(value) => Some(Value::Instant(*value)),
        }
    }
}

impl Comparison {
    const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expression::{Expression, Fields, sample};

    const TRUE: Option<bool> = Some(true);
    const FALSE: Option<bool> = Some(false);
    const UNKNOWN: Option<bool> = None;

    fn check(text: &str, expect: Option<bool>) {
        let event = sample::event();
        let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let event = Fields::from(&event);
        assert_eq!(expression.evaluate(&event), expect, "{text}");
        assert_eq!(expression.matches(&event), expect == TRUE, "{text}");
    }

    /// Checks all operators between two operands of which the left is less, equal or greater.
    fn check_order(left: &str, right: &str, less: bool, equal: bool, greater: bool) {
        for (operator, expect) in [
            ("=", equal),
            ("!=", !equal),
            ("<>", !equal),
            ("<", less),
            ("<=", less || equal),
            (">", greater),
            (">=", greater || equal),
        ] {
            check(&format!("{left} {operator} {right}"), Some(expect));
        }
    }

    #[test]
    fn every_operator_on_values_of_one_type() {
        let equal = |left, right| check_order(left, right, false, true, false);
        let less = |left, right| {
            check_order(left, right, true, false, false);
            check_order(right, left, false, false, true);
        };
        equal("one", "1");
        equal("one", "uno");
        equal("one", "1.0");
        equal("one", "10e-1");
        equal("one", "0.1E+1");
        equal("debt", "-2.50");
        equal("0", "-0");
        less("one", "ten");
        less("debt", "one");
        less("one", "1.000000000000000000000000001");
        less("-1", "-0.9");
        less("2", "10");
        equal("apple", "'apple'");
        equal("event_name", "'completion'");
        less("apple", "pear");
        less("'Zoo'", "apple");
        less("'app'", "apple");
        less("''", "'a'");
        less("'z'", "'ä'");
        // In UTF-16 the second would come first.
        less("'\u{ff5e}'", "'🦀'");
        less("'10'", "'2'");
        equal("yes", "TRUE");
        equal("no", "false");
        less("no", "yes");
        equal("timestamp", "timestamp");
        equal("timestamp", "'2026-03-01T08:00:00Z'");
        equal("timestamp", "'2026-03-01T09:00:00+01:00'");
        equal("timestamp", "'2026-03-01 08:00:00'");
        less("timestamp", "'2026-03-01T08:00:00.000001Z'");
        // As strings they would be the other way round.
        less("timestamp", "'2026-03-01T07:30:00-02:00'");
    }

    #[test]
    fn comparing_different_types_or_null_is_unknown() {
        let types: [&[&str]; 5] = [
            &["one", "1"],
            &["apple", "'1'", "digit", "event_name", "\"timestamp\"", "\"event_name\""],
            &["yes", "TRUE", "no", "FALSE"],
            &["timestamp"],
            &["nil", "missing", "NULL"],
        ];
        for (left_type, lefts) in types.iter().enumerate() {
            for (right_type, rights) in types.iter().enumerate() {
                let null = left_type == 4 || right_type == 4;
                if left_type == right_type && !null {
                    continue;
                }
                for left in *lefts {
                    // A string that is no instant beside `timestamp` is an error of the text.
                    for right in *rights {
                        if [left, right].contains(&&"'1'") && [left, right].contains(&&"timestamp")
                        {
                            continue;
                        }
                        for operator in ["=", "!=", "<>", "<", "<=", ">", ">="] {
                            check(&format!("{left} {operator} {right}"), UNKNOWN);
                            check(&format!("NOT {left} {operator} {right}"), UNKNOWN);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn truth_tables() {
        let values = [("TRUE", TRUE), ("FALSE", FALSE), ("NULL", UNKNOWN)];
        let and = [
            [TRUE, FALSE, UNKNOWN], //
            [FALSE, FALSE, FALSE],
            [UNKNOWN, FALSE, UNKNOWN],
        ];
        let or = [
            [TRUE, TRUE, TRUE], //
            [TRUE, FALSE, UNKNOWN],
            [TRUE, UNKNOWN, UNKNOWN],
        ];
        for (row, (left, _)) in values.iter().enumerate() {
            for (column, (right, _)) in values.iter().enumerate() {
                check(&format!("{left} AND {right}"), and[row][column]);
                check(&format!("{left} OR {right}"), or[row][column]);
            }
        }
        for (value, expect) in values {
            check(value, expect);
            check(&format!("NOT {value}"), expect.map(|truth| !truth));
            check(&format!("NOT NOT {value}"), expect);
        }
    }

    #[test]
    fn chains_of_three_and_more() {
        check("yes AND yes AND yes", TRUE);
        check("yes AND nil AND no", FALSE);
        check("nil AND no AND nil", FALSE);
        check("yes AND nil AND yes", UNKNOWN);
        check("no OR no OR no", FALSE);
        check("no OR nil OR yes", TRUE);
        check("no OR nil OR no", UNKNOWN);
    }

    #[test]
    fn not_binds_before_and_before_or() {
        check("TRUE OR TRUE AND FALSE", TRUE);
        check("(TRUE OR TRUE) AND FALSE", FALSE);
        check("FALSE AND TRUE OR TRUE", TRUE);
        check("FALSE AND (TRUE OR TRUE)", FALSE);
        check("FALSE AND FALSE OR TRUE AND TRUE", TRUE);
        check("NOT FALSE AND FALSE", FALSE);
        check("NOT (FALSE AND FALSE)", TRUE);
        check("NOT TRUE OR TRUE", TRUE);
        check("NOT (TRUE OR TRUE)", FALSE);
        check("NOT one = 2", TRUE);
        check("NOT one IN (2)", TRUE);
        check("NOT nil IS NULL", FALSE);
        check("NOT NOT one = 1 AND NOT no", TRUE);
        check("((((one = 1))))", TRUE);
    }

    #[test]
    fn a_boolean_stands_by_itself() {
        check("yes", TRUE);
        check("no", FALSE);
        check("NOT no", TRUE);
        check("\"yes\"", TRUE);
        check("nil", UNKNOWN);
        check("missing", UNKNOWN);
        check("NOT missing", UNKNOWN);
        check("one", UNKNOWN);
        check("apple", UNKNOWN);
        check("NOT apple", UNKNOWN);
        check("yes AND one = 1", TRUE);
    }

    #[test]
    fn null_tests_are_never_unknown() {
        let null = |operand: &str, expect: bool| {
            check(&format!("{operand} IS NULL"), Some(expect));
            check(&format!("{operand} is not null"), Some(!expect));
        };
        null("nil", true);
        null("missing", true);
        null("NULL", true);
        null("yes", false);
        null("no", false);
        null("one", false);
        null("empty", false);
        null("event_name", false);
        null("timestamp", false);
        null("\"Timestamp\"", true);
        null("0", false);
        null("''", false);
    }

    #[test]
    fn membership_is_a_chain_of_or() {
        let among = |text: &str, expect: Option<bool>| {
            let (operand, list) = text.split_once(" IN ").unwrap();
            check(text, expect);
            check(&format!("{operand} NOT IN {list}"), expect.map(|truth| !truth));
        };
        among("one IN (1)", TRUE);
        among("one IN (2, 3, 1.0)", TRUE);
        among("one IN (2, 3)", FALSE);
        among("one IN (2, NULL)", UNKNOWN);
        among("one IN (1, NULL)", TRUE);
        among("one IN (NULL)", UNKNOWN);
        among("one IN ('1')", UNKNOWN);
        among("one IN ('1', 1)", TRUE);
        among("one IN (2, TRUE)", UNKNOWN);
        among("apple IN ('pear', 'apple')", TRUE);
        among("apple IN ('pear')", FALSE);
        among("yes IN (FALSE, TRUE)", TRUE);
        among("nil IN (1, 2)", UNKNOWN);
        among("missing IN (NULL)", UNKNOWN);
        among("NULL IN (1)", UNKNOWN);
        among("1 IN (1, 2)", TRUE);
        among("event_name IN ('completion')", TRUE);
        among("timestamp IN ('2026-03-01T09:00:00+01:00', NULL, 1)", TRUE);
        among("timestamp IN ('2026-03-02T00:00:00Z')", FALSE);
        among("timestamp IN ('2026-03-02T00:00:00Z', 1)", UNKNOWN);
    }

    #[test]
    fn names_are_in_their_case_and_quoted_ones_are_properties() {
        check("One = 11", TRUE);
        check("ONE = 11", UNKNOWN);
        check("a.b = 7", TRUE);
        check("\"a.b\" = 7", TRUE);
        check("\"and\" = 8", TRUE);
        check("\"größe\" = 9", TRUE);
        check("\"say \"\"hi\"\"\" = 10", TRUE);
        check("event_name = 'completion'", TRUE);
        check("\"event_name\" = 'shadow'", TRUE);
        check("Event_Name IS NULL", TRUE);
        check("timestamp = '2026-03-01T08:00:00.000Z'", TRUE);
        // The property is a string, and so is what it is compared with.
        check("\"timestamp\" = '2026-03-01T08:00:00Z'", TRUE);
        check("\"timestamp\" = '2026-03-01T08:00:00.000Z'", FALSE);
        check("\"timestamp\" != 'noon'", TRUE);
    }

    #[test]
    fn strings_hold_whatever_is_quoted() {
        let check = |literal: &str, expect: &str| {
            let event = sample::with_properties([("text", expect.into())]);
            let expression = Expression::parse(&format!("text = {literal}")).unwrap();
            assert!(expression.matches(&Fields::from(&event)), "{literal}");
        };
        check("''", "");
        check("'it''s'", "it's");
        check("''''", "'");
        check("'''quoted'''", "'quoted'");
        check("'\"'", "\"");
        check("' AND '", " AND ");
        check("'a\nb\\n'", "a\nb\\n");
        check("'größe 🦀'", "größe 🦀");
    }

    #[test]
    fn keywords_are_in_any_case_and_space_is_free() {
        check("one=1 and ten=10", TRUE);
        check("yes and not no or false", TRUE);
        check("yEs IS nUlL aNd Not NO iS nOt NuLl", TRUE);
        check("one in(1)aNd'a'<'b'AND(yes)", TRUE);
        check("\n one\t=\r\n1 \u{c} AND\nyes\n", TRUE);
        check("true AND True AND TRUE", TRUE);
    }

    #[test]
    fn the_two_filters_of_the_specification() {
        let check = |text: &str, number: u64, other: &str, expect: bool| {
            let event = sample::with_properties([
                ("my_numeric_property", number.into()),
                ("my_other_property", other.into()),
                ("my_property", other.into()),
            ]);
            let expression = Expression::parse(text).unwrap();
            assert_eq!(expression.matches(&Fields::from(&event)), expect, "{text}");
        };
        let both = "my_numeric_property > 100 AND my_other_property = 'bar'";
        check(both, 101, "bar", true);
        check(both, 100, "bar", false);
        check(both, 101, "foo", false);
        check("my_property = 'foo'", 0, "foo", true);
        check("my_property = 'foo'", 0, "bar", false);
    }
}
