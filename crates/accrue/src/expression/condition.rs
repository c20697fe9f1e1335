use std::num::NonZeroU64;

use super::Field;
use crate::{Decimal, Timestamp, limits};

/// Condition of an expression, as a tree.
///
/// Its depth is bounded by [`limits::EXPRESSION_DEPTH`](crate::limits::EXPRESSION_DEPTH): a chain
/// of `AND` or `OR` is one node however long it is, so that what walks the tree may recurse, the
/// compiler's own clone and drop included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// One of them, by `OR`.
    Any(Vec<Condition>),
    /// Each of them, by `AND`.
    All(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Comparison, Operand),
    IsNull(Operand),
    In(Operand, Vec<Literal>),
    /// A boolean by itself.
    Holds(Operand),
}

impl Condition {
    /// Counts the comparisons in it.
    pub(super) fn terms(&self) -> usize {
        match self {
            Self::Any(conditions) | Self::All(conditions) => {
                conditions.iter().map(Self::terms).fold(0, usize::saturating_add)
            }
            Self::Not(condition) => condition.terms(),
            Self::In(operand, literals) => literals.len().saturating_add(operand.terms()),
            Self::Compare(left, _, right) => {
                left.terms().saturating_add(right.terms()).saturating_add(1)
            }
            Self::IsNull(operand) | Self::Holds(operand) => operand.terms().saturating_add(1),
        }
    }
}

/// Operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Field(Field),
    Literal(Literal),
    Case(Box<Case>),
    Call(Function, Vec<Operand>),
}

impl Operand {
    /// Counts the comparisons in it, and the calls.
    pub(super) fn terms(&self) -> usize {
        let all = |terms: &mut dyn Iterator<Item = usize>| terms.fold(0, usize::saturating_add);
        match self {
            Self::Field(_) | Self::Literal(_) => 0,
            Self::Case(case) => {
                let branches = case.branches.iter().map(|(when, then)| {
                    let when = match when {
                        When::Holds(condition) => condition.terms(),
                        When::Equals(operand) => operand.terms().saturating_add(1),
                    };
                    when.saturating_add(then.terms())
                });
                let others = case.subject.iter().chain(&case.otherwise).map(Self::terms);
                all(&mut branches.chain(others))
            }
            Self::Call(function, arguments) => {
                let own = match function {
                    Function::Coalesce | Function::FloorMillis(_) => 1,
                    // All of a text is copied: as much as so many comparisons.
                    Function::Lower | Function::Upper => limits::PROPERTY_VALUE_BYTES / 16,
                };
                all(&mut arguments.iter().map(Self::terms).chain([own]))
            }
        }
    }
}

/// Choice between operands: that of the first branch that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Operand that branches are compared with, if there is one.
    pub(super) subject: Option<Operand>,
    pub(super) branches: Vec<(When, Operand)>,
    pub(super) otherwise: Option<Operand>,
}

/// When a branch holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Holds(Condition),
    /// The subject equals it.
    Equals(Operand),
}

/// Function of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The first one that is not null.
    Coalesce,
    Lower,
    Upper,
    /// A number of milliseconds, down to a multiple of another.
    FloorMillis(NonZeroU64),
}

/// A value that the expression spells out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Null,
    Boolean(bool),
    Number(Decimal),
    Text(Box<str>),
    /// A string beside `timestamp`.
    Instant(Timestamp),
}

/// Comparison of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}
