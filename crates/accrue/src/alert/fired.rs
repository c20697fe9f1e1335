use serde::{Deserialize, Serialize};

use super::{
    Alert, Crossing,
    crossing::{crosses, crossing},
};
use crate::Decimal;

/// Thresholds of one alert that have fired in one billing period of one subscription.
///
/// By value, so that it survives disabling and edits: a threshold that fired does not fire again in
/// the period, whatever became of the alert in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Fired(Vec<Decimal>);

impl Fired {
    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Judges a change of the value that an alert watches, and keeps what fired.
    pub(crate) fn judge(
        &mut self,
        alert: &Alert,
        before: Option<&Decimal>,
        after: &Decimal,
    ) -> Option<Crossing> {
        if !alert.enabled {
            return None;
        }
        let thresholds = alert.threshold_values().iter();
        // Most changes cross none: what has fired is looked through for the others alone.
        let crossed = thresholds.filter(|threshold| crosses(before, after, threshold));
        let armed = crossed.filter(|threshold| !self.0.contains(threshold));
        let crossing = crossing(before, after, armed)?;
        self.0.extend(crossing.thresholds.iter().cloned());
        Some(crossing)
    }
}
