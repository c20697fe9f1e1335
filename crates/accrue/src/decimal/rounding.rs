//! Division and rounding, each by a rule with a name.

use std::num::NonZeroU64;

use bigdecimal::{
    BigDecimal,
    num_bigint::{BigInt, Sign},
};

use super::{Decimal, form::Form};

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
        if self.0.places() <= i64::from(places) {
            self.clone()
        } else {
            self.share(&1.into(), &1.into(), places)
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
        if part >= whole { self.clone() } else { self.share(&part.into(), &whole.into(), places) }
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
        if let Form::Small(small) = self.0
            && let Some(result) = small.div_ceil(divisor.get())
        {
            return Self(result.into());
        }
        let (number, places) = self.0.as_digits();
        let number = &*number * ten_to(-places);
        let divisor = BigInt::from(divisor.get()) * ten_to(places);
        let (whole, rest) = (&number / &divisor, &number % &divisor);
        let up = i32::from(rest.sign() == Sign::Plus);
        Self(BigDecimal::new(whole + up, 0).into())
    }

    /// Returns the largest number with so many digits behind the point that is not above this one.
    pub(crate) fn floor(&self, places: u32) -> Self {
        let rounded = self.round(places);
        if rounded > *self { rounded - Self::last_place(places) } else { rounded }
    }

    /// Returns one in the last of so many digits behind the point.
    pub(crate) fn last_place(places: u32) -> Self {
        Self::scaled(1, places.into())
    }

    /// Returns the number of digits behind the point, zeros at its end aside.
    pub(crate) fn places(&self) -> u32 {
        match &self.0 {
            Form::Small(small) => small.significant_places().into(),
            Form::Big(big) => {
                u32::try_from(big.normalized().fractional_digit_count()).unwrap_or_default()
            }
        }
    }

    /// Returns `part / whole` of the number, rounded half away from zero to so many digits behind
    /// the point. `whole` is above zero.
    pub(crate) fn share(&self, part: &Self, whole: &Self, places: u32) -> Self {
        if let (Form::Small(number), Form::Small(part), Form::Small(whole)) =
            (&self.0, &part.0, &whole.0)
            && let Some(share) = number.share(*part, *whole, places)
        {
            return Self(share.into());
        }
        let (number, own_places) = self.0.as_digits();
        let (part, part_places) = part.0.as_digits();
        let (whole, whole_places) = whole.0.as_digits();
        let places = i64::from(places);
        let exponent = places + whole_places - own_places - part_places;
        let numerator = &*number * &*part * ten_to(exponent);
        let denominator = &*whole * ten_to(-exponent);
        // Division of integers cuts towards zero, so half a denominator is added away from it.
        let half =
            if numerator.sign() == Sign::Minus { -&denominator } else { denominator.clone() };
        let rounded = (numerator * 2 + half) / (denominator * 2);
        Self(BigDecimal::new(rounded, places).into())
    }
}

/// Returns a power of ten; 1 where the exponent is below zero.
fn ten_to(exponent: i64) -> BigInt {
    let exponent = u32::try_from(exponent.max(0));
    BigInt::from(10).pow(exponent.expect("a number that fits into memory has fewer places"))
}
