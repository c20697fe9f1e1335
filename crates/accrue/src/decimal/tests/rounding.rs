use std::num::NonZeroU64;

use proptest::prelude::*;

use super::{number, scaled};
use crate::Decimal;

#[test]
fn a_share_is_of_parts_of_any_digits() {
    let check = |part: &str, whole: &str, places: u32, expect: &str| {
        let found = number("10").share(&number(part), &number(whole), places);
        assert_eq!(found.to_string(), expect, "{part} of {whole}");
    };
    check("1", "3", 2, "3.33");
    check("0.25", "1", 2, "2.5");
    check("0.125", "0.5", 2, "2.5");
    check("2", "0.5", 2, "40");
    check("-2", "3", 2, "-6.67");
}

#[test]
fn halves_go_away_from_zero() {
    let check = |text: &str, places: u32, expect: &str| {
        assert_eq!(number(text).round(places).to_string(), expect, "{text} to {places}");
        assert_eq!((-number(text)).round(places), -number(expect), "-{text} to {places}");
    };
    check("0", 2, "0");
    check("0.005", 2, "0.01");
    check("0.0049999999999999999999999999", 2, "0");
    check("2.5", 0, "3");
    check("2.45", 1, "2.5");
    check("9.995", 2, "10");
    check("1e27", 2, "1000000000000000000000000000");
    check("0.123", 28, "0.123");
}

#[test]
fn all_parts_are_the_number_unchanged() {
    let exact = number("10.00000001");
    for (part, whole) in [(1, 1), (31, 31), (32, 31), (0, 0), (1, 0)] {
        assert_eq!(exact.prorate(part, whole, 2), exact, "{part} of {whole}");
    }
    assert_eq!(exact.prorate(0, 31, 2), Decimal::zero());
    assert_eq!(number("1e3").prorate(1, 3, 0), number("333"));
}

#[test]
fn what_is_started_counts() {
    let check = |text: &str, divisor: u64, expect: &str| {
        let divisor = NonZeroU64::new(divisor).unwrap();
        assert_eq!(number(text).div_ceil(divisor), number(expect), "{text} by {divisor}");
    };
    check("0", 10, "0");
    check("10", 10, "1");
    check("10.0000000000000000000000001", 10, "2");
    check("1e-28", u64::MAX, "1");
    check("1e20", 1_000, "100000000000000000");
    check("-10", 10, "-1");
    check("-9", 10, "0");
    check("-11", 10, "-1");
}

proptest! {
    #[test]
    fn rounding_equals_that_of_scaled_integers(
        n in -1_000_000_000_000_i128..1_000_000_000_000, own in 0_u32..9, places in 0_u32..9,
        part in 0_u32..400, whole in 1_u32..400,
    ) {
        // Both in units of 10^-9: the slow way goes through magnitude and sign.
        let nearest = |n: i128, unit: i128| {
            let (whole, rest) = (n.abs() / unit, n.abs() % unit);
            (whole + i128::from(rest * 2 >= unit)) * n.signum()
        };
        let (exact, unit) = (n * 10_i128.pow(9 - own), 10_i128.pow(9 - places));
        prop_assert_eq!(scaled(n, own).round(places), scaled(nearest(exact, unit), places));
        let prorated = scaled(n, own).prorate(part, whole, places);
        let expect = if part >= whole {
            scaled(n, own)
        } else {
            scaled(nearest(exact * i128::from(part), unit * i128::from(whole)), places)
        };
        prop_assert_eq!(prorated, expect);
    }

    #[test]
    fn floor_and_ceiling_equal_those_of_scaled_integers(
        n in -1_000_000_000_000_i128..1_000_000_000_000, own in 0_u32..9, places in 0_u32..9,
        divisor in 1_u64..1_000_000,
    ) {
        let (exact, unit) = (n * 10_i128.pow(9 - own), 10_i128.pow(9 - places));
        prop_assert_eq!(scaled(n, own).floor(places), scaled(exact.div_euclid(unit), places));
        let up = -(-exact).div_euclid(i128::from(divisor) * 1_000_000_000);
        let divisor = NonZeroU64::new(divisor).unwrap();
        prop_assert_eq!(scaled(n, own).div_ceil(divisor), scaled(up, 0));
    }
}
