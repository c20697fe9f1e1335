use super::Field;
use crate::{Decimal, Timestamp};

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
            Self::In(_, literals) => literals.len(),
            Self::Compare(..) | Self::IsNull(_) | Self::Holds(_) => 1,
        }
    }
}

/// Operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Field(Field),
    Literal(Literal),
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
