//! Exact numbers: no floating point touches a quantity or an amount, and nothing rounds in silence.

mod arithmetic;
mod form;
mod json;
mod rounding;
mod small;
#[cfg(test)]
mod tests;
mod written;

use std::{cmp::Ordering, fmt, str::FromStr};

use bigdecimal::BigDecimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use self::{form::Form, small::Small};
pub use self::{json::JsonNumber, written::WrittenDecimal};
use crate::limits;

/// An exact decimal number of any size.
///
/// A number that comes in has at most 28 significant digits, 28 decimals and a magnitude below
/// 10^28, judged on its text before a number is built. Numbers computed from it need no bound.
///
/// Its text has no exponent and no trailing zeros; in documents it is that text, as a string. Where
/// JSON has a number, [`JsonNumber`] reads and writes it.
///
/// Sums, differences and products are exact, of numbers and references alike. There is no operator
/// for division: division and rounding are methods whose names say how ([`round`](Self::round),
/// [`prorate`](Self::prorate), [`div_ceil`](Self::div_ceil)).
///
/// ```
/// use accrue::Decimal;
///
/// let price = Decimal::parse("0.10")? + Decimal::parse("2e-1")?;
/// assert_eq!(price.to_string(), "0.3");
/// assert_eq!(&price * Decimal::from(2), &price + &price);
/// assert!(Decimal::parse("1e3000000").is_err());
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[derive(Clone)]
pub struct Decimal(Form);

impl Decimal {
    /// Returns zero.
    #[must_use]
    pub const fn zero() -> Self {
        Self(Form::Small(Small::ZERO))
    }

    /// Parses a number as JSON writes it: sign, digits, fraction, exponent.
    ///
    /// # Errors
    ///
    /// If the text is no such number, or the number is out of bounds. The work is linear in the
    /// length of the text, whatever the exponent says.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        match Small::read(text) {
            Some(small) => Ok(Self(small.into())),
            None => Digits::read(text)?.build(),
        }
    }

    /// Returns it as an integer below 2^53, which every reader of JSON knows exactly, where it is one.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        const BOUND: i64 = 1 << 53;
        let Form::Small(small) = &self.0 else { return None };
        let unit = 10_i128.checked_pow(u32::from(small.places()))?;
        let whole = small.digits().checked_div(unit).filter(|_| small.digits() % unit == 0)?;
        let integer = i64::try_from(whole).ok()?;
        (-BOUND < integer && integer < BOUND).then_some(integer)
    }

    /// Tells whether the number could have come in: whether it is within the bounds of
    /// [`parse`](Self::parse).
    pub(crate) fn could_come_in(&self) -> bool {
        self.check_bounds().is_ok()
    }

    /// Returns the bound of [`parse`](Self::parse) that the number exceeds, as an error.
    pub(crate) fn check_bounds(&self) -> Result<(), DecimalError> {
        if let Form::Small(small) = self.0
            && u64::try_from(small.digits().unsigned_abs()).is_ok()
            && small.places() <= 8
        {
            return Ok(());
        }
        Self::parse(&self.to_string()).map(drop)
    }

    /// Tells whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.0.sign().is_lt()
    }

    /// Tells whether the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.sign().is_eq()
    }

    /// Returns its text with so many digits behind the point at least: 1.5 is `1.50` with two.
    ///
    /// ```
    /// use accrue::Decimal;
    ///
    /// assert_eq!(Decimal::from(3).with_places(2), "3.00");
    /// assert_eq!(Decimal::parse("0.125")?.with_places(2), "0.125");
    /// # Ok::<(), accrue::DecimalError>(())
    /// ```
    #[must_use]
    pub fn with_places(&self, places: u32) -> String {
        let mut text = self.to_string();
        let places = usize::try_from(places).unwrap_or(0);
        let found = text.split_once('.').map(|(_, fraction)| fraction.len());
        if found.is_none() && places > 0 {
            text.push('.');
        }
        let missing = places.saturating_sub(found.unwrap_or(0));
        text.extend(std::iter::repeat_n('0', missing));
        text
    }

    /// Returns `digits / 10^places`.
    fn scaled(digits: i128, places: i64) -> Self {
        let big = || BigDecimal::new(digits.into(), places).into();
        Self(Small::new(digits, places).map_or_else(big, Form::Small))
    }

    /// Returns the number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() { -self } else { self.clone() }
    }
}

/// A number as its text spells it, before anything is built.
struct Digits<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// Saturated: beyond a few thousand its size no longer matters.
    exponent: i64,
}

impl<'a> Digits<'a> {
    fn read(text: &'a str) -> Result<Self, DecimalError> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if all_digits(whole) && all_digits(fraction) {
            Ok(Self { negative, whole, fraction, exponent })
        } else {
            Err(DecimalError::NotANumber)
        }
    }

    fn build(self) -> Result<Decimal, DecimalError> {
        let Self { negative, whole, fraction, exponent } = self;
        let digits = || whole.bytes().chain(fraction.bytes());
        let trailing = digits().rev().take_while(|b| *b == b'0').count();
        let leading = digits().take_while(|b| *b == b'0').count();
        let written = whole.len().saturating_add(fraction.len());
        if leading == written {
            return Ok(Decimal::zero());
        }
        let significant = written.saturating_sub(leading).saturating_sub(trailing);
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let last_place =
            exponent.saturating_sub(signed(fraction.len())).saturating_add(signed(trailing));
        if significant > limits::DECIMAL_DIGITS {
            return Err(DecimalError::TooManyDigits { digits: significant });
        }
        if last_place < -limits::DECIMAL_PLACES {
            return Err(DecimalError::TooManyPlaces);
        }
        if signed(significant).saturating_add(last_place) > limits::DECIMAL_MAGNITUDE {
            return Err(DecimalError::TooLarge);
        }
        let magnitude = digits()
            .skip(leading)
            .take(significant)
            .fold(0_i128, |n, b| n.saturating_mul(10).saturating_add(i128::from(b - b'0')));
        let value = if negative { -magnitude } else { magnitude };
        Ok(Decimal::scaled(value, -last_place))
    }
}

fn read_exponent(text: &str) -> Result<i64, DecimalError> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(DecimalError::NotANumber);
    }
    let size =
        digits.iter().fold(0_i64, |n, b| n.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    Ok(if negative { size.saturating_neg() } else { size })
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.compare(&other.0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative() {
            f.write_str("-")?;
        }
        match &self.0 {
            Form::Small(small) => {
                let mut text = itoa::Buffer::new();
                let digits = text.format(small.digits().unsigned_abs());
                write_digits(f, digits, small.places().into())
            }
            Form::Big(big) => {
                let (number, places) = big.as_bigint_and_scale();
                write_digits(f, &number.magnitude().to_string(), places)
            }
        }
    }
}

/// Writes digits, so many of which are behind the point, without the zeros at their end.
fn write_digits(f: &mut fmt::Formatter<'_>, digits: &str, places: i64) -> fmt::Result {
    let zeros = |f: &mut fmt::Formatter<'_>, n: usize| (0..n).try_for_each(|_| f.write_str("0"));
    let Ok(places) = usize::try_from(places) else {
        f.write_str(digits)?;
        return if digits == "0" {
            Ok(())
        } else {
            zeros(f, usize::try_from(-places).unwrap_or(0))
        };
    };
    let (whole, fraction) = match digits.len().checked_sub(places) {
        Some(point) if point > 0 => digits.split_at(point),
        _ => ("0", digits),
    };
    f.write_str(whole)?;
    let missing = places.saturating_sub(fraction.len());
    match fraction.trim_end_matches('0') {
        "" => Ok(()),
        fraction => {
            f.write_str(".")?;
            zeros(f, missing)?;
            f.write_str(fraction)
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for Decimal {
    /// Returns zero.
    fn default() -> Self {
        Self::zero()
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Parses a number, as [`parse`](Self::parse) does.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        Self::parse(text)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    /// Reads the text of a number that was computed here: it has no bound.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Decimal;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal number as a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
                if let Some(small) = Small::read(text) {
                    return Ok(Decimal(small.into()));
                }
                let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
                match text.parse::<BigDecimal>() {
                    Ok(number) if plain => Ok(Decimal(number.into())),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Error of a text that is no number, or one out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// Text that is not a number in JSON's notation.
    #[error("not a decimal number")]
    NotANumber,
    /// More than 28 significant digits.
    #[error("number has {digits} significant digits, expected at most {}", limits::DECIMAL_DIGITS)]
    TooManyDigits {
        /// Number of significant digits that it has.
        digits: usize,
    },
    /// More than 28 digits behind the point.
    #[error("number has more than {} digits behind the point", limits::DECIMAL_PLACES)]
    TooManyPlaces,
    /// A magnitude of 10^28 or more.
    #[error("number is 10^{} or larger in magnitude", limits::DECIMAL_MAGNITUDE)]
    TooLarge,
}
