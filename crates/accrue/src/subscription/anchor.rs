use serde::{Deserialize, Serialize};

use crate::Error;

/// Day on which the billing cycles of a subscription begin, in the time zone of its customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BillingAnchor {
    /// First day of a month, at midnight: the default.
    #[default]
    FirstOfMonth,
    /// First instant of the subscription: `align_billing_with_subscription_start_date`.
    SubscriptionStart,
    /// Day of a month, at midnight: `billing_cycle_anchor_configuration`.
    ///
    /// Without a month, cycles of several months begin with the last such day at or before the
    /// subscription's start. With one, they begin in months that are whole cycles away from it, in
    /// `year` or else in the year of the start; the year matters where the cycle does not divide
    /// twelve months. Cycles of days begin on that very date; where it is not given in full, on the
    /// last such day at or before the start.
    Day {
        /// Day, 1 to 31: the last one of a month that is shorter.
        day: u8,
        /// Month that a longer cycle begins in, 1 to 12.
        month: Option<u8>,
        /// Year that a cycle of several years begins in. It takes a month.
        year: Option<u16>,
    },
}

impl BillingAnchor {
    /// Checks the day, the month and the year that a caller gave.
    ///
    /// # Errors
    ///
    /// If there is no such day or month, or a year comes without a month.
    pub fn check(self) -> Result<(), Error> {
        let Self::Day { day, month, year } = self else { return Ok(()) };
        let refuse =
            |field: &str, message: String| Err(Error::invalid(format!("anchor.{field}"), message));
        match (day, month, year) {
            (0 | 32.., _, _) => refuse("day", format!("found {day}, expected 1 to 31")),
            (_, Some(month @ (0 | 13..)), _) => {
                refuse("month", format!("found {month}, expected 1 to 12"))
            }
            (_, None, Some(_)) => refuse("month", "found a year alone, expected its month".into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_months_and_years_are_checked() {
        let check = |day, month, year, expect: Option<(&str, &str)>| {
            let found = BillingAnchor::Day { day, month, year }.check();
            let found = found.map_err(|error| error.violations().to_vec());
            match (found, expect) {
                (Ok(()), None) => {}
                (Err(violations), Some((field, message))) => {
                    assert_eq!(violations.len(), 1);
                    let expected = format!("anchor.{field}");
                    assert_eq!(violations[0].field, expected);
                    assert_eq!(violations[0].message, message);
                }
                (found, expect) => panic!("{day} {month:?} {year:?}: {found:?}, not {expect:?}"),
            }
        };
        check(1, None, None, None);
        check(31, Some(2), None, None);
        check(31, Some(12), Some(2_026), None);
        check(0, None, None, Some(("day", "found 0, expected 1 to 31")));
        check(32, None, None, Some(("day", "found 32, expected 1 to 31")));
        check(1, Some(0), None, Some(("month", "found 0, expected 1 to 12")));
        check(1, Some(13), None, Some(("month", "found 13, expected 1 to 12")));
        check(1, None, Some(2_026), Some(("month", "found a year alone, expected its month")));
        assert!(BillingAnchor::FirstOfMonth.check().is_ok());
        assert!(BillingAnchor::SubscriptionStart.check().is_ok());
    }
}
