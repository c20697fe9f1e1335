//! Alerts: thresholds that are judged in the same commit that moves the value.

mod crossing;
mod fired;

use serde::{Deserialize, Serialize};

pub use self::crossing::{Crossing, crossing};
pub(crate) use self::fired::Fired;
use crate::{
    AlertId, CustomerId, Decimal, Error, MetricId, PlanId, SubscriptionId, Timestamp, limits,
    plan::PlanVersion,
};

/// An alert (§2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Alert {
    /// Its id.
    pub id: AlertId,
    /// What it watches.
    pub condition: Condition,
    /// At which values it fires.
    pub thresholds: Thresholds,
    /// Whom it watches.
    pub scope: Scope,
    /// Whether it fires at all.
    pub enabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// What an alert watches (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// Usage of one metric in the billing period, at or above a threshold: `usage_exceeded`.
    UsageExceeded {
        /// The metric.
        metric_id: MetricId,
    },
}

impl Condition {
    /// Returns the type of alert on the wire.
    #[must_use]
    pub const fn alert_type(&self) -> &'static str {
        match self {
            Self::UsageExceeded { .. } => "usage_exceeded",
        }
    }

    pub(crate) const fn metric_id(&self) -> MetricId {
        match self {
            Self::UsageExceeded { metric_id } => *metric_id,
        }
    }
}

/// Whom an alert watches.
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
}

/// The values at which an alert fires: 1 to 100 different ones.
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
    /// Takes the values, in the order in which they are to be shown.
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
    /// If there are none, more than 100, one twice, or one with more digits than come in.
    pub fn new(values: impl IntoIterator<Item = Decimal>) -> Result<Self, Error> {
        let values: Vec<_> = values.into_iter().collect();
        if values.is_empty() || values.len() > limits::THRESHOLDS {
            let message = format!("found {}, expected 1 to {}", values.len(), limits::THRESHOLDS);
            return Err(Error::invalid("/thresholds", message));
        }
        if !values.iter().all(Decimal::could_come_in) {
            let message = format!("a number has more than {} digits", limits::DECIMAL_DIGITS);
            return Err(Error::invalid("/thresholds", message));
        }
        let mut sorted: Vec<_> = values.iter().collect();
        sorted.sort();
        if let Some([twice, _]) = sorted.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(Error::invalid("/thresholds", format!("found {twice} twice")));
        }
        Ok(Self(values))
    }

    /// Returns the values in the order in which they were given.
    #[must_use]
    pub fn values(&self) -> &[Decimal] {
        &self.0
    }
}

/// An alert to create on a subscription or a plan (wire 1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewAlert {
    /// What it watches.
    pub condition: Condition,
    /// At which values it fires.
    pub thresholds: Thresholds,
}

impl NewAlert {
    /// An alert on the usage of a metric.
    #[must_use]
    pub const fn usage_exceeded(metric_id: MetricId, thresholds: Thresholds) -> Self {
        Self { condition: Condition::UsageExceeded { metric_id }, thresholds }
    }

    /// Decides on a new alert, held against those that its subscription or plan version has.
    pub(crate) fn decide(
        self,
        id: AlertId,
        scope: Scope,
        siblings: &[Alert],
        now: Timestamp,
    ) -> Result<Alert, Error> {
        if let Some(other) = siblings.iter().find(|other| other.condition == self.condition) {
            let detail = format!("alert {} watches the same usage there already", other.id);
            return Err(Error::constraint(detail));
        }
        Ok(Alert {
            id,
            condition: self.condition,
            thresholds: self.thresholds,
            scope,
            enabled: true,
            created_at: now,
        })
    }
}
