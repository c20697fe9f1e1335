//! Sums, differences and products, of owned and borrowed numbers alike; numbers from integers.

use std::{
    iter::Sum,
    ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign},
};

use bigdecimal::BigDecimal;

use super::{Decimal, small::Small};

macro_rules! operators {
    ($($operator:ident $method:ident $checked:ident,)*) => {$(
        impl $operator<&Decimal> for &Decimal {
            type Output = Decimal;

            fn $method(self, other: &Decimal) -> Decimal {
                Decimal(self.0.combine(&other.0, Small::$checked, |a, b| a.$method(b)))
            }
        }

        impl $operator<Decimal> for &Decimal {
            type Output = Decimal;

            fn $method(self, other: Decimal) -> Decimal {
                self.$method(&other)
            }
        }

        impl $operator for Decimal {
            type Output = Decimal;

            fn $method(self, other: Decimal) -> Decimal {
                (&self).$method(&other)
            }
        }

        impl $operator<&Decimal> for Decimal {
            type Output = Decimal;

            fn $method(self, other: &Decimal) -> Decimal {
                (&self).$method(other)
            }
        }
    )*};
}

operators! {
    Add add checked_add,
    Sub sub checked_sub,
    Mul mul checked_mul,
}

macro_rules! assignments {
    ($($assignment:ident $assign:ident $method:ident,)*) => {$(
        impl $assignment for Decimal {
            fn $assign(&mut self, other: Self) {
                *self = (&*self).$method(&other);
            }
        }

        impl $assignment<&Self> for Decimal {
            fn $assign(&mut self, other: &Self) {
                *self = (&*self).$method(other);
            }
        }
    )*};
}

assignments! {
    AddAssign add_assign add,
    SubAssign sub_assign sub,
}

impl Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        -&self
    }
}

impl Neg for &Decimal {
    type Output = Decimal;

    fn neg(self) -> Decimal {
        Decimal(self.0.negate())
    }
}

impl Sum for Decimal {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::zero(), Add::add)
    }
}

impl<'a> Sum<&'a Self> for Decimal {
    fn sum<I: Iterator<Item = &'a Self>>(numbers: I) -> Self {
        numbers.fold(Self::zero(), Add::add)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Decimal {
            fn from(value: $integer) -> Self {
                match i128::try_from(value) {
                    Ok(digits) => Self::scaled(digits, 0),
                    Err(_) => Self(BigDecimal::from_bigint(value.into(), 0).into()),
                }
            }
        }
    )*};
}

from_integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
