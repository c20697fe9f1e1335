//! Documents of alerts.

use serde::{Deserialize, Serialize};

use crate::{
    Timestamp,
    alert::{Alert, Fired, InAlert},
    rating::GroupValues,
};

/// An alert, and the mark that deletes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AlertEntry {
    pub(crate) alert: Alert,
    /// How many thresholds it was given over its life.
    pub(crate) given: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_at: Option<Timestamp>,
}

/// An alert of a plan version as a change left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AlertRevision {
    pub(crate) at: Timestamp,
    pub(crate) alert: Alert,
    /// The alert as it was before; `None` where the change created it.
    pub(crate) before: Option<Alert>,
}

/// Which thresholds of an alert have fired in a billing period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AlertState {
    pub(crate) fired: Fired,
}

/// Group of which thresholds of an alert have fired in a billing period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AlertGroupEntry {
    pub(crate) values: GroupValues,
    pub(crate) fired: Fired,
}

/// How many groups an alert watches in a billing period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AlertGroupCount {
    pub(crate) groups: u64,
}

/// Which thresholds of an alert on a balance are in alert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BalanceAlertState {
    pub(crate) in_alert: InAlert,
}
