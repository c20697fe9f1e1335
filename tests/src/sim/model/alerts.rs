use std::collections::{BTreeMap, BTreeSet};

use bigdecimal::BigDecimal;

use super::{Crossing, Fall, Gauge, Place, Scope, Subscription, Tenant};
use crate::{
    corrected::State,
    model::{At, Instant},
};

/// What a commit must tell, and what it may.
#[derive(Debug, Default)]
pub(in crate::sim) struct Expected {
    pub(super) must: BTreeSet<Crossing>,
    /// Whether it tells nothing else.
    pub(super) is_all: bool,
    /// What it tells of balances, and nothing else of them.
    pub(in crate::sim) falls: Vec<Fall>,
}

impl Expected {
    /// What commits with several effects must tell.
    pub(in crate::sim) fn all(all: Vec<Self>) -> Self {
        let is_all = matches!(all.as_slice(), [Self { is_all: true, .. }]);
        let mut expected = Self { is_all, ..Self::default() };
        for of in all {
            expected.must.extend(of.must);
            expected.falls.extend(of.falls);
        }
        expected
    }
}

impl Tenant {
    /// The alerts that are on a subscription in the billing period that starts when, by their places. Those of the
    /// plan are on those that are on its first version.
    fn watching(&self, (subscription, from, _): Place, now: Instant) -> impl Iterator<Item = At> {
        let all = self.alerts.iter().enumerate();
        let of = &self.subscriptions[subscription];
        let last = of.period(from).map_or(from, |(_, until)| until - 1);
        let is_first = of.offer_at(now.clamp(from, last)) == 0;
        let on = all.filter(move |(_, alert)| match alert.scope {
            Scope::Subscription(of, _) => of == subscription,
            Scope::Plan(_) => is_first,
            Scope::Balance(..) => false,
        });
        on.filter(|(_, alert)| alert.enabled && !alert.deleted).map(|(index, _)| index)
    }

    fn crossing(&self, alert: At, threshold: i64, (subscription, from, _): Place) -> Crossing {
        let of = self.subscriptions[subscription].id.clone();
        (self.alerts[alert].id.clone(), of, threshold, from)
    }

    /// What fires where a figure moves from one value to another.
    pub(super) fn crossed(
        &self,
        place: Place,
        before: Option<&BigDecimal>,
        after: Option<&BigDecimal>,
        now: Instant,
    ) -> Vec<(At, Crossing)> {
        let Some(after) = after else { return Vec::new() };
        let mut crossed = Vec::new();
        for alert in self.watching(place, now) {
            let of = &self.alerts[alert];
            let is_on = match of.scope {
                Scope::Subscription(_, gauge) | Scope::Plan(gauge) => gauge == place.2,
                Scope::Balance(..) => false,
            };
            for threshold in of.thresholds.iter().filter(|_| is_on) {
                let at = BigDecimal::from(*threshold);
                let crossing = self.crossing(alert, *threshold, place);
                let is_crossed = before.is_none_or(|before| *before < at) && at <= *after;
                if is_crossed && !self.fired.contains(&crossing) {
                    crossed.push((alert, crossing));
                }
            }
        }
        crossed
    }

    /// What fires where figures move.
    pub(super) fn moved(
        &self,
        before: &BTreeMap<Place, BigDecimal>,
        after: &BTreeMap<Place, BigDecimal>,
        now: Instant,
    ) -> Vec<(At, Crossing, Place)> {
        let crossed = after.iter().flat_map(|(place, after)| {
            let crossed = self.crossed(*place, before.get(place), Some(after), now);
            crossed.into_iter().map(|(alert, crossing)| (alert, crossing, *place))
        });
        crossed.collect()
    }

    /// What fires at once of an alert that was created, enabled or changed.
    pub(super) fn configured(&self, alert: At, now: Instant) -> BTreeSet<Crossing> {
        let Scope::Subscription(of, gauge) = self.alerts[alert].scope else {
            return BTreeSet::new();
        };
        self.over(alert, of, gauge, now)
    }

    /// What fires of an alert of the plan that was created, enabled or changed, each when its
    /// subscription is next looked at.
    pub(super) fn owe(&mut self, alert: At, now: Instant) {
        let Scope::Plan(gauge) = self.alerts[alert].scope else { return };
        for of in 0..self.subscriptions.len() {
            let Subscription { customer, changed_at, .. } = self.subscriptions[of];
            // A request that read a later clock may have put it on another plan before.
            if now < changed_at {
                continue;
            }
            // Where something else is due before, figures are not yet what they will be then.
            if !self.has_corrections_due(customer, now) {
                self.owed.extend(self.over(alert, of, gauge, now));
            }
        }
    }

    /// Which thresholds of an alert a subscription is over, and which have not fired.
    fn over(&self, alert: At, of: At, gauge: Gauge, now: Instant) -> BTreeSet<Crossing> {
        let subscription = &self.subscriptions[of];
        let figures = self.figures(subscription.customer, now);
        let Some((from, _)) = subscription.period(now) else { return BTreeSet::new() };
        let place = (of, from, gauge);
        let crossed = self.crossed(place, None, figures.get(&place), now);
        crossed.into_iter().filter(|(of, _)| *of == alert).map(|(_, crossing)| crossing).collect()
    }

    fn has_corrections_due(&self, customer: At, now: Instant) -> bool {
        self.backfills.iter().any(|of| {
            let Some(piece) = of.pieces[customer] else { return false };
            let piece = &self.history.backfills[piece];
            match piece.state {
                State::Taking => piece.closes_at <= now,
                State::Reflected => of.reverts_at.is_some(),
                State::Reverted => false,
            }
        })
    }

    pub(super) fn remember(&mut self, figures: BTreeMap<Place, BigDecimal>) {
        for (place, figure) in figures {
            let peak = self.peaks.entry(place).or_insert_with(|| figure.clone());
            if *peak < figure {
                *peak = figure;
            }
        }
    }

    /// Compares what a commit told with what it should have.
    pub(in crate::sim) fn check_told(
        &mut self,
        expected: &Expected,
        told: &[Crossing],
        now: Instant,
    ) -> Result<(), String> {
        // Fees have fallen due meanwhile.
        let own = self.subscriptions.iter();
        let own = own.filter(|of| told.iter().any(|(_, told, ..)| *told == of.id));
        for customer in own.map(|of| of.customer).collect::<BTreeSet<_>>() {
            self.remember(self.figures(customer, now));
        }
        for crossing in told {
            if self.fired.contains(crossing) {
                return Err(format!("an alert fires twice: {crossing:?}"));
            }
            if !self.can_fire(crossing) {
                return Err(format!("an alert fires without a reason: {crossing:?}"));
            }
            if expected.is_all && !expected.must.contains(crossing) {
                return Err(format!("an alert fires that is not crossed: {crossing:?}"));
            }
        }
        let found: BTreeSet<_> = told.iter().cloned().collect();
        if found.len() < told.len() {
            return Err(format!("an alert fires twice in one commit: {told:?}"));
        }
        if let Some(missing) = expected.must.difference(&found).next() {
            return Err(format!("an alert does not fire: {missing:?}, only {found:?}"));
        }
        self.fired.extend(found);
        Ok(())
    }

    fn can_fire(&self, (alert, subscription, threshold, from): &Crossing) -> bool {
        let alert = self.alerts.iter().find(|of| of.id == *alert);
        let subscription = self.subscriptions.iter().position(|of| of.id == *subscription);
        let (Some(alert), Some(subscription)) = (alert, subscription) else { return false };
        let (Scope::Subscription(_, gauge) | Scope::Plan(gauge)) = alert.scope else {
            return false;
        };
        let peak = self.peaks.get(&(subscription, *from, gauge));
        peak.is_some_and(|peak| peak >= &BigDecimal::from(*threshold))
    }

    /// Once nothing is due, whatever is over its threshold has fired.
    pub(in crate::sim) fn check_fired(&self, now: Instant) -> Result<(), String> {
        if let Some(missing) = self.owed.difference(&self.fired).next() {
            return Err(format!("an alert of the plan is owed: {missing:?}"));
        }
        for index in 0..self.subscriptions.len() {
            let of = &self.subscriptions[index];
            let Some((from, _)) = of.period(now) else { continue };
            for (place, figure) in self.figures(of.customer, now) {
                if place.0 != index || place.1 != from {
                    continue;
                }
                if let Some((at, missing)) = self.crossed(place, None, Some(&figure), now).first() {
                    let (alert, of) = (&self.alerts[*at], &self.subscriptions[index]);
                    return Err(format!(
                        "an alert has not fired at {figure}: {missing:?}, {alert:?}, {of:?}, now {now}"
                    ));
                }
            }
        }
        Ok(())
    }
}
