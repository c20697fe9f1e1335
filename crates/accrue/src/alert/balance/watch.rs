#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, ops::Bound};

use crate::{
    AlertId, CustomerId, Decimal,
    alert::{Alert, BalanceCrossed, Cause, Condition, InAlert},
};

/// Alerts on one ledger of a customer, the disabled ones too, and those of their thresholds that
/// are in alert.
///
/// To ensure correctness, everything that moves the balance is judged, also while no alert may fire:
/// it can arm a threshold again.
#[derive(Clone, Debug, Default)]
pub(crate) struct BalanceWatch {
    /// Guards in the order in which they fire.
    guards: Vec<Guard>,
}

/// One alert on a balance.
#[derive(Clone, Debug)]
struct Guard {
    rule: Rule,
    alert: Alert,
    /// Levels that it compares the balance with: its thresholds, or zero.
    levels: BTreeSet<Decimal>,
    in_alert: InAlert,
    has_moved: bool,
}

/// Rule by which an alert on a balance fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Dropped,
    Depleted,
    Recovered,
}

impl BalanceWatch {
    /// Watches with some alerts, of which some thresholds are in alert.
    pub(crate) fn new(alerts: impl IntoIterator<Item = (Alert, InAlert)>) -> Self {
        let guards = alerts.into_iter().filter_map(|(alert, in_alert)| Guard::new(alert, in_alert));
        let mut guards: Vec<_> = guards.collect();
        guards.sort_by_key(|guard| guard.rule);
        Self { guards }
    }

    /// Judges a change of the balance, keeps what is in alert now, and returns the alerts that fire:
    /// none where the account had no alerts at that instant (`fires` is false).
    ///
    /// `before` is none where the change made the ledger.
    pub(crate) fn judge(
        &mut self,
        customer_id: CustomerId,
        before: Option<&Decimal>,
        after: &Decimal,
        cause: &Cause,
        fires: bool,
    ) -> Vec<BalanceCrossed> {
        let mut crossed = Vec::new();
        for guard in &mut self.guards {
            guard.arm(after);
            if fires && let Some(levels) = guard.fire(before, after) {
                crossed.push(guard.crossed(customer_id, before, after, levels, cause.clone()));
            }
        }
        crossed
    }

    /// Judges an alert that was created, enabled or given other thresholds on the balance that there
    /// is: the thresholds fire that the balance has reached and that are not in alert.
    pub(crate) fn judge_at_once(
        &mut self,
        customer_id: CustomerId,
        alert_id: AlertId,
        balance: &Decimal,
    ) -> Option<BalanceCrossed> {
        let guard = self.guards.iter_mut().find(|guard| guard.alert.id == alert_id)?;
        let levels = guard.fire(None, balance)?;
        let cause = Cause::Configuration { alert_id };
        Some(guard.crossed(customer_id, Some(balance), balance, levels, cause))
    }

    /// Tells whether a balance that falls comes to no level that an alert compares it with.
    pub(crate) fn is_quiet_between(
        &self,
        before: Option<&Decimal>,
        after: Option<&Decimal>,
    ) -> bool {
        let Some((before, after)) = before.zip(after) else { return before == after };
        let is_quiet = |guard: &Guard| guard.levels.range(after..=before).next().is_none();
        before == after || (after < before && self.guards.iter().all(is_quiet))
    }

    /// Lists the alerts of which something came in alert or was armed again.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (AlertId, &InAlert)> {
        let moved = self.guards.iter().filter(|guard| guard.has_moved);
        moved.map(|guard| (guard.alert.id, &guard.in_alert))
    }
}

impl Guard {
    /// Guards a balance with an alert, if that is what it watches.
    fn new(alert: Alert, in_alert: InAlert) -> Option<Self> {
        let rule = match alert.condition {
            Condition::CreditBalanceDropped { .. } => Rule::Dropped,
            Condition::CreditBalanceDepleted { .. } => Rule::Depleted,
            Condition::CreditBalanceRecovered { .. } => Rule::Recovered,
            _ => return None,
        };
        let levels = match rule {
            Rule::Dropped => alert.threshold_values().iter().cloned().collect(),
            Rule::Depleted | Rule::Recovered => [Decimal::zero()].into(),
        };
        Some(Self { rule, alert, levels, in_alert, has_moved: false })
    }

    /// Arms the levels that a balance has come back from.
    fn arm(&mut self, balance: &Decimal) {
        self.has_moved |= match self.rule {
            Rule::Dropped | Rule::Depleted => self.in_alert.arm_below(balance),
            Rule::Recovered => *balance <= Decimal::zero() && self.in_alert.arm_all(),
        };
    }

    /// Returns the levels that a change of the balance crosses and that are not in alert, in the
    /// order in which it crosses them, and keeps that they are.
    ///
    /// From no balance on, every level is crossed on the way down, and none on the way up.
    fn fire(&mut self, before: Option<&Decimal>, after: &Decimal) -> Option<Vec<Decimal>> {
        if !self.alert.enabled {
            return None;
        }
        // Empty where the balance moves the other way.
        let range = match (self.rule, before) {
            (Rule::Recovered, None) => return None,
            (Rule::Recovered, Some(before)) => {
                (Bound::Included(before), Bound::Excluded(before.max(after)))
            }
            (_, Some(before)) => (Bound::Included(after.min(before)), Bound::Excluded(before)),
            (_, None) => (Bound::Included(after), Bound::Unbounded),
        };
        let levels = self.levels.range::<Decimal, _>(range).rev();
        let levels = levels.filter(|level| !self.in_alert.contains(level));
        let levels: Vec<_> = levels.cloned().collect();
        if levels.is_empty() {
            return None;
        }
        self.in_alert.extend(levels.iter().cloned());
        self.has_moved = true;
        Some(levels)
    }

    fn crossed(
        &self,
        customer_id: CustomerId,
        before: Option<&Decimal>,
        after: &Decimal,
        levels: Vec<Decimal>,
        cause: Cause,
    ) -> BalanceCrossed {
        let thresholds = if self.rule == Rule::Dropped { levels } else { Vec::new() };
        let mut alert = self.alert.clone();
        alert.show_status(&self.in_alert);
        BalanceCrossed {
            customer_id,
            alert,
            value_before: before.cloned(),
            value_after: after.clone(),
            threshold: thresholds.last().cloned(),
            thresholds,
            cause,
        }
    }
}
