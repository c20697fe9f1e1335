use serde::Serialize;

use crate::{
    AlertId, CustomerId, Error, PricingUnit, Timestamp,
    alert::{Alert, Condition, Scope, Thresholds, creation::check_siblings},
};

/// An alert to create on a credit balance of a customer (wire 1.3).
///
/// ```
/// use accrue::{Decimal, PricingUnit, alert::{NewBalanceAlert, Thresholds}};
///
/// let credits = PricingUnit::parse("credits")?;
/// let low = Thresholds::new([Decimal::from(100), Decimal::from(20)])?;
/// let warning = NewBalanceAlert::credit_balance_dropped(credits.clone(), low);
/// let stop = NewBalanceAlert::credit_balance_depleted(credits);
/// assert_ne!(warning, stop);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBalanceAlert {
    /// The currency or pricing unit of the ledger whose balance it watches, whether or not the
    /// customer has one yet.
    pub currency: PricingUnit,
    /// Condition of the balance that it watches.
    pub condition: NewBalanceCondition,
}

/// Condition of a balance that a new alert watches (wire 1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NewBalanceCondition {
    /// Balance at zero or below: `credit_balance_depleted`.
    Depleted,
    /// Balance at or below a threshold: `credit_balance_dropped`.
    Dropped {
        /// Values at which it fires.
        thresholds: Thresholds,
    },
    /// Balance above zero again: `credit_balance_recovered`.
    Recovered,
}

impl NewBalanceAlert {
    /// Creates an alert on a balance that is zero or below.
    #[must_use]
    pub const fn credit_balance_depleted(currency: PricingUnit) -> Self {
        Self { currency, condition: NewBalanceCondition::Depleted }
    }

    /// Creates an alert on a balance that is at or below a threshold.
    #[must_use]
    pub const fn credit_balance_dropped(currency: PricingUnit, thresholds: Thresholds) -> Self {
        Self { currency, condition: NewBalanceCondition::Dropped { thresholds } }
    }

    /// Creates an alert on a balance that is above zero again.
    #[must_use]
    pub const fn credit_balance_recovered(currency: PricingUnit) -> Self {
        Self { currency, condition: NewBalanceCondition::Recovered }
    }

    /// Decides on a new alert, held against those that there are on the ledger.
    pub(crate) fn decide(
        self,
        id: AlertId,
        customer_id: CustomerId,
        siblings: &[Alert],
        now: Timestamp,
    ) -> Result<Alert, Error> {
        let currency = self.currency;
        let (condition, thresholds) = match self.condition {
            NewBalanceCondition::Depleted => (Condition::CreditBalanceDepleted { currency }, None),
            NewBalanceCondition::Dropped { thresholds } => {
                (Condition::CreditBalanceDropped { currency }, Some(thresholds))
            }
            NewBalanceCondition::Recovered => {
                (Condition::CreditBalanceRecovered { currency }, None)
            }
        };
        check_siblings(&condition, siblings.iter())?;
        Ok(Alert {
            threshold_overrides: Vec::new(),
            id,
            condition,
            thresholds,
            scope: Scope::Customer { customer_id },
            enabled: true,
            created_at: now,
            balance_alert_status: Vec::new(),
        })
    }
}
