//! Both forms, and what is between them, against numbers of any size.

use std::num::NonZeroU64;

use bigdecimal::{
    BigDecimal,
    num_bigint::{BigInt, Sign},
};
use proptest::prelude::*;

use super::{
    super::{Digits, small::Small},
    Decimal, Form, big,
};

/// A number and what it is.
fn a_number() -> impl Strategy<Value = (Decimal, BigDecimal)> {
    let digits = prop_oneof![
        (-1_000_i128..1_000).boxed(),
        any::<i64>().prop_map(i128::from).boxed(),
        any::<i128>().boxed(),
        prop_oneof![Just(i128::MIN), Just(i128::MAX), Just(i128::MIN / 10), Just(i128::MAX / 10)]
            .boxed(),
    ];
    let places = prop_oneof![0_i64..4, 0_i64..=38, -40_i64..80];
    (digits, places).prop_map(|(digits, places)| {
        (Decimal::scaled(digits, places), BigDecimal::new(digits.into(), places))
    })
}

/// The number in each form.
fn forms(number: &Decimal) -> [Decimal; 2] {
    [number.clone(), big(number)]
}

/// Compares value and text.
fn check(found: &Decimal, expect: &BigDecimal) -> Result<(), TestCaseError> {
    prop_assert_eq!(&*found.0.as_big(), expect);
    let text = expect.normalized().to_plain_string();
    prop_assert_eq!(found.to_string(), text.clone());
    prop_assert_eq!(serde_json::to_string(found).unwrap(), format!("\"{text}\""));
    prop_assert_eq!(&serde_json::from_str::<Decimal>(&format!("\"{text}\"")).unwrap(), found);
    Ok(())
}

/// Returns `part / whole` of a number, rounded half away from zero, by way of magnitudes.
fn share(number: &BigDecimal, part: &BigDecimal, whole: &BigDecimal, places: u32) -> BigDecimal {
    let fine = |number: &BigDecimal| number.with_scale(80).into_bigint_and_scale().0;
    let unit = BigInt::from(10).pow(80);
    let numerator = fine(number) * fine(part) * BigInt::from(10).pow(places);
    let denominator = fine(whole) * unit;
    let twice = numerator.magnitude() * 2_u32 / denominator.magnitude();
    let rounded = BigInt::from((twice + 1_u32) / 2_u32);
    let is_below = numerator < BigInt::ZERO;
    BigDecimal::new(if is_below { -rounded } else { rounded }, places.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_form_computes_the_same((a, x) in a_number(), (b, y) in a_number()) {
        for a in forms(&a) {
            check(&a, &x)?;
            check(&-&a, &-&x)?;
            check(&a.abs(), &x.abs())?;
            prop_assert_eq!(a.is_negative(), x.sign() == Sign::Minus);
            prop_assert_eq!(a.is_zero(), x.sign() == Sign::NoSign);
            prop_assert_eq!(i64::from(a.places()), x.normalized().fractional_digit_count().max(0));
            for b in forms(&b) {
                check(&(&a + &b), &(&x + &y))?;
                check(&(&a - &b), &(&x - &y))?;
                check(&(&a * &b), &(&x * &y))?;
                prop_assert_eq!(a.cmp(&b), x.cmp(&y));
                prop_assert_eq!(a == b, x == y);
            }
        }
    }

    #[test]
    fn every_form_divides_the_same(
        (a, x) in a_number(), (b, y) in a_number(), (c, z) in a_number(),
        places in 0_u32..40, divisor in any::<NonZeroU64>(),
    ) {
        let one = BigDecimal::from(1);
        for a in forms(&a) {
            check(&a.round(places), &share(&x, &one, &one, places))?;
            let above = a.div_ceil(divisor);
            let divisor = Decimal::from(divisor.get());
            prop_assert!(&above * &divisor >= a);
            prop_assert!(&(&above - Decimal::from(1)) * &divisor < a);
            for (b, c) in forms(&b).into_iter().zip(forms(&c)) {
                if !c.is_zero() {
                    check(&a.share(&b, &c.abs(), places), &share(&x, &y, &z.abs(), places))?;
                }
            }
        }
    }

    #[test]
    fn a_short_text_is_read_as_a_long_one_is(text in "-?[0-9]{0,32}[.]?[0-9]{0,32}[e0.-]?") {
        let slow = Digits::read(&text).and_then(Digits::build);
        if let Some(small) = Small::read(&text) {
            prop_assert_eq!(Ok(Decimal(small.into())), slow.clone());
        }
        prop_assert_eq!(Decimal::parse(&text), slow);
    }

    #[test]
    fn a_number_that_fits_is_small(digits: i128, places in 0_i64..=38, zeros in 0_usize..20) {
        let grown = BigDecimal::new(BigInt::from(digits), places)
            .with_scale(places + i64::try_from(zeros).unwrap());
        prop_assert!(matches!(Form::from(grown), Form::Small(_)));
    }
}
