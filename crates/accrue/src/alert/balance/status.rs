use serde::{Deserialize, Serialize};

use crate::{
    Decimal,
    alert::{Alert, Condition, InAlert},
};

/// Where a threshold of an alert on a balance stands (wire 1.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceAlertStatus {
    /// The threshold; zero of an alert without thresholds.
    pub threshold_value: Decimal,
    /// Whether it is in alert: it has fired, and the balance has not come back since. So a
    /// threshold that the balance passed while the alert was disabled is not. An alert that has
    /// recovered is in alert until the balance is zero or below again.
    pub in_alert: bool,
}

impl Alert {
    /// Takes its status, of an alert on a balance: so it is as an operation answers it.
    pub(crate) fn show_status(&mut self, in_alert: &InAlert) {
        self.balance_alert_status = match &self.condition {
            Condition::CreditBalanceDropped { .. } => {
                statuses(self.threshold_values().iter().cloned(), in_alert)
            }
            Condition::CreditBalanceDepleted { .. } | Condition::CreditBalanceRecovered { .. } => {
                statuses([Decimal::zero()], in_alert)
            }
            _ => Vec::new(),
        };
    }
}

fn statuses(
    values: impl IntoIterator<Item = Decimal>,
    in_alert: &InAlert,
) -> Vec<BalanceAlertStatus> {
    let status = |threshold_value| BalanceAlertStatus {
        in_alert: in_alert.contains(&threshold_value),
        threshold_value,
    };
    values.into_iter().map(status).collect()
}
