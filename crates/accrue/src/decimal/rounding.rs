//! Division and rounding, each by a rule with a name.

use std::num::NonZeroU64;

use bigdecimal::{
    BigDecimal,
    num_bigint::{BigInt, Sign},
};

use super::Decimal;

impl Decimal {
    /// Rounds to `places` digits behind the point, half away from zero.
    ///
    /// ```
    /// use accrue::Decimal;
    ///
    /// assert_eq!(Decimal::parse("0.125")?.round(2).to_string(), "0.13");
    /// assert_eq!(Decimal::parse("-0.125")?.round(2).to_string(), "-0.13");
    /// # Ok::<(), accrue::DecimalError>(())
    /// ```
    #[must_use]
    pub fn round(&self, places: u32) -> Self {
        if self.0.as_bigint_and_scale().1 <= i64::from(places) {
            self.clone()
        } else {
            self.fraction(&1.into(), &1.into(), places)
        }
    }

    /// Returns `part` of `whole` equal parts, rounded half away from zero to `places` digits behind
    /// the point. All of the parts, or more, are the number as it is, not rounded.
    ///
    /// ```
    /// use accrue::Decimal;
    ///
    /// let fee = Decimal::parse("100")?;
    /// assert_eq!(fee.prorate(11, 31, 2).to_string(), "35.48");
    /// assert_eq!(fee.prorate(31, 31, 2), fee);
    /// # Ok::<(), accrue::DecimalError>(())
    /// ```
    #[must_use]
    pub fn prorate(&self, part: u32, whole: u32, places: u32) -> Self {
        if part >= whole {
            self.clone()
        } else {
            self.fraction(&part.into(), &whole.into(), places)
        }
    }

    /// Divides and rounds up to a whole number: towards positive infinity, also below zero.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    ///
    /// use accrue::Decimal;
    ///
    /// let hundred = NonZeroU64::new(100).unwrap();
    /// assert_eq!(Decimal::from(100).div_ceil(hundred), Decimal::from(1));
    /// assert_eq!(Decimal::parse("100.01")?.div_ceil(hundred), Decimal::from(2));
    /// # Ok::<(), accrue::DecimalError>(())
    /// ```
    #[must_use]
    pub fn div_ceil(&self, divisor: NonZeroU64) -> Self {
        let (number, places) = self.0.as_bigint_and_scale();
        let number = &*number * ten_to(-places);
        let divisor = BigInt::from(divisor.get()) * ten_to(places);
        let (whole, rest) = (&number / &divisor, &number % &divisor);
        let up = i32::from(rest.sign() == Sign::Plus);
        Self(BigDecimal::new(whole + up, 0))
    }

    /// Returns the largest number with so many digits behind the point that is not above this one.
    pub(crate) fn floor(&self, places: u32) -> Self {
        let rounded = self.round(places);
        if rounded > *self { rounded - Self::last_place(places) } else { rounded }
    }

    /// Returns one in the last of so many digits behind the point.
    pub(crate) fn last_place(places: u32) -> Self {
        Self(BigDecimal::new(BigInt::from(1), i64::from(places)))
    }

    /// Returns the number of digits behind the point, zeros at its end aside.
    pub(crate) fn places(&self) -> u32 {
        u32::try_from(self.0.normalized().fractional_digit_count()).unwrap_or_default()
    }

    /// Returns `part / whole` of the number, rounded half away from zero to so many digits behind
    /// the point. `whole` is above zero.
    pub(crate) fn share(&self, part: &Self, whole: &Self, places: u32) -> Self {
        let (part, part_places) = part.0.as_bigint_and_scale();
        let (whole, whole_places) = whole.0.as_bigint_and_scale();
        let part = &*part * ten_to(whole_places.saturating_sub(part_places));
        let whole = &*whole * ten_to(part_places.saturating_sub(whole_places));
        self.fraction(&part, &whole, places)
    }

    /// Returns `part / whole` of the number, rounded half away from zero. `whole` is above zero.
    fn fraction(&self, part: &BigInt, whole: &BigInt, places: u32) -> Self {
        let (number, own_places) = self.0.as_bigint_and_scale();
        let places = i64::from(places);
        let numerator = &*number * part * ten_to(places) * ten_to(-own_places);
        let denominator = whole * ten_to(own_places);
        // Division of integers cuts towards zero, so half a denominator is added away from it.
        let half =
            if numerator.sign() == Sign::Minus { -&denominator } else { denominator.clone() };
        let rounded = (numerator * 2 + half) / (denominator * 2);
        Self(BigDecimal::new(rounded, places))
    }
}

/// Returns a power of ten; 1 where the exponent is below zero.
fn ten_to(exponent: i64) -> BigInt {
    let exponent = u32::try_from(exponent.max(0));
    BigInt::from(10).pow(exponent.expect("a number that fits into memory has fewer places"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn scaled(n: i128, places: u32) -> Decimal {
        Decimal(BigDecimal::new(n.into(), places.into()))
    }

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
}
