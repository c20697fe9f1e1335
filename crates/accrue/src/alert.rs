//! Alerts: thresholds that are judged in the same commit that moves the value.

mod balance;
mod cause;
mod condition;
mod creation;
mod crossing;
mod exceeded;
mod fired;
mod gauge;
mod groups_exceeded;
mod in_alert;
mod licenses_reached;
mod overrides;
mod watched_groups;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(crate) use self::{
    balance::BalanceWatch, fired::Fired, gauge::Gauge, in_alert::InAlert,
    watched_groups::WatchedGroups,
};
pub use self::{
    balance::{BalanceAlertStatus, BalanceCrossed, NewBalanceAlert, NewBalanceCondition},
    cause::Cause,
    condition::{Condition, NewCondition},
    creation::{AlertUpdate, NewAlert},
    crossing::{Crossing, crossing},
    exceeded::Exceeded,
    groups_exceeded::{AlertDisabled, GroupExceeded, GroupsExceeded},
    licenses_reached::{LicenseReached, LicensesReached},
    overrides::ThresholdOverride,
};
use crate::{
    AlertId, CustomerId, Decimal, Error, PlanId, SubscriptionId, Timestamp, limits,
    plan::PlanVersion,
};

/// An alert (§2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Alert {
    /// Its id.
    pub id: AlertId,
    /// Condition that it watches.
    pub condition: Condition,
    /// Values at which it fires. `None` for the alerts on a balance whose only threshold is zero:
    /// `credit_balance_depleted` and `credit_balance_recovered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// Thresholds that some groups have in place of those, of an alert on the cost of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threshold_overrides: Vec<ThresholdOverride>,
    /// Subscription, plan version or customer that it watches.
    pub scope: Scope,
    /// True if it is enabled: a disabled alert does not fire.
    pub enabled: bool,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Status of each threshold of an alert on a balance: the current one where an operation
    /// returns the alert; in a message, the one right after it fired. Empty for every other alert.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balance_alert_status: Vec<BalanceAlertStatus>,
}

impl Alert {
    /// Returns its thresholds in the order in which they were given: none for an alert without
    /// thresholds.
    #[must_use]
    pub fn threshold_values(&self) -> &[Decimal] {
        self.thresholds.as_ref().map_or(&[], Thresholds::values)
    }

    /// Returns the thresholds of one of its groups, by the values of its keys (subscriptions 8.2): those of the
    /// override that names the most of them, the first of several, or its own where none is for the group.
    #[must_use]
    pub fn threshold_values_of(&self, group: &[String]) -> &[Decimal] {
        let keys = self.condition.grouping_keys();
        let own = overrides::for_group(&self.threshold_overrides, keys, group);
        own.map_or_else(|| self.threshold_values(), ThresholdOverride::threshold_values)
    }

    /// Returns all values at which some group of it fires, or it itself.
    pub(crate) fn all_threshold_values(&self) -> BTreeSet<&Decimal> {
        let overrides = self.threshold_overrides.iter();
        let overrides = overrides.flat_map(ThresholdOverride::threshold_values);
        self.threshold_values().iter().chain(overrides).collect()
    }

    /// Returns its thresholds while it is enabled.
    pub(crate) fn armed(&self) -> &[Decimal] {
        if self.enabled { self.threshold_values() } else { &[] }
    }

    /// Returns those of one of its groups.
    pub(crate) fn armed_for(&self, group: &[String]) -> &[Decimal] {
        if self.enabled { self.threshold_values_of(group) } else { &[] }
    }
}

/// Scope of an alert: the subscription, plan version or customer that it watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// One subscription.
    Subscription {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Its customer.
        customer_id: CustomerId,
    },
    /// Every subscription of one version of a plan.
    Plan {
        /// The plan.
        plan_id: PlanId,
        /// The version.
        plan_version: PlanVersion,
    },
    /// Every subscription of the account.
    Account,
    /// Credit balance of one customer.
    Customer {
        /// The customer.
        customer_id: CustomerId,
    },
}

/// Values at which an alert fires: 1 to 100 different ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Decimal>", into = "Vec<Decimal>")]
pub struct Thresholds(Vec<Decimal>);

impl TryFrom<Vec<Decimal>> for Thresholds {
    type Error = Error;

    fn try_from(values: Vec<Decimal>) -> Result<Self, Error> {
        Self::new(values)
    }
}

impl From<Thresholds> for Vec<Decimal> {
    fn from(thresholds: Thresholds) -> Self {
        thresholds.0
    }
}

impl Thresholds {
    /// Creates thresholds from values, in the order in which they are to be shown.
    ///
    /// ```
    /// use accrue::{Decimal, alert::Thresholds};
    ///
    /// let values = ["100000", "250000"].map(|text| Decimal::parse(text).unwrap());
    /// assert!(Thresholds::new(values).is_ok());
    /// assert!(Thresholds::new([]).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// If there are none, more than 100, one twice, or one that [`Decimal::parse`] does not accept.
    pub fn new(values: impl IntoIterator<Item = Decimal>) -> Result<Self, Error> {
        let values: Vec<_> = values.into_iter().collect();
        if values.is_empty() || values.len() > limits::THRESHOLDS {
            let message = format!("found {}, expected 1 to {}", values.len(), limits::THRESHOLDS);
            return Err(Error::invalid("thresholds", message));
        }
        if !values.iter().all(Decimal::could_come_in) {
            let message = format!("a number has more than {} digits", limits::DECIMAL_DIGITS);
            return Err(Error::invalid("thresholds", message));
        }
        let mut sorted: Vec<_> = values.iter().collect();
        sorted.sort();
        if let Some([twice, _]) = sorted.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(Error::invalid("thresholds", format!("found {twice} twice")));
        }
        Ok(Self(values))
    }

    /// Returns the values in the order in which they were given.
    #[must_use]
    pub fn values(&self) -> &[Decimal] {
        &self.0
    }
}
