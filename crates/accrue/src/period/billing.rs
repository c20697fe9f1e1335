use std::collections::{BTreeMap, BTreeSet};

use crate::{
    AlertId, Decimal, Timeframe,
    alert::{Alert, Fired, Gauge},
    rating::{Moved, Running},
};

/// Billing period while alerts are judged on it.
#[derive(Clone, Debug)]
pub(crate) struct BillingPeriod {
    pub(crate) timeframe: Timeframe,
    /// True where alerts fire for it: not for one that is older than the one before the current.
    pub(crate) is_judged: bool,
    /// Thresholds that have fired, of each alert that may fire now.
    pub(crate) fired: BTreeMap<AlertId, Fired>,
    pub(crate) fired_moved: BTreeSet<AlertId>,
    /// Gauges of the alerts on cost.
    gauges: BTreeMap<AlertId, Gauge>,
}

impl BillingPeriod {
    pub(crate) fn new(timeframe: Timeframe, fired: BTreeMap<AlertId, Fired>) -> Self {
        let (gauges, fired_moved) = (BTreeMap::new(), BTreeSet::new());
        Self { timeframe, is_judged: true, fired, fired_moved, gauges }
    }

    /// Begins to watch its amounts.
    pub(super) fn watch<'a>(&mut self, running: &Running, alerts: impl Iterator<Item = &'a Alert>) {
        let gauges = alerts.map(|alert| (alert.id, Gauge::new(&alert.condition, running)));
        self.gauges = gauges.collect();
    }

    /// Follows lines that have moved.
    pub(super) fn follow(&mut self, moved: &[Moved]) {
        self.gauges.values_mut().for_each(|gauge| gauge.follow(moved));
    }

    /// Tells whether a change of the value that an alert watches fires it.
    pub(super) fn would_fire(
        &self,
        alert: &Alert,
        before: Option<&Decimal>,
        after: &Decimal,
    ) -> bool {
        let nothing = Fired::default();
        self.fired.get(&alert.id).unwrap_or(&nothing).would_fire(alert.armed(), before, after)
    }

    /// Returns the value that an alert on cost watches; none where there is no value yet.
    pub(super) fn cost(&self, alert: &Alert) -> Option<Decimal> {
        self.gauges.get(&alert.id)?.value().cloned()
    }
}
