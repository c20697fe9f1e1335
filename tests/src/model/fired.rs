use std::collections::BTreeSet;

use bigdecimal::BigDecimal;

/// A place in what a test has made.
type At = usize;

/// The thresholds of alerts that have fired, each once for a subscription in a billing period.
#[derive(Clone, Debug, Default)]
pub struct Fired(BTreeSet<(At, At, i64, BigDecimal)>);

impl Fired {
    /// Fires what a change of a value crosses and has not fired: of an alert, for a subscription, in the
    /// period that starts at an instant. Returns it, the least first.
    pub fn cross(
        &mut self,
        (alert, subscription, start): (At, At, i64),
        thresholds: &[BigDecimal],
        before: Option<&BigDecimal>,
        after: &BigDecimal,
    ) -> Vec<BigDecimal> {
        let is_crossed = |threshold: &&BigDecimal| {
            before.is_none_or(|before| before < *threshold) && after >= *threshold
        };
        let mut crossed: Vec<_> = thresholds.iter().filter(is_crossed).cloned().collect();
        crossed.sort();
        crossed.retain(|threshold| {
            self.0.insert((alert, subscription, start, threshold.normalized()))
        });
        crossed
    }
}
