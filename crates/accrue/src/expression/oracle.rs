//! Compares expressions with a slow, obvious evaluator of trees, and feeds them what is no
//! expression.

use std::fmt;

use proptest::{collection::vec, prelude::*, sample::select};

use super::{ComputedProperty, Expression, ExpressionError, Fields, sample};
use crate::{
    Decimal,
    metric::MetricQuery,
    usage::{Event, PropertyValue},
};

/// An expression as a test makes one, and how it is spelled.
#[derive(Clone, Debug)]
enum Tree {
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Group(Box<Tree>),
    Compare(Atom, &'static str, Atom),
    Null(Atom, bool),
    In(Atom, bool, Vec<Scalar>),
    Alone(Scalar, bool),
}

/// A value, and whether it is written as the property that has it.
#[derive(Clone, Debug)]
struct Atom {
    value: Scalar,
    property: bool,
}

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Scalar {
    Null,
    Boolean(bool),
    Quarters(i64),
    Text(&'static str),
}

/// Kleene's logic in numbers: 0 false, 1 unknown, 2 true.
fn oracle(tree: &Tree) -> u8 {
    match tree {
        Tree::And(left, right) => oracle(left).min(oracle(right)),
        Tree::Or(left, right) => oracle(left).max(oracle(right)),
        Tree::Not(inner) => 2 - oracle(inner),
        Tree::Group(inner) => oracle(inner),
        Tree::Compare(left, operator, right) => compare(&left.value, operator, &right.value),
        Tree::Null(atom, negated) => 2 * u8::from((atom.value == Scalar::Null) != *negated),
        Tree::In(atom, negated, list) => {
            let equal = list.iter().map(|item| compare(&atom.value, "=", item));
            let found = equal.max().unwrap();
            if *negated { 2 - found } else { found }
        }
        Tree::Alone(Scalar::Boolean(value), _) => 2 * u8::from(*value),
        Tree::Alone(..) => 1,
    }
}

fn compare(left: &Scalar, operator: &str, right: &Scalar) -> u8 {
    let alike = matches!(
        (left, right),
        (Scalar::Boolean(_), Scalar::Boolean(_))
            | (Scalar::Quarters(_), Scalar::Quarters(_))
            | (Scalar::Text(_), Scalar::Text(_))
    );
    if !alike {
        return 1;
    }
    2 * u8::from(match operator {
        "=" => left == right,
        "!=" | "<>" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        _ => unreachable!("{operator}"),
    })
}

impl Tree {
    /// Says how tightly it binds.
    fn strength(&self) -> u8 {
        match self {
            Self::Or(..) => 0,
            Self::And(..) => 1,
            _ => 2,
        }
    }

    /// Writes it as part of what binds as given, in parentheses only where it needs them.
    fn within(&self, strength: u8) -> String {
        if self.strength() < strength { format!("({self})") } else { self.to_string() }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match self {
            Self::And(left, right) => write!(f, "{} and {}", left.within(1), right.within(1)),
            Self::Or(left, right) => write!(f, "{}\nOR {}", left.within(0), right.within(0)),
            Self::Not(inner) => write!(f, "Not {}", inner.within(2)),
            Self::Group(inner) => write!(f, "( {inner} )"),
            Self::Compare(left, operator, right) => write!(f, "{left}{operator}{right}"),
            Self::Null(atom, negated) => write!(f, "{atom} IS {}NULL", not(negated)),
            Self::In(atom, negated, list) => {
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                write!(f, "{atom} {}IN ({})", not(negated), list.join(", "))
            }
            Self::Alone(value, property) => {
                write!(f, "{}", Atom { value: value.clone(), property: *property })
            }
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.property { f.write_str(&self.value.property()) } else { self.value.fmt(f) }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Quarters(n) => write!(f, "{}e-2", n * 25),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

const QUARTERS: [i64; 5] = [-5, -4, 0, 4, 6];
const TEXTS: [&str; 5] = ["", "a", "a'b", "ab", "é"];

impl Scalar {
    fn all() -> Vec<Self> {
        let mut all = vec![Self::Null, Self::Boolean(false), Self::Boolean(true)];
        all.extend(QUARTERS.map(Self::Quarters));
        all.extend(TEXTS.map(Self::Text));
        all
    }

    fn value(&self) -> PropertyValue {
        match self {
            Self::Null => PropertyValue::Null,
            Self::Boolean(value) => (*value).into(),
            Self::Quarters(n) => Decimal::parse(&format!("{}e-2", n * 25)).unwrap().into(),
            Self::Text(text) => PropertyValue::from(*text),
        }
    }

    /// Names the property of the event that has this value.
    fn property(&self) -> String {
        match self {
            Self::Null => "missing".into(),
            Self::Boolean(value) => format!("is_{value}"),
            Self::Quarters(n) => format!("\"number {n}\""),
            Self::Text(text) => format!("\"\"\"{text}\"\"\""),
        }
    }
}

fn event() -> Event {
    let quarters = |n: i64| Decimal::parse(&format!("{}e-2", n * 25)).unwrap();
    let numbers = QUARTERS.map(|n| (format!("number {n}"), PropertyValue::from(quarters(n))));
    let texts = TEXTS.map(|text| (format!("\"{text}\""), PropertyValue::from(text)));
    let booleans = [true, false].map(|value| (format!("is_{value}"), value.into()));
    let named = numbers.into_iter().chain(texts).chain(booleans);
    let mut event = sample::event();
    event.properties =
        named.map(|(name, value)| (name.as_str().try_into().unwrap(), value)).collect();
    event
}

fn scalars() -> impl Strategy<Value = Scalar> {
    select(Scalar::all())
}

fn atoms() -> impl Strategy<Value = Atom> {
    (scalars(), any::<bool>()).prop_map(|(value, property)| Atom { value, property })
}

fn trees() -> impl Strategy<Value = Tree> {
    let operators = select(vec!["=", "!=", "<>", "<", "<=", ">", ">="]);
    let alone = (scalars(), any::<bool>()).prop_map(|(value, property)| {
        let literal = matches!(value, Scalar::Boolean(_) | Scalar::Null);
        Tree::Alone(value, property || !literal)
    });
    let leaf = prop_oneof![
        3 => (atoms(), operators, atoms()).prop_map(|(l, o, r)| Tree::Compare(l, o, r)),
        1 => (atoms(), any::<bool>()).prop_map(|(atom, negated)| Tree::Null(atom, negated)),
        1 => (atoms(), any::<bool>(), vec(scalars(), 1..4)).prop_map(|(a, n, l)| Tree::In(a, n, l)),
        2 => alone,
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            2 => pair.clone().prop_map(|(l, r)| Tree::And(l.into(), r.into())),
            2 => pair.prop_map(|(l, r)| Tree::Or(l.into(), r.into())),
            1 => inner.clone().prop_map(|tree| Tree::Not(tree.into())),
            1 => inner.prop_map(|tree| Tree::Group(tree.into())),
        ]
    })
}

/// Pieces of the language, and some that are none of it.
const PIECES: [&str; 55] = [
    "a",
    "b.c",
    "event_name",
    "timestamp",
    "events",
    "count",
    "sum",
    "\"q\"",
    "\"\"",
    "\"",
    "1",
    "-2.5",
    "1e3",
    "1e99",
    ".",
    "'s'",
    "''",
    "'",
    "'2026-03-01T00:00:00Z'",
    "TRUE",
    "FALSE",
    "NULL",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "SELECT",
    "FROM",
    "WHERE",
    "DISTINCT",
    "LIKE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "coalesce",
    "lower",
    "(",
    ")",
    ",",
    "*",
    ";",
    "=",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "-",
    "ö",
    "\0",
    "🦀",
];

fn has_a_place(error: &ExpressionError, text: &str) -> bool {
    let position = error.position();
    let before = text.get(..position).map(|before| before.chars().count() + 1);
    before == Some(error.character()) && !error.found().is_empty() && !error.expected().is_empty()
}

fn check_any_text(text: &str) -> Result<(), TestCaseError> {
    let event = event();
    match Expression::parse(text) {
        Ok(expression) => {
            let truth = expression.evaluate(&Fields::from(&event));
            prop_assert_eq!(expression.matches(&Fields::from(&event)), truth == Some(true));
            prop_assert_eq!(expression.as_str(), text);
        }
        Err(error) => prop_assert!(has_a_place(&error, text), "{}", error),
    }
    match ComputedProperty::parse(text) {
        Ok(property) => prop_assert_eq!(property.as_str(), text),
        Err(error) => prop_assert!(has_a_place(&error, text), "{}", error),
    }
    match MetricQuery::parse(text) {
        Ok(query) => {
            let contribution = query.contribution(&Fields::from(&event));
            if let Some(condition) = query.condition() {
                prop_assert!(contribution.is_none() || condition.matches(&Fields::from(&event)));
                prop_assert_eq!(&Expression::parse(condition.as_str()), &Ok(condition.clone()));
            }
        }
        Err(error) => prop_assert!(has_a_place(&error, text), "{}", error),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_expression_says_what_its_tree_says(tree in trees()) {
        let text = tree.to_string();
        prop_assume!(text.len() <= crate::limits::EXPRESSION_BYTES);
        let expression = Expression::parse(&text);
        let found = expression.map(|expression| expression.evaluate(&Fields::from(&event())));
        let expect = [Some(false), None, Some(true)][usize::from(oracle(&tree))];
        prop_assert_eq!(found, Ok(expect), "{}", text);
    }

    #[test]
    fn a_case_is_its_first_tree_that_is_true(
        branches in vec((trees(), scalars()), 1..4), other in prop::option::of(scalars()),
    ) {
        let cases = branches.iter().map(|(tree, then)| format!("WHEN {tree} THEN {then} "));
        let other_text = other.iter().map(|other| format!("ELSE {other} "));
        let text = format!("CASE {}END", cases.chain(other_text).collect::<String>());
        prop_assume!(text.len() <= crate::limits::EXPRESSION_BYTES);
        let holding = branches.iter().find(|(tree, _)| oracle(tree) == 2).map(|(_, then)| then);
        let chosen = holding.or(other.as_ref()).unwrap_or(&Scalar::Null);
        let found = ComputedProperty::parse(&text);
        let found = found.map(|property| property.evaluate(&Fields::from(&event())));
        prop_assert_eq!(found, Ok(chosen.value()), "{}", text);
        let equals = format!("{text} = {chosen}");
        let truth = Expression::parse(&equals).map(|of| of.evaluate(&Fields::from(&event())));
        prop_assert_eq!(truth, Ok((*chosen != Scalar::Null).then_some(true)));
    }

    #[test]
    fn any_text_is_parsed_or_has_a_place_where_it_is_wrong(text in any::<String>()) {
        check_any_text(&text)?;
    }

    #[test]
    fn any_pieces_are_parsed_or_have_a_place_where_they_are_wrong(
        pieces in vec(select(PIECES.to_vec()), 0..30), separator in select(vec!["", " ", "\n"]),
    ) {
        check_any_text(&pieces.join(separator))?;
    }

    #[test]
    fn a_tree_with_a_piece_cut_out_is_parsed_or_has_a_place_where_it_is_wrong(
        tree in trees(), cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let text: Vec<char> = tree.to_string().chars().collect();
        let (start, length) = (cut.0.index(text.len()), cut.1.index(text.len().min(5)) + 1);
        let end = (start + length).min(text.len());
        let text: String = text[..start].iter().chain(&text[end..]).collect();
        check_any_text(&text)?;
        check_any_text(&format!("SELECT count(*) FROM events WHERE {text}"))?;
    }
}
