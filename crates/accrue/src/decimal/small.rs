//! Numbers whose digits fit into an integer: nearly all there are, without an allocation.

use std::cmp::Ordering;

/// A number of at most 38 digits behind the point, as an integer of that many places.
///
/// Whatever does not fit is `None`, and is computed with numbers of any size.
#[derive(Clone, Copy)]
pub(super) struct Small {
    digits: i128,
    places: u8,
}

/// 10^0 to 10^38, which is all that an `i128` holds.
const TENS: [i128; 39] = {
    let (mut tens, mut exponent) = ([1; 39], 1);
    while exponent < tens.len() {
        #[expect(clippy::indexing_slicing, reason = "the compiler computes it, and would refuse")]
        {
            tens[exponent] = tens[exponent - 1] * 10;
        }
        exponent += 1;
    }
    tens
};

/// The most digits of a text that [`Small::read`] reads: any number of them is within the bounds of
/// [`Decimal::parse`](super::Decimal::parse).
const TEXT_DIGITS: usize = crate::limits::DECIMAL_DIGITS;

impl Small {
    pub(super) const ZERO: Self = Self { digits: 0, places: 0 };

    /// Returns `digits / 10^places`.
    pub(super) fn new(digits: i128, places: i64) -> Option<Self> {
        match u8::try_from(places) {
            Ok(places) if usize::from(places) < TENS.len() => Some(Self { digits, places }),
            Ok(_) => None,
            Err(_) => Some(Self { digits: digits.checked_mul(ten_to(-places)?)?, places: 0 }),
        }
    }

    /// Reads digits with a sign and a point, where they have both; without an exponent, and no more
    /// of them than a number that comes in has.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            text => (false, text),
        };
        let (mut digits, mut count, mut point) = (0_i128, 0_usize, None);
        for byte in text {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.wrapping_mul(10).wrapping_add(i128::from(byte - b'0'));
                    count += 1;
                }
                b'.' if point.is_none() && count > 0 => point = Some(count),
                _ => return None,
            }
        }
        let places = count - point.unwrap_or(count);
        let is_whole = count > 0 && point != Some(count);
        // So few digits have not wrapped.
        if !is_whole || count > TEXT_DIGITS {
            return None;
        }
        let places = u8::try_from(places).ok()?;
        Some(Self { digits: if negative { -digits } else { digits }, places })
    }

    pub(super) const fn digits(self) -> i128 {
        self.digits
    }

    pub(super) const fn places(self) -> u8 {
        self.places
    }

    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        let (a, b, places) = self.aligned(other)?;
        Some(Self { digits: a.checked_add(b)?, places })
    }

    pub(super) fn checked_sub(self, other: Self) -> Option<Self> {
        let (a, b, places) = self.aligned(other)?;
        Some(Self { digits: a.checked_sub(b)?, places })
    }

    pub(super) fn checked_mul(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Self::new(digits, i64::from(self.places) + i64::from(other.places))
    }

    pub(super) fn checked_neg(self) -> Option<Self> {
        Some(Self { digits: self.digits.checked_neg()?, ..self })
    }

    /// Returns the number of digits behind the point, zeros at its end aside.
    pub(super) fn significant_places(self) -> u8 {
        let Self { mut digits, mut places } = self;
        while places > 0 && digits % 10 == 0 {
            (digits, places) = (digits / 10, places - 1);
        }
        places
    }

    /// Returns how it compares to another one.
    pub(super) fn compare(self, other: Self) -> Ordering {
        match self.aligned(other) {
            Some((a, b, _)) => a.cmp(&b),
            // The one with fewer places leaves the range of the other: its sign decides.
            None if self.places < other.places => self.digits.cmp(&0),
            None => 0.cmp(&other.digits),
        }
    }

    /// Returns `part / whole` of it, rounded half away from zero to so many places. `whole` is above
    /// zero.
    pub(super) fn share(self, part: Self, whole: Self, places: u32) -> Option<Self> {
        let (numerator, denominator) = scaled(
            self.digits.checked_mul(part.digits)?,
            whole.digits,
            i64::from(places) + i64::from(whole.places)
                - i64::from(self.places)
                - i64::from(part.places),
        )?;
        let rest = (numerator % denominator).unsigned_abs();
        let is_half = rest >= denominator.unsigned_abs().div_ceil(2);
        let away = if is_half { numerator.signum() } else { 0 };
        Self::new(numerator / denominator + away, places.into())
    }

    /// Divides and rounds up to a whole number. The divisor is above zero.
    pub(super) fn div_ceil(self, divisor: u64) -> Option<Self> {
        let (numerator, denominator) =
            scaled(self.digits, divisor.into(), -i64::from(self.places))?;
        let up = i128::from(numerator % denominator > 0);
        Some(Self { digits: numerator / denominator + up, places: 0 })
    }

    /// Returns both with the same places.
    fn aligned(self, other: Self) -> Option<(i128, i128, u8)> {
        let places = self.places.max(other.places);
        let scaled = |number: Self| match places - number.places {
            0 => Some(number.digits),
            missing => number.digits.checked_mul(ten_to(missing.into())?),
        };
        Some((scaled(self)?, scaled(other)?, places))
    }
}

/// Returns a fraction that is multiplied by a power of ten.
fn scaled(numerator: i128, denominator: i128, exponent: i64) -> Option<(i128, i128)> {
    if exponent >= 0 {
        Some((numerator.checked_mul(ten_to(exponent)?)?, denominator))
    } else {
        Some((numerator, denominator.checked_mul(ten_to(-exponent)?)?))
    }
}

fn ten_to(exponent: i64) -> Option<i128> {
    TENS.get(usize::try_from(exponent).ok()?).copied()
}
