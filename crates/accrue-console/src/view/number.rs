use accrue::{Currency, Decimal, PricingUnit};

/// Writes a number as people read it: all its digits, those before the point in groups of three.
pub(crate) fn grouped(number: &Decimal) -> String {
    let text = number.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("−", digits));
    let (whole, rest) = digits.split_once('.').map_or((digits, None), |(a, b)| (a, Some(b)));
    let whole = groups(whole);
    match rest {
        Some(rest) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{whole}"),
    }
}

/// Writes an amount so, with its unit: of a currency with no fewer digits than its minor unit has, and never with
/// fewer than the amount has.
pub(crate) fn money(amount: &Decimal, unit: &PricingUnit) -> String {
    let places = unit.currency().map_or(0, Currency::places);
    let (places, mut text) = (usize::try_from(places).unwrap_or(0), grouped(amount));
    let has = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    if has == 0 && places > 0 {
        text.push('.');
    }
    text.extend(std::iter::repeat_n('0', places.saturating_sub(has)));
    format!("{text}\u{a0}{unit}")
}

/// Writes a count so.
pub(crate) fn count(number: u64) -> String {
    groups(&number.to_string())
}

fn groups(digits: &str) -> String {
    let length = digits.chars().count();
    let mut text = String::with_capacity(length.saturating_add(length / 3));
    for (at, digit) in digits.chars().enumerate() {
        let left = length.saturating_sub(at);
        if at > 0 && left % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_the_digits_of_its_minor_unit_and_all_of_its_own() {
        let check = |text: &str, unit: &str, expect: &str| {
            let (amount, unit) = (Decimal::parse(text).unwrap(), PricingUnit::parse(unit).unwrap());
            assert_eq!(money(&amount, &unit), expect);
        };
        check("13.5", "USD", "13.50\u{a0}USD");
        check("1300", "USD", "1,300.00\u{a0}USD");
        check("-0.00012", "USD", "−0.00012\u{a0}USD");
        check("7", "JPY", "7\u{a0}JPY");
        check("7.125", "tokens", "7.125\u{a0}tokens");
    }

    #[test]
    fn digits_are_grouped_and_none_is_lost() {
        let check = |text: &str, expect: &str| {
            assert_eq!(grouped(&Decimal::parse(text).unwrap()), expect);
        };
        check("0", "0");
        check("999", "999");
        check("1000", "1,000");
        check("-1234567.0000001", "−1,234,567.0000001");
        assert_eq!(count(1_000_000), "1,000,000");
    }
}
