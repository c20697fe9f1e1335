use std::ops::Range;

use jiff::{civil::DateTime, tz::Offset};

use super::Timestamp;

impl Timestamp {
    /// Reads a date and time as most are written, and as stores keep all of them: in UTC, ended by a Z,
    /// with six digits of a fraction or fewer. None says nothing of the text.
    pub(super) fn from_usual(text: &str) -> Option<Self> {
        let (date_time, rest) = text.as_bytes().split_first_chunk::<19>()?;
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if !marks.iter().all(|(at, mark)| date_time.get(*at) == Some(mark)) {
            return None;
        }
        let fraction = rest.strip_suffix(b"Z")?;
        let fraction = match fraction {
            [] => 0,
            [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
                number(digits)?
                    * 10_i32.pow(6_u32.saturating_sub(u32::try_from(digits.len()).ok()?))
            }
            _ => return None,
        };
        let part = |digits: Range<usize>| number(date_time.get(digits)?);
        let small = |digits| i8::try_from(part(digits)?).ok();
        let civil = DateTime::new(
            i16::try_from(part(0..4)?).ok()?,
            small(5..7)?,
            small(8..10)?,
            small(11..13)?,
            small(14..16)?,
            small(17..19)?,
            fraction.checked_mul(1_000)?,
        );
        let instant = Offset::UTC.to_timestamp(civil.ok()?).ok()?;
        Self::from_micros(instant.as_microsecond()).ok()
    }
}

/// Reads digits, at most nine.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0_i32, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| digit.wrapping_sub(b'0'))?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_stores_keep_is_usual() {
        for text in
            ["2026-03-01T08:00:00.123456Z", "1970-01-01T00:00:00Z", "2024-02-29T23:59:59.5Z"]
        {
            assert_eq!(Timestamp::from_usual(text), Timestamp::parse_any(text).ok(), "{text}");
            assert!(Timestamp::from_usual(text).is_some(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn a_usual_text_is_read_as_any_other(
            text in "(19|20|00|99)[0-9]{2}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9]([.,][0-9]{0,7})?[Zz+]?",
        ) {
            if let Some(instant) = Timestamp::from_usual(&text) {
                prop_assert_eq!(Ok(instant), Timestamp::parse_any(&text));
            }
        }

        #[test]
        fn every_text_that_is_kept_is_usual(micros in Timestamp::MIN.micros()..=Timestamp::MAX.micros()) {
            let instant = Timestamp::from_micros(micros).unwrap();
            prop_assert_eq!(Timestamp::from_usual(&instant.to_string()), Some(instant));
        }
    }
}
