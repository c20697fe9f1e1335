use std::fmt::Display;

use accrue::Decimal;

/// Writes a number with its thousands apart.
pub(crate) fn grouped(number: impl Display) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let digits_left = whole.len() - place;
        let after_digit = grouped.ends_with(|last: char| last.is_ascii_digit());
        if digits_left % 3 == 0 && after_digit {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Writes numbers with as many decimals as the longest of them has: none is rounded.
pub(crate) fn aligned<'a>(numbers: impl IntoIterator<Item = &'a Decimal>) -> Vec<String> {
    let texts: Vec<_> = numbers.into_iter().map(grouped).collect();
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let most = texts.iter().map(|text| decimals(text)).max().unwrap_or(0);
    let padded = |text: String| match decimals(&text) {
        0 if most == 0 => text,
        0 => text + "." + &"0".repeat(most),
        some => text + &"0".repeat(most - some),
    };
    texts.into_iter().map(padded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let check = |text: &str, expect: &str| assert_eq!(grouped(text), expect);
        check("0", "0");
        check("999", "999");
        check("1000", "1,000");
        check("-100000", "-100,000");
        check("1234567.1234", "1,234,567.1234");
    }

    #[test]
    fn points_stand_below_each_other() {
        let check = |column: &[&str], expect: &[&str]| {
            let column: Vec<_> = column.iter().map(|text| Decimal::parse(text).unwrap()).collect();
            assert_eq!(aligned(&column), expect);
        };
        check(&[], &[]);
        check(&["20", "1000"], &["20", "1,000"]);
        check(&["1000", "0.5", "2.804825"], &["1,000.000000", "0.500000", "2.804825"]);
    }
}
