//! Dates, amounts and names as people read them.

use accrue::{Currency, Decimal, PricingUnit, Timestamp, Zone};
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Writes the day of an instant, as in `1 March 2026`.
pub(crate) fn day(at: Timestamp, zone: &Zone) -> String {
    let known = TimeZoneDatabase::bundled().get(zone.name()).unwrap_or(TimeZone::UTC);
    let instant = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or_default();
    instant.to_zoned(known).strftime("%-d %B %Y").to_string()
}

/// Writes an amount with the digits of its currency, as in `1,234.50`.
pub(crate) fn amount(of: &Decimal, currency: Currency) -> String {
    grouped(&of.with_places(currency.places()))
}

/// Writes an amount behind its currency, as in `USD 1,234.50`.
pub(crate) fn money(of: &Decimal, currency: Currency) -> String {
    format!("{} {}", currency.code(), amount(of, currency))
}

/// Writes an amount of a price: alone where it is in the currency of the document, and with its unit where
/// it is not.
pub(crate) fn own(of: &Decimal, unit: &PricingUnit, currency: Currency) -> String {
    if *unit == PricingUnit::from(currency) {
        return amount(of, currency);
    }
    format!("{} {unit}", grouped(&of.with_places(unit.places())))
}

/// Writes a number, as in `1,234.5`.
pub(crate) fn number(of: &Decimal) -> String {
    grouped(&of.to_string())
}

/// Puts a comma before each three digits before the point, and a sign of its own before a negative number.
fn grouped(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("\u{2212}", text));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let mut out = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    let fraction = fraction.map(|of| format!(".{of}")).unwrap_or_default();
    format!("{sign}{out}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        for (text, expected) in [
            ("0", "0"),
            ("123", "123"),
            ("1234", "1,234"),
            ("1234567.8901", "1,234,567.8901"),
            ("-100000.00", "\u{2212}100,000.00"),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn a_day_is_that_of_the_zone() {
        let at = Timestamp::parse("2026-03-31T23:00:00Z").unwrap();
        assert_eq!(day(at, &Zone::UTC), "31 March 2026");
        assert_eq!(day(at, &Zone::parse("Europe/Berlin").unwrap()), "1 April 2026");
    }
}
