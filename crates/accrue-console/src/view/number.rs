use accrue::Decimal;

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
