use serde::Serialize;

use super::{Alert, Condition, NewCondition, Scope, Thresholds};
use crate::{
    AlertId, Currency, Error, MetricId, PricingUnit, Timestamp, limits,
    price::{PriceFilter, check_filters},
};

/// An alert to create on a subscription or a plan (wire 1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewAlert {
    /// Condition that it watches.
    pub condition: NewCondition,
    /// Values at which it fires.
    pub thresholds: Thresholds,
}

impl NewAlert {
    /// Creates an alert on the usage of a metric.
    #[must_use]
    pub const fn usage_exceeded(metric_id: MetricId, thresholds: Thresholds) -> Self {
        Self { condition: NewCondition::UsageExceeded { metric_id }, thresholds }
    }

    /// Creates an alert on cost after adjustments, in the currency that the plan is invoiced in.
    #[must_use]
    pub const fn cost_exceeded(thresholds: Thresholds) -> Self {
        Self { condition: NewCondition::CostExceeded { currency: None }, thresholds }
    }

    /// Creates an alert on cost before adjustments, of all prices that count in a currency or
    /// pricing unit.
    #[must_use]
    pub const fn spend_exceeded(currency: PricingUnit, thresholds: Thresholds) -> Self {
        let price_filters = Vec::new();
        Self { condition: NewCondition::SpendExceeded { currency, price_filters }, thresholds }
    }

    /// Checks it by itself, whatever is stored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.condition {
            NewCondition::SpendExceeded { price_filters, .. } => {
                check_filters("price_filters", price_filters)
            }
            NewCondition::UsageExceeded { .. } | NewCondition::CostExceeded { .. } => Ok(()),
        }
    }

    /// Decides on a new alert, held against those that its subscription or plan version has.
    pub(crate) fn decide(
        self,
        id: AlertId,
        scope: Scope,
        invoiced_in: Currency,
        siblings: &[Alert],
        now: Timestamp,
    ) -> Result<Alert, Error> {
        let condition = self.condition.decide(invoiced_in);
        check_siblings(&condition, siblings.iter())?;
        Ok(Alert {
            id,
            condition,
            thresholds: Some(self.thresholds),
            scope,
            enabled: true,
            created_at: now,
            balance_alert_status: Vec::new(),
        })
    }
}

/// Update of an alert (wire 1.5). The type of an alert never changes.
///
/// ```
/// use accrue::{Decimal, alert::{AlertUpdate, Thresholds}};
///
/// let update = AlertUpdate::from(Thresholds::new([Decimal::from(100)])?);
/// assert_eq!(update.price_filters, None);
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertUpdate {
    /// Values at which it fires from now on.
    pub thresholds: Thresholds,
    /// Filters of the prices that count from now on, for an alert on spend; unchanged where none
    /// are given.
    pub price_filters: Option<Vec<PriceFilter>>,
}

impl From<Thresholds> for AlertUpdate {
    fn from(thresholds: Thresholds) -> Self {
        Self { thresholds, price_filters: None }
    }
}

impl AlertUpdate {
    /// Checks it by itself, whatever is stored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_filters("price_filters", self.price_filters.as_deref().unwrap_or_default())
    }

    /// Decides on the alert, held against the others of its subscription, plan version or customer.
    pub(crate) fn decide(self, mut alert: Alert, siblings: &[Alert]) -> Result<Alert, Error> {
        if alert.thresholds.is_none() {
            let detail = format!("an alert {} has no thresholds", alert.condition.alert_type());
            return Err(Error::constraint(detail));
        }
        alert.thresholds = Some(self.thresholds);
        if let Some(new) = self.price_filters {
            let Condition::SpendExceeded { price_filters, .. } = &mut alert.condition else {
                let detail =
                    format!("an alert {} has no price filters", alert.condition.alert_type());
                return Err(Error::constraint(detail));
            };
            *price_filters = new;
            let others = siblings.iter().filter(|other| other.id != alert.id);
            check_siblings(&alert.condition, others)?;
        }
        Ok(alert)
    }
}

/// Refuses an alert that watches the same as another one there, or is one too many.
pub(super) fn check_siblings<'a>(
    condition: &Condition,
    others: impl Iterator<Item = &'a Alert>,
) -> Result<(), Error> {
    let mut spend = 0_usize;
    for other in others {
        if condition.excludes(&other.condition) {
            let kind = condition.alert_type();
            let detail = format!("alert {} watches the same there already: {kind}", other.id);
            return Err(Error::constraint(detail));
        }
        if matches!(other.condition, Condition::SpendExceeded { .. }) {
            spend = spend.saturating_add(1);
        }
    }
    if matches!(condition, Condition::SpendExceeded { .. }) && spend >= limits::SPEND_ALERTS {
        let detail = format!("there are {spend} alerts on spend there already");
        return Err(Error::constraint(detail));
    }
    Ok(())
}
