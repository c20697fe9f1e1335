use serde::{Deserialize, Serialize};

use crate::Decimal;

/// Thresholds that one change of a value crosses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// The most advanced of them: the greatest.
    pub threshold: Decimal,
    /// All of them, smallest first.
    pub thresholds: Vec<Decimal>,
}

/// Returns the thresholds that a value crosses on its way from `before` to `after`, if any.
///
/// Equality counts as crossed: usage fires at or above a threshold (§2.1). `before` is `None` where
/// there is no value yet: that is below every threshold, also one of zero or below.
///
/// ```
/// use accrue::{Decimal, alert::crossing};
///
/// let [low, high] = ["10", "20"].map(|text| Decimal::parse(text).unwrap());
/// let crossed = crossing(None, &high, &[low.clone(), high.clone()]).unwrap();
/// assert_eq!((crossed.threshold, crossed.thresholds), (high.clone(), vec![low, high.clone()]));
/// assert_eq!(crossing(Some(&high), &high, &[high.clone()]), None);
/// ```
#[must_use]
pub fn crossing<'a>(
    before: Option<&Decimal>,
    after: &Decimal,
    thresholds: impl IntoIterator<Item = &'a Decimal>,
) -> Option<Crossing> {
    let crossed = thresholds.into_iter().filter(|threshold| crosses(before, after, threshold));
    let mut thresholds: Vec<_> = crossed.cloned().collect();
    thresholds.sort();
    let threshold = thresholds.last()?.clone();
    Some(Crossing { threshold, thresholds })
}

/// Tells whether a value crosses a threshold.
pub(super) fn crosses(before: Option<&Decimal>, after: &Decimal, threshold: &Decimal) -> bool {
    threshold <= after && before.is_none_or(|before| before < threshold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_1_usage_fires_at_or_above() {
        fn number(text: &str) -> Decimal {
            Decimal::parse(text).unwrap()
        }
        let check = |before: Option<&str>, after: &str, thresholds: &[&str], expect: &[&str]| {
            let thresholds: Vec<_> = thresholds.iter().map(|text| number(text)).collect();
            let crossed = crossing(before.map(number).as_ref(), &number(after), &thresholds);
            let crossed = crossed.map(|crossing| crossing.thresholds).unwrap_or_default();
            assert_eq!(crossed, expect.iter().map(|text| number(text)).collect::<Vec<_>>());
        };
        check(Some("99"), "100", &["100"], &["100"]);
        check(Some("99"), "99.9999999999999999999999999", &["100"], &[]);
        check(Some("100"), "101", &["100"], &[]);
        check(Some("99"), "500", &["400", "100", "250"], &["100", "250", "400"]);
        check(Some("500"), "0", &["100"], &[]);
        check(None, "0", &["0", "-5"], &["-5", "0"]);
        check(Some("-6"), "-5", &["-5", "0"], &["-5"]);
        check(
            Some("0.1"),
            "0.3",
            &["0.2000000000000000000000000001"],
            &["0.2000000000000000000000000001"],
        );
        check(Some("1"), "2", &[], &[]);
    }
}
