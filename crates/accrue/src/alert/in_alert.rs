use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Decimal;

/// Thresholds of an alert on a balance that are in alert: they have fired, and the balance has not
/// come back since.
///
/// By value, so that it survives disabling and edits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct InAlert(BTreeSet<Decimal>);

impl InAlert {
    pub(super) fn contains(&self, threshold: &Decimal) -> bool {
        self.0.contains(threshold)
    }

    /// Keeps thresholds that fire.
    pub(super) fn extend(&mut self, thresholds: impl IntoIterator<Item = Decimal>) {
        self.0.extend(thresholds);
    }

    /// Arms the thresholds again that a balance is strictly above, and tells whether there are any.
    pub(super) fn arm_below(&mut self, balance: &Decimal) -> bool {
        let in_alert = self.0.split_off(balance);
        let armed = std::mem::replace(&mut self.0, in_alert);
        !armed.is_empty()
    }

    /// Arms every threshold again, and tells whether there are any.
    pub(super) fn arm_all(&mut self) -> bool {
        let are_there = !self.0.is_empty();
        self.0.clear();
        are_there
    }
}
