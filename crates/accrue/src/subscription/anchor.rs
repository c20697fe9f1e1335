use serde::{Deserialize, Serialize};

use crate::Error;

/// On which day the billing cycles of a subscription begin, in the time zone of its customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BillingAnchor {
    /// On the first of a month, at midnight: where nothing else is said.
    #[default]
    FirstOfMonth,
    /// With the subscription's first instant: `align_billing_with_subscription_start_date`.
    SubscriptionStart,
    /// On a day of a month, at midnight: `billing_cycle_anchor_configuration`.
    Day {
        /// The day, 1 to 31: the last one of a month that is shorter.
        day: u8,
        /// The month that a longer cycle begins in, 1 to 12.
        month: Option<u8>,
        /// The year that a cycle of several years begins in.
        year: Option<u16>,
    },
}

impl BillingAnchor {
    /// Says what is wrong with it.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Self::Day { day, month, .. } = self else { return Ok(()) };
        let found = [("day", Some(day), 31), ("month", month, 12)];
        let wrong = found.into_iter().find_map(|(field, found, last)| {
            let found = found.filter(|found| !(1..=last).contains(found))?;
            Some((field, format!("found {found}, expected 1 to {last}")))
        });
        match wrong {
            None => Ok(()),
            Some((field, message)) => {
                let pointer = format!("/billing_cycle_anchor_configuration/{field}");
                Err(Error::invalid(pointer, message))
            }
        }
    }
}
