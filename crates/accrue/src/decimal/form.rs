//! How a number is held.

use std::{borrow::Cow, cmp::Ordering};

use bigdecimal::{
    BigDecimal,
    num_bigint::{BigInt, Sign},
};

use super::small::Small;

/// A number in the form that it fits into: no result differs by it, only what it costs.
#[derive(Clone)]
pub(super) enum Form {
    Small(Small),
    /// Of any size. It may be one that would fit into the other form.
    Big(Box<BigDecimal>),
}

impl Form {
    /// Returns the number with digits of any size.
    pub(super) fn as_big(&self) -> Cow<'_, BigDecimal> {
        match self {
            Self::Small(small) => {
                Cow::Owned(BigDecimal::new(small.digits().into(), small.places().into()))
            }
            Self::Big(big) => Cow::Borrowed(big),
        }
    }

    /// Returns the digits, and how many of them are behind the point.
    pub(super) fn as_digits(&self) -> (Cow<'_, BigInt>, i64) {
        match self {
            Self::Small(small) => (Cow::Owned(small.digits().into()), small.places().into()),
            Self::Big(big) => big.as_bigint_and_scale(),
        }
    }

    /// Returns the digits that it has behind the point, zeros at the end among them.
    pub(super) fn places(&self) -> i64 {
        match self {
            Self::Small(small) => small.places().into(),
            Self::Big(big) => big.fractional_digit_count(),
        }
    }

    pub(super) fn sign(&self) -> Ordering {
        match self {
            Self::Small(small) => small.digits().cmp(&0),
            Self::Big(big) => match big.sign() {
                Sign::Minus => Ordering::Less,
                Sign::NoSign => Ordering::Equal,
                Sign::Plus => Ordering::Greater,
            },
        }
    }

    /// Computes from two numbers, with digits of any size where they do not fit.
    pub(super) fn combine(
        &self,
        other: &Self,
        small: impl Fn(Small, Small) -> Option<Small>,
        big: impl Fn(&BigDecimal, &BigDecimal) -> BigDecimal,
    ) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let Some(result) = small(*a, *b)
        {
            return Self::Small(result);
        }
        big(&self.as_big(), &other.as_big()).into()
    }

    pub(super) fn negate(&self) -> Self {
        if let Self::Small(small) = self
            && let Some(negated) = small.checked_neg()
        {
            return Self::Small(negated);
        }
        (-self.as_big().as_ref()).into()
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.compare(*b),
            _ => self.as_big().cmp(&other.as_big()),
        }
    }
}

impl From<BigDecimal> for Form {
    fn from(big: BigDecimal) -> Self {
        let small = |big: &BigDecimal| {
            let (digits, places) = big.as_bigint_and_scale();
            Small::new(i128::try_from(&*digits).ok()?, places)
        };
        match small(&big).or_else(|| small(&big.normalized())) {
            Some(small) => Self::Small(small),
            None => Self::Big(Box::new(big)),
        }
    }
}

impl From<Small> for Form {
    fn from(small: Small) -> Self {
        Self::Small(small)
    }
}
