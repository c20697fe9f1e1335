//! Sums, differences and products, of owned and borrowed numbers alike; numbers from integers.

use std::{
    iter::Sum,
    ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign},
};

use bigdecimal::{BigDecimal, num_bigint::BigInt};

use super::Decimal;

macro_rules! operators {
    ($($operator:ident $method:ident $sign:tt,)*) => {$(
        impl $operator for Decimal {
            type Output = Decimal;

            fn $method(self, other: Decimal) -> Decimal {
                Decimal(self.0 $sign other.0)
            }
        }

        impl $operator<&Decimal> for Decimal {
            type Output = Decimal;

            fn $method(self, other: &Decimal) -> Decimal {
                Decimal(self.0 $sign &other.0)
            }
        }

        impl $operator<Decimal> for &Decimal {
            type Output = Decimal;

            fn $method(self, other: Decimal) -> Decimal {
                Decimal(&self.0 $sign other.0)
            }
        }

        impl $operator for &Decimal {
            type Output = Decimal;

            fn $method(self, other: &Decimal) -> Decimal {
                Decimal(&self.0 $sign &other.0)
            }
        }
    )*};
}

operators! {
    Add add +,
    Sub sub -,
    Mul mul *,
}

impl AddAssign for Decimal {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl AddAssign<&Self> for Decimal {
    fn add_assign(&mut self, other: &Self) {
        self.0 += &other.0;
    }
}

impl SubAssign for Decimal {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl SubAssign<&Self> for Decimal {
    fn sub_assign(&mut self, other: &Self) {
        self.0 -= &other.0;
    }
}

impl Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Neg for &Decimal {
    type Output = Decimal;

    fn neg(self) -> Decimal {
        Decimal(-&self.0)
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
                Self(BigDecimal::from_bigint(BigInt::from(value), 0))
            }
        }
    )*};
}

from_integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn an_integer_of_any_type_is_a_number() {
        let check = |number: Decimal, expect: &str| assert_eq!(number.to_string(), expect);
        check(Decimal::from(u8::MAX), "255");
        check(Decimal::from(-1), "-1");
        check(Decimal::from(i64::MIN), "-9223372036854775808");
        check(Decimal::from(u128::MAX), "340282366920938463463374607431768211455");
    }

    proptest! {
        #[test]
        fn owned_and_borrowed_are_the_same(
            a in "-?[0-9]{1,12}", pa in 0_u32..9, b in "-?[0-9]{1,12}", pb in 0_u32..9,
        ) {
            let (a, b) = (&number(&format!("{a}e-{pa}")), &number(&format!("{b}e-{pb}")));
            macro_rules! check {
                ($sign:tt) => {
                    let expect = a.clone() $sign b.clone();
                    for found in [a.clone() $sign b, a $sign b.clone(), a $sign b] {
                        prop_assert_eq!(found.to_string(), expect.to_string());
                        prop_assert_eq!(&found, &expect);
                    }
                };
            }
            check!(+);
            check!(-);
            check!(*);
            prop_assert_eq!(-a, -a.clone());
            prop_assert_eq!([a, b].into_iter().sum::<Decimal>(), a + b);
            let mut moved = a.clone();
            moved += b;
            prop_assert_eq!(&moved, &(a + b));
            moved -= b;
            prop_assert_eq!(&moved, a);
        }
    }
}
