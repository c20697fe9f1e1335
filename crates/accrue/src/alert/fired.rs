use serde::{Deserialize, Serialize};

use super::{
    Crossing,
    crossing::{crosses, crossing},
};
use crate::Decimal;

/// Thresholds of one alert that have fired in one billing period of one subscription, or of one group of it.
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

    /// Judges a change of the value that an alert watches by thresholds, and keeps what fired.
    pub(crate) fn judge(
        &mut self,
        thresholds: &[Decimal],
        before: Option<&Decimal>,
        after: &Decimal,
    ) -> Option<Crossing> {
        let crossing = crossing(before, after, self.crossed(thresholds, before, after))?;
        self.0.extend(crossing.thresholds.iter().cloned());
        Some(crossing)
    }

    /// Tells whether a change of the value that an alert watches fires it.
    pub(crate) fn would_fire(
        &self,
        thresholds: &[Decimal],
        before: Option<&Decimal>,
        after: &Decimal,
    ) -> bool {
        self.crossed(thresholds, before, after).next().is_some()
    }

    /// Returns the thresholds that a value crosses and that have not fired.
    fn crossed<'a>(
        &'a self,
        thresholds: &'a [Decimal],
        before: Option<&'a Decimal>,
        after: &'a Decimal,
    ) -> impl Iterator<Item = &'a Decimal> {
        // Most changes cross none: what has fired is looked through for the others alone.
        let crossed = thresholds.iter().filter(move |threshold| crosses(before, after, threshold));
        crossed.filter(|threshold| !self.0.contains(threshold))
    }
}
