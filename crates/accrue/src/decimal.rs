//! Exact numbers: no floating point touches a quantity or an amount, and nothing rounds in silence.

mod arithmetic;
mod json;
mod rounding;
mod written;

use std::{fmt, str::FromStr};

use bigdecimal::{
    BigDecimal,
    num_bigint::{BigInt, Sign},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(BigDecimal);

impl Decimal {
    /// Returns zero.
    #[must_use]
    pub fn zero() -> Self {
        Self::from(0)
    }

    /// Parses a number as JSON writes it: sign, digits, fraction, exponent.
    ///
    /// # Errors
    ///
    /// If the text is no such number, or the number is out of bounds. The work is linear in the
    /// length of the text, whatever the exponent says.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        Digits::read(text)?.build()
    }

    /// Tells whether the number could have come in: whether it is within the bounds of
    /// [`parse`](Self::parse).
    pub(crate) fn could_come_in(&self) -> bool {
        self.check_bounds().is_ok()
    }

    /// Returns the bound of [`parse`](Self::parse) that the number exceeds, as an error.
    pub(crate) fn check_bounds(&self) -> Result<(), DecimalError> {
        let (number, places) = self.0.as_bigint_and_scale();
        let is_small = u64::try_from(number.magnitude()).is_ok() && (0..=8).contains(&places);
        if is_small { Ok(()) } else { Self::parse(&self.to_string()).map(drop) }
    }

    /// Tells whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.0.sign() == Sign::Minus
    }

    /// Tells whether the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.sign() == Sign::NoSign
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

    /// Returns the number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self(self.0.abs())
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
        Ok(Decimal(BigDecimal::new(BigInt::from(value), -last_place)))
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

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, places) = self.0.as_bigint_and_scale();
        let sign = if self.is_negative() { "-" } else { "" };
        let digits = match u64::try_from(number.magnitude()) {
            Ok(small) => small.to_string(),
            Err(_) => number.magnitude().to_string(),
        };
        if places <= 0 {
            let zeros = if digits == "0" { 0 } else { usize::try_from(-places).unwrap_or(0) };
            f.write_str(sign)?;
            f.write_str(&digits)?;
            return (0..zeros).try_for_each(|_| f.write_str("0"));
        }
        let places = usize::try_from(places).unwrap_or(0);
        let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
        let (whole, fraction) = padded.split_at(padded.len().saturating_sub(places));
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            fraction => write!(f, "{sign}{whole}.{fraction}"),
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
                let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
                match text.parse::<BigDecimal>() {
                    Ok(number) if plain => Ok(Decimal(number)),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn text_in_text_out() {
        let check = |text: &str, expect: &str| {
            assert_eq!(number(text).to_string(), expect);
            assert_eq!(text.parse(), Ok(number(text)));
        };
        check("0", "0");
        check("-0", "0");
        check("0.000e99", "0");
        check("1.50", "1.5");
        check("-12e3", "-12000");
        check("1e-3", "0.001");
        check("00012.00", "12");
        check("1234567890123456789012345678", "1234567890123456789012345678");
        check("0.0000000000000000000000000001", "0.0000000000000000000000000001");
        check("-0.10", "-0.1");
    }

    #[test]
    fn out_of_bounds_is_found_on_the_text() {
        let check = |text: &str, expect: DecimalError| {
            assert_eq!(Decimal::parse(text), Err(expect), "{text}");
        };
        check(&"9".repeat(29), DecimalError::TooManyDigits { digits: 29 });
        check(&format!("1.{}1", "0".repeat(27)), DecimalError::TooManyDigits { digits: 29 });
        check("1e-29", DecimalError::TooManyPlaces);
        check("1e28", DecimalError::TooLarge);
        check("1e3000000", DecimalError::TooLarge);
        check("1e-99999999999999999999999999", DecimalError::TooManyPlaces);
        check("1e99999999999999999999999999", DecimalError::TooLarge);
        for text in ["", "-", ".5", "5.", "+1", "1e", "1e+", "NaN", "0x1", "1 ", "1_0", "1e5e5"] {
            check(text, DecimalError::NotANumber);
        }
    }

    #[test]
    fn a_document_holds_a_number_as_plain_text() {
        for document in ["\"1e5\"", "\"+1\"", "\"1_0\"", "\"\"", "1"] {
            let error = serde_json::from_str::<Decimal>(document).unwrap_err().to_string();
            assert!(error.contains("expected a decimal number as a string"), "{error}");
        }
        assert_eq!(serde_json::from_str::<Decimal>("\"-0.5\"").unwrap(), number("-0.5"));
    }

    proptest! {
        #[test]
        fn sums_and_products_equal_those_of_scaled_integers(
            a in -1_000_000_000_000_i64..1_000_000_000_000, b in -1_000_000_000_000_i64..1_000_000_000_000,
            pa in 0_u32..9, pb in 0_u32..9,
        ) {
            let (x, y) = (number(&format!("{a}e-{pa}")), number(&format!("{b}e-{pb}")));
            let scaled = |n: i64, places: u32| i128::from(n) * 10_i128.pow(9 - places);
            let text = |n: i128, places: i64| Decimal(BigDecimal::new(n.into(), places)).to_string();
            prop_assert_eq!((x.clone() + y.clone()).to_string(), text(scaled(a, pa) + scaled(b, pb), 9));
            prop_assert_eq!((x.clone() - y.clone()).to_string(), text(scaled(a, pa) - scaled(b, pb), 9));
            prop_assert_eq!((x.clone() * y.clone()).to_string(), text(i128::from(a) * i128::from(b), i64::from(pa + pb)));
            prop_assert_eq!(x.cmp(&y), scaled(a, pa).cmp(&scaled(b, pb)));
        }

        #[test]
        fn a_document_keeps_every_digit(digits in "-?[1-9][0-9]{0,40}", fraction in "[0-9]{0,40}[1-9]") {
            let text = format!("\"{digits}.{fraction}\"");
            let number: Decimal = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
    }
}
