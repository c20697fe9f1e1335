use serde::{Deserialize, Serialize};

use crate::{
    Decimal,
    alert::{Alert, Condition, InAlert},
};

/// Status of a threshold of an alert on a balance (wire 1.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceAlertStatus {
    /// The threshold; zero for an alert without thresholds.
    pub threshold_value: Decimal,
    /// True if the threshold is in alert: it has fired, and the balance has not come back since. So
    /// a threshold that the balance passed while the alert was disabled is not. A recovery alert
    /// that has fired is in alert until the balance is zero or below again.
    pub in_alert: bool,
}

impl Alert {
    /// Sets the status of an alert on a balance, as operations return it.
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
