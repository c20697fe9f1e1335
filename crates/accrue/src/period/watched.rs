//! Groups that alerts watch in billing periods: judged event by event, or all at once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Effects, Periods};
use crate::{
    AlertId, Decimal, Timestamp,
    alert::{Alert, AlertDisabled, Cause, GroupExceeded, GroupsExceeded},
    limits,
    meter::{InGroup, MeterId},
    rating::{GroupValues, RateCard, WatchedPrices},
    usage::Reading,
};

/// What alerts watch by groups, with the meters that are needed for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    by_alert: BTreeMap<AlertId, WatchedPrices>,
    parts: BTreeSet<MeterId>,
}

/// Group of an alert that an event is in, in a billing period that the event can move, with what it cost before.
pub(super) struct GroupBefore {
    index: usize,
    alert: AlertId,
    group: GroupValues,
    cost: Option<Decimal>,
}

impl Watches {
    /// Returns what some alerts watch by groups, of the prices of a subscription.
    pub(crate) fn of<'a>(alerts: impl IntoIterator<Item = &'a Alert>, card: &RateCard) -> Self {
        let watched = alerts.into_iter().filter(|alert| alert.enabled);
        let watched = watched.filter_map(|alert| Some((alert.id, alert.condition.watched(card)?)));
        Self::new(watched.collect())
    }

    fn new(by_alert: BTreeMap<AlertId, WatchedPrices>) -> Self {
        let parts = by_alert.values().flat_map(WatchedPrices::parts).collect();
        Self { by_alert, parts }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_alert.is_empty()
    }

    /// Returns the meters, or the parts of them, that are needed.
    pub(crate) fn parts(&self) -> Vec<MeterId> {
        self.parts.iter().copied().collect()
    }

    pub(super) fn has_part(&self, meter: MeterId) -> bool {
        self.parts.contains(&meter)
    }

    /// Returns the meters as figures have them.
    pub(crate) fn ids(&self) -> BTreeSet<MeterId> {
        self.by_alert.values().flat_map(WatchedPrices::ids).collect()
    }

    /// Tells whether a meter is among them, as figures have it.
    pub(crate) fn has(&self, meter: MeterId) -> bool {
        self.by_alert.values().any(|of| of.has_meter(meter))
    }

    /// Tells whether all groups of a meter are to be known.
    pub(crate) fn need_all(&self) -> bool {
        self.by_alert.values().any(WatchedPrices::needs_all)
    }

    pub(crate) fn alerts(&self) -> impl Iterator<Item = AlertId> {
        self.by_alert.keys().copied()
    }

    /// Returns the groups, of each alert, that something is added to.
    pub(crate) fn groups_of<'p>(
        &self,
        places: impl IntoIterator<Item = InGroup<'p>>,
    ) -> BTreeSet<(AlertId, GroupValues)> {
        let places = places.into_iter();
        let groups = places.flat_map(|place| {
            let all = self.by_alert.iter();
            all.filter_map(move |(alert, of)| Some((*alert, of.group_of(place)?)))
        });
        groups.collect()
    }

    fn of_alert(&self, alert: AlertId) -> Option<&WatchedPrices> {
        self.by_alert.get(&alert)
    }

    fn without(&self, alert: AlertId) -> Self {
        let mut by_alert = self.by_alert.clone();
        by_alert.remove(&alert);
        Self::new(by_alert)
    }
}

impl Periods {
    /// Returns the groups that an event is in, as they are before it.
    pub(super) fn groups_behind(&self, at: Timestamp, readings: &[Reading]) -> Vec<GroupBefore> {
        if self.watched_groups.is_empty() {
            return Vec::new();
        }
        let places = readings.iter().filter(|of| self.counts(of)).map(Reading::place);
        let groups = self.watched_groups.groups_of(places);
        let moving = self.billing.iter().enumerate().filter(|(_, of)| at < of.timeframe.end());
        let mut all = Vec::new();
        for ((index, _), alert) in moving.flat_map(|of| self.on_groups().map(move |id| (of, id))) {
            for (_, group) in groups.iter().filter(|(of, _)| *of == alert) {
                let (group, cost) = (group.clone(), self.group_cost(index, alert, group));
                all.push(GroupBefore { index, alert, group, cost });
            }
        }
        all
    }

    /// Returns the alerts that watch groups, in the order in which they are judged, and then those that may not fire.
    fn on_groups(&self) -> impl Iterator<Item = AlertId> {
        let judged = self.alerts.iter().filter(|of| of.condition.is_on_groups()).map(|of| of.id);
        let is_judged = |id: &AlertId| self.alerts.iter().any(|of| of.id == *id);
        let others = self.watched_groups.alerts().filter(move |id| !is_judged(id));
        judged.chain(others)
    }

    /// Judges the groups that an event is in: an alert that would have to watch too many is disabled.
    pub(super) fn judge_groups(
        &mut self,
        at: Timestamp,
        groups: Vec<GroupBefore>,
        cause: &dyn Fn() -> Cause,
        effects: &mut Effects,
    ) {
        for GroupBefore { index, alert, group, cost } in groups {
            let holds = self.billing.get(index).is_some_and(|of| of.timeframe.contains(at));
            if holds && cost.is_none() && self.has_group(index, alert, &group) {
                self.begin_group(index, alert, effects);
            }
            self.bound_finer(index, alert, effects);
            let entry = self.judge_group(index, alert, &group, cost.as_ref());
            self.tell_of_groups(index, alert, entry.into_iter().collect(), cause, effects);
        }
    }

    /// Judges all groups on what they cost now, where they cost something else before, or at once.
    pub(super) fn judge_all_groups(
        &mut self,
        before: Option<&Self>,
        cause: &Cause,
        effects: &mut Effects,
    ) {
        let alerts: Vec<_> = self.on_groups().collect();
        for (index, alert) in
            (0..self.billing.len()).flat_map(|at| alerts.iter().map(move |of| (at, *of)))
        {
            let Some(groups) = self.groups_in(index, alert) else { continue };
            let count = u64::try_from(groups.len()).unwrap_or(u64::MAX);
            self.count_groups(index, alert, count, effects);
            self.bound_finer(index, alert, effects);
            let start = self.billing.get(index).map(|of| of.timeframe.start());
            let earlier = before.and_then(|before| {
                let place =
                    before.billing.iter().position(|of| Some(of.timeframe.start()) == start);
                Some((before, place?))
            });
            let mut entries = Vec::new();
            for group in groups {
                let cost = earlier.and_then(|(of, index)| of.group_cost(index, alert, &group));
                entries.extend(self.judge_group(index, alert, &group, cost.as_ref()));
            }
            if before.is_none() {
                // It is judged where it stands.
                entries.iter_mut().for_each(|of| of.value_before = Some(of.value_after.clone()));
            }
            self.tell_of_groups(index, alert, entries, &|| cause.clone(), effects);
        }
    }

    /// Tells whether some groups that events are in begin, or fire something, or are too many: those of other periods
    /// where they were before.
    pub(super) fn groups_are_quiet(
        &mut self,
        before: &Self,
        groups: &BTreeSet<(AlertId, GroupValues)>,
    ) -> bool {
        for index in 0..self.billing.len() {
            for (alert, group) in groups {
                let [cost, new] = [before, &*self].map(|of| of.group_cost(index, *alert, group));
                let alert_of = self.alerts.iter().find(|of| of.id == *alert);
                let armed = alert_of.map_or(&[][..], |of| of.armed_for(group));
                let is_new =
                    !before.has_group(index, *alert, group) && self.has_group(index, *alert, group);
                let is_watched = alert_of.is_some();
                let Some(billing) = self.billing.get(index) else { continue };
                let nothing = crate::alert::WatchedGroups::default();
                let of = billing.groups.get(alert).unwrap_or(&nothing);
                let fires = |new| of.would_fire(group, armed, cost.as_ref(), &new);
                if billing.is_judged && new.is_some_and(fires) {
                    return false;
                }
                let count = of.count.saturating_add(u64::from(is_new));
                let most = count.max(self.finer_groups(index, *alert));
                if is_watched && billing.is_judged && most > limits::WATCHED_GROUPS {
                    return false;
                }
                if let Some(billing) = self.billing.get_mut(index).filter(|_| is_new) {
                    billing.groups.entry(*alert).or_default().set_count(count);
                }
            }
        }
        true
    }

    /// Counts one more group.
    fn begin_group(&mut self, index: usize, alert: AlertId, effects: &mut Effects) {
        let count = self.billing.get(index).and_then(|of| of.groups.get(&alert));
        let count = count.map_or(0, |of| of.count).saturating_add(1);
        self.count_groups(index, alert, count, effects);
    }

    /// Takes how many groups there are. An alert that would have to watch too many is disabled, and no longer counted.
    fn count_groups(&mut self, index: usize, id: AlertId, count: u64, effects: &mut Effects) {
        let Some(billing) = self.billing.get_mut(index) else { return };
        billing.groups.entry(id).or_default().set_count(count);
        let most = limits::WATCHED_GROUPS;
        if count <= most || !billing.is_judged {
            return;
        }
        self.disable(id, count, effects);
    }

    /// Disables an alert on prices whose models have too many groups of their own in its groups: each event needs to
    /// know them all.
    fn bound_finer(&mut self, index: usize, id: AlertId, effects: &mut Effects) {
        let count = self.finer_groups(index, id);
        if count > limits::WATCHED_GROUPS && self.billing.get(index).is_some_and(|of| of.is_judged)
        {
            self.disable(id, count, effects);
        }
    }

    /// Returns how many groups of their own models have in those of an alert.
    fn finer_groups(&self, index: usize, id: AlertId) -> u64 {
        let of = self.watched_groups.of_alert(id).filter(|of| of.needs_all());
        let Some((of, billing)) = of.zip(self.billing.get(index)) else { return 0 };
        self.used_in_all(billing.timeframe).map_or(0, |total| of.finer_groups(&total))
    }

    /// Disables an alert that would have to watch too many groups.
    pub(crate) fn disable(&mut self, id: AlertId, count: u64, effects: &mut Effects) {
        let Some(alert) = self.alerts.iter_mut().find(|of| of.id == id && of.enabled) else {
            return;
        };
        alert.enabled = false;
        effects.disabled.push(AlertDisabled {
            subscription_id: self.subscription_id,
            alert: alert.clone(),
            cardinality: count,
            cardinality_limit: limits::WATCHED_GROUPS,
        });
        self.watched_groups = self.watched_groups.without(id).into();
    }

    fn judge_group(
        &mut self,
        index: usize,
        id: AlertId,
        group: &GroupValues,
        before: Option<&Decimal>,
    ) -> Option<GroupExceeded> {
        let after = self.group_cost(index, id, group)?;
        let alert = self.alerts.iter().find(|of| of.id == id)?;
        let billing = self.billing.get_mut(index).filter(|billing| billing.is_judged)?;
        billing.groups.entry(id).or_default().judge(group, alert.armed_for(group), before, after)
    }

    /// Tells of groups of an alert that have fired: in several messages, where there are too many for one.
    fn tell_of_groups(
        &self,
        index: usize,
        id: AlertId,
        groups: Vec<GroupExceeded>,
        cause: &dyn Fn() -> Cause,
        effects: &mut Effects,
    ) {
        let Some(alert) = self.alerts.iter().find(|of| of.id == id) else { return };
        let Some(billing) = self.billing.get(index) else { return };
        let told = GroupExceeded::parts(groups).into_iter().map(|groups| GroupsExceeded {
            subscription_id: self.subscription_id,
            alert: alert.clone(),
            groups,
            timeframe: billing.timeframe,
            cause: cause(),
        });
        effects.groups_exceeded.extend(told);
    }

    /// Returns the groups of an alert that have usage in a billing period.
    fn groups_in(&self, index: usize, alert: AlertId) -> Option<BTreeSet<GroupValues>> {
        let of = self.watched_groups.of_alert(alert)?;
        let total = self.used_in_all(self.billing.get(index)?.timeframe);
        Some(total.map(|total| of.groups_in(&total)).unwrap_or_default())
    }

    fn has_group(&self, index: usize, alert: AlertId, group: &GroupValues) -> bool {
        let of = self.watched_groups.of_alert(alert).zip(self.billing.get(index));
        of.is_some_and(|(of, billing)| {
            let total = self.used_in_all(billing.timeframe);
            total.is_some_and(|total| of.has(&total, group))
        })
    }

    /// Returns what a group costs in a billing period; none where it has no usage there, or nobody asks what it costs.
    fn group_cost(&self, index: usize, alert: AlertId, group: &GroupValues) -> Option<Decimal> {
        let (of, timeframe) =
            (self.watched_groups.of_alert(alert)?, self.billing.get(index)?.timeframe);
        self.used_in_all(timeframe).filter(|total| of.has(total, group))?;
        let used = |period, to| self.used(period, to);
        Some(of.cost(self.card()?, timeframe, group, &used))
    }
}
