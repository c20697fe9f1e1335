//! Configuration of an account (tenant), and the features that it may use.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Currency, Decimal, Description, Error, Timestamp, Zone, limits};

/// Configuration of an account.
///
/// ```
/// use accrue::account::Configuration;
///
/// assert_eq!(Configuration::default().grace_period.as_secs(), 24 * 60 * 60);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Configuration {
    /// Time zone of customers that name none: UTC unless chosen.
    pub timezone: Zone,
    /// Grace period: how long after its instant an event is still accepted, 24 hours unless chosen.
    /// Fractions of a microsecond are cut.
    #[serde(with = "micros")]
    pub grace_period: Duration,
    /// The longest timeframe of a backfill, in days: 31 unless chosen, at most 366 (wire 3.3).
    pub backfill_days: u32,
    /// Day that the days of an invoice's net terms are counted from: its date unless chosen (invoicing 5.1).
    #[serde(default)]
    pub due_date_basis: DueDateBasis,
    /// Text for the customer on invoices that have none of their own, of their subscription or its plan
    /// (invoicing 4.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_invoice_memo: Option<Description>,
    /// True where invoices are issued by themselves whose subscription and customer say nothing (invoicing 4.4). On
    /// unless chosen.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub auto_issuance: bool,
    /// Days after the first failure of a payment on which it is tried again (invoicing 8.7): 1, 4 and 9 unless
    /// chosen, in order, at most [10](limits::RETRIES) of them within [a year](limits::RETRY_DAYS).
    #[serde(default = "retry_days", skip_serializing_if = "is_usual")]
    pub retry_days: Vec<u32>,
    /// Least amounts that the payment gateway charges, by currency: none unless chosen. What is less is carried
    /// over to the customer's next invoice (invoicing 7.7).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub least_charges: BTreeMap<Currency, Decimal>,
    /// True where invoices are taxed: their taxes are asked for before they are issued (invoicing 16.1), and the
    /// host [answers](crate::Account::calculate_taxes). Off unless chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calculates_taxes: bool,
    /// True where `invoice.issued_summary` is told beside `invoice.issued` (invoicing 4.3). Off unless chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tells_issued_summaries: bool,
    /// Hours after which a change of a subscription that waits to be applied expires (subscriptions 4.2): 24 unless
    /// chosen, at most [744](limits::PENDING_CHANGE_HOURS_CHOSEN).
    #[serde(default = "pending_change_hours", skip_serializing_if = "is_a_day")]
    pub pending_change_hours: u32,
    /// Features that the account may use: all unless chosen.
    pub features: Features,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

fn retry_days() -> Vec<u32> {
    vec![1, 4, 9]
}

fn is_usual(days: &Vec<u32>) -> bool {
    *days == retry_days()
}

const fn pending_change_hours() -> u32 {
    limits::PENDING_CHANGE_HOURS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_a_day(hours: &u32) -> bool {
    *hours == pending_change_hours()
}

/// Day that due dates are counted from (invoicing 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DueDateBasis {
    /// The date that the invoice bears.
    #[default]
    InvoiceDate,
    /// The day on which it is issued.
    IssueDate,
}

/// Recalculation of the due dates of an account's invoices that is under way (invoicing 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DueDateRecalculation {
    /// Instant at which it began.
    pub started_at: Timestamp,
}

/// Features that an account may use. An operation of a feature that is off fails with
/// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Features {
    /// Alerts. Where they are off none fires, and nothing is saved up.
    pub alerts: bool,
    /// Credits. Where they are off usage draws none; blocks expire all the same.
    pub credits: bool,
    /// Previews of the effects of an operation.
    pub previews: bool,
    /// Backfills. Where they are off, those that are pending close all the same.
    pub backfills: bool,
    /// Invoices of subscriptions: of those that are created while they are on, to the end of their lives.
    /// Off unless they are asked for.
    #[serde(default)]
    pub invoices: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self { alerts: true, credits: true, previews: true, backfills: true, invoices: false }
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            timezone: Zone::UTC,
            grace_period: Duration::from_secs(limits::GRACE_HOURS.saturating_mul(60 * 60)),
            backfill_days: limits::BACKFILL_DAYS,
            due_date_basis: DueDateBasis::default(),
            default_invoice_memo: None,
            auto_issuance: true,
            retry_days: retry_days(),
            least_charges: BTreeMap::new(),
            calculates_taxes: false,
            tells_issued_summaries: false,
            pending_change_hours: pending_change_hours(),
            features: Features::default(),
        }
    }
}

/// Configuration of an account, and the instants at which alerts were switched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountEntry {
    pub(crate) configuration: Configuration,
    /// Instants at which alerts were switched off and on again, in turns: a transition is judged as
    /// of its own instant, whenever that is.
    switches: Vec<Timestamp>,
    /// Recalculation of due dates that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recalculation: Option<DueDateRecalculation>,
    /// Number of messages that the account was told, and no customer of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) messages: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl AccountEntry {
    /// Takes a new configuration.
    pub(crate) fn configure(mut self, mut configuration: Configuration, now: Timestamp) -> Self {
        let grace = u64::try_from(configuration.grace_period.as_micros()).unwrap_or(u64::MAX);
        configuration.grace_period = Duration::from_micros(grace);
        if configuration.features.alerts != self.configuration.features.alerts {
            // In order, also where the clock of another process is ahead.
            self.switches.push(self.switches.last().map_or(now, |last| now.max(*last)));
            if self.switches.len() > limits::SWITCHES {
                self.switches.drain(..2);
            }
        }
        Self { configuration, ..self }
    }

    /// Tells whether alerts were available at an instant, once it was over.
    pub(crate) fn had_alerts(&self, at: Timestamp) -> bool {
        self.switches.iter().filter(|switch| **switch <= at).count().is_multiple_of(2)
    }

    /// Tells whether alerts were available when an instant came: what it brings comes before what
    /// somebody switches at it.
    pub(crate) fn had_alerts_until(&self, at: Timestamp) -> bool {
        self.switches.iter().filter(|switch| **switch < at).count().is_multiple_of(2)
    }
}

/// The longest grace period.
pub(crate) const LONGEST_GRACE: Duration =
    Duration::from_secs(limits::GRACE_DAYS.saturating_mul(24 * 60 * 60));

impl Configuration {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.grace_period > LONGEST_GRACE {
            let message = format!(
                "found {} seconds, expected at most {} days",
                self.grace_period.as_secs(),
                limits::GRACE_DAYS
            );
            return Err(Error::invalid("grace_period", message));
        }
        let (days, most) = (self.backfill_days, limits::BACKFILL_DAYS_CHOSEN);
        if !(1..=most).contains(&days) {
            let message = format!("found {days} days, expected 1 to {most}");
            return Err(Error::invalid("backfill_days", message));
        }
        let wrong = self.least_charges.iter().find(|(_, least)| **least <= Decimal::zero());
        if let Some((currency, least)) = wrong {
            let message =
                format!("found {least} {}, expected an amount above zero", currency.code());
            return Err(Error::invalid("least_charges", message));
        }
        let (days, most) = (&self.retry_days, limits::RETRIES);
        let last = limits::RETRY_DAYS;
        let is_ordered = days.is_sorted_by(|one, other| one < other);
        let is_within = days.iter().all(|day| (1..=last).contains(day));
        if days.len() > most || !is_ordered || !is_within {
            let message =
                format!("found {days:?}, expected at most {most} days of 1 to {last}, in order");
            return Err(Error::invalid("retry_days", message));
        }
        let (hours, most) = (self.pending_change_hours, limits::PENDING_CHANGE_HOURS_CHOSEN);
        if !(1..=most).contains(&hours) {
            let message = format!("found {hours} hours, expected 1 to {most}");
            return Err(Error::invalid("pending_change_hours", message));
        }
        Ok(())
    }
}

mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        u64::deserialize(d).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    fn switch(entry: AccountEntry, alerts: bool, now: Timestamp) -> AccountEntry {
        let features = Features { alerts, ..Features::default() };
        let configuration = Configuration { features, ..Default::default() };
        entry.configure(configuration, now)
    }

    #[test]
    fn what_was_available_is_known_at_every_instant() {
        let entry = switch(AccountEntry::default(), true, at(5));
        let entry = switch(switch(entry, false, at(10)), true, at(20));
        let found = [9, 10, 19, 20].map(|seconds| entry.had_alerts(at(seconds)));
        assert_eq!(found, [true, false, false, true]);
    }

    #[test]
    fn the_oldest_switches_are_forgotten_in_pairs() {
        let mut entry = AccountEntry::default();
        for n in 0..=i64::try_from(limits::SWITCHES).unwrap() {
            entry = switch(entry, n % 2 == 1, at(n));
            assert_eq!(entry.had_alerts(at(n)), n % 2 == 1);
        }
        assert!(entry.switches.len() <= limits::SWITCHES);
    }
}
