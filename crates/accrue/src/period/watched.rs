//! Groups that alerts watch, in billing periods or in those of pools: judged event by event, or all at once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Effects, Periods};
use crate::{
    AlertId, Decimal, Timeframe, Timestamp,
    alert::{Alert, AlertDisabled, Cause, GroupExceeded, GroupsExceeded, WatchedGroups},
    limits,
    meter::{InGroup, MeterId, Values},
    rating::{GroupValues, RateCard, Watched, WatchedPrices},
    usage::Reading,
};

/// What alerts watch by groups, with the meters that are needed for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    by_alert: BTreeMap<AlertId, Watched>,
    parts: BTreeSet<MeterId>,
}

/// Group of an alert that an event is in, in a period that the event can move, with its value before.
pub(super) struct GroupBefore {
    period: Timeframe,
    alert: AlertId,
    group: GroupValues,
    value: Option<Decimal>,
}

impl Watches {
    /// Returns what some alerts watch by groups, of the prices of a subscription.
    pub(crate) fn of<'a>(alerts: impl IntoIterator<Item = &'a Alert>, card: &RateCard) -> Self {
        let watched = alerts.into_iter().filter(|alert| alert.enabled);
        let watched = watched.filter_map(|alert| Some((alert.id, alert.condition.watched(card)?)));
        Self::new(watched.collect())
    }

    fn new(by_alert: BTreeMap<AlertId, Watched>) -> Self {
        let parts =
            by_alert.values().filter_map(Watched::prices).flat_map(WatchedPrices::parts).collect();
        Self { by_alert, parts }
    }

    fn prices(&self) -> impl Iterator<Item = &WatchedPrices> {
        self.by_alert.values().filter_map(Watched::prices)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_alert.is_empty()
    }

    /// Tells whether it takes meters beside those that prices need.
    pub(crate) fn need_meters(&self) -> bool {
        !self.parts.is_empty()
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
        self.prices().flat_map(WatchedPrices::ids).collect()
    }

    /// Tells whether a meter is among them, as figures have it.
    pub(crate) fn has(&self, meter: MeterId) -> bool {
        self.prices().any(|of| of.has_meter(meter))
    }

    /// Tells whether all groups of a meter are to be known.
    pub(crate) fn need_all(&self) -> bool {
        self.prices().any(WatchedPrices::needs_all)
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

    /// Returns the periods in which each alert watches groups, of those that share an instant with billing periods.
    pub(crate) fn periods_in(
        &self,
        billing: impl IntoIterator<Item = Timeframe>,
    ) -> BTreeSet<(AlertId, Timeframe)> {
        let all = billing.into_iter().flat_map(|billing| {
            let watched = self.by_alert.iter();
            watched.flat_map(move |(id, of)| of.periods_in(billing).into_iter().map(|of| (*id, of)))
        });
        all.collect()
    }

    /// Returns the groups of meters that the groups of alerts are made of: an event may be in some of them alone.
    pub(crate) fn parts_of<'g>(
        &'g self,
        groups: impl IntoIterator<Item = &'g (AlertId, GroupValues)>,
    ) -> impl Iterator<Item = (MeterId, Values)> {
        let groups = groups.into_iter();
        groups.filter_map(|(alert, of)| Some(self.by_alert.get(alert)?.parts_of(of))).flatten()
    }

    fn of_alert(&self, alert: AlertId) -> Option<&Watched> {
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
        let mut all = Vec::new();
        for (alert, period) in self.watched_in().into_iter().filter(|(_, of)| at < of.end()) {
            for (_, group) in groups.iter().filter(|(of, _)| *of == alert) {
                let (group, value) = (group.clone(), self.group_value(period, alert, group));
                all.push(GroupBefore { period, alert, group, value });
            }
        }
        all
    }

    /// Returns the periods in which alerts watch groups, in the order in which they are judged.
    fn watched_in(&self) -> Vec<(AlertId, Timeframe)> {
        let mut all = Vec::new();
        for billing in &self.billing {
            for alert in self.on_groups() {
                let of = self.watched_groups.of_alert(alert);
                for period in of.into_iter().flat_map(|of| of.periods_in(billing.timeframe)) {
                    if !all.contains(&(alert, period)) {
                        all.push((alert, period));
                    }
                }
            }
        }
        all
    }

    /// Tells whether alerts fire for what is watched in a period.
    fn is_judged(&self, period: Timeframe) -> bool {
        self.billing.iter().any(|of| of.is_judged && of.timeframe.overlaps(period))
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
        for GroupBefore { period, alert, group, value } in groups {
            if period.contains(at) && value.is_none() && self.has_group(period, alert, &group) {
                self.begin_group(period, alert, effects);
            }
            self.bound_finer(period, alert, effects);
            let entry = self.judge_group(period, alert, &group, value.as_ref());
            self.tell_of_groups(period, alert, entry.into_iter().collect(), cause, effects);
        }
    }

    /// Judges all groups on the values that they have now, where they had others before, or at once.
    pub(super) fn judge_all_groups(
        &mut self,
        before: Option<&Self>,
        cause: &Cause,
        effects: &mut Effects,
    ) {
        for (alert, period) in self.watched_in() {
            let Some(groups) = self.groups_in(period, alert) else { continue };
            let count = u64::try_from(groups.len()).unwrap_or(u64::MAX);
            self.count_groups(period, alert, count, effects);
            self.bound_finer(period, alert, effects);
            let earlier = before.and_then(|before| {
                let mut all = before.watched_in().into_iter();
                let own = all.find(|(id, of)| (*id, of.start()) == (alert, period.start()));
                Some((before, own?.1))
            });
            let mut entries = Vec::new();
            for group in groups {
                let value = earlier.and_then(|(of, period)| of.group_value(period, alert, &group));
                entries.extend(self.judge_group(period, alert, &group, value.as_ref()));
            }
            if before.is_none() {
                // It is judged where it stands.
                entries.iter_mut().for_each(|of| of.value_before = Some(of.value_after.clone()));
            }
            self.tell_of_groups(period, alert, entries, &|| cause.clone(), effects);
        }
    }

    /// Tells whether some groups that events are in begin, or fire something, or are too many: those of other periods
    /// where they were before.
    pub(super) fn groups_are_quiet(
        &mut self,
        before: &Self,
        groups: &BTreeSet<(AlertId, GroupValues)>,
    ) -> bool {
        for (alert, period) in self.watched_in() {
            for (_, group) in groups.iter().filter(|(of, _)| *of == alert) {
                let [value, new] = [before, &*self].map(|of| of.group_value(period, alert, group));
                let alert_of = self.alerts.iter().find(|of| of.id == alert);
                let armed = alert_of.map_or(&[][..], |of| of.armed_for(group));
                let is_new =
                    !before.has_group(period, alert, group) && self.has_group(period, alert, group);
                let (is_watched, is_judged) = (alert_of.is_some(), self.is_judged(period));
                let nothing = WatchedGroups::default();
                let of = self.groups.get(&(alert, period.start())).unwrap_or(&nothing);
                let fires = |new| of.would_fire(group, armed, value.as_ref(), &new);
                if is_judged && new.is_some_and(fires) {
                    return false;
                }
                let count = of.count.saturating_add(u64::from(is_new));
                let most = count.max(self.finer_groups(period, alert));
                if is_watched && is_judged && most > limits::WATCHED_GROUPS {
                    return false;
                }
                if is_new {
                    self.groups_of(period, alert).set_count(count);
                }
            }
        }
        true
    }

    /// Returns what is known of the groups of an alert in a period.
    fn groups_of(&mut self, period: Timeframe, alert: AlertId) -> &mut WatchedGroups {
        self.groups.entry((alert, period.start())).or_default()
    }

    /// Counts one more group.
    fn begin_group(&mut self, period: Timeframe, alert: AlertId, effects: &mut Effects) {
        let count = self.groups_of(period, alert).count.saturating_add(1);
        self.count_groups(period, alert, count, effects);
    }

    /// Takes how many groups there are. An alert that would have to watch too many is disabled, and no longer counted.
    /// Licenses are no more than their usage may have groups, and are not counted.
    fn count_groups(&mut self, period: Timeframe, id: AlertId, count: u64, effects: &mut Effects) {
        if self.watched_prices(id).is_none() {
            return;
        }
        self.groups_of(period, id).set_count(count);
        if count > limits::WATCHED_GROUPS && self.is_judged(period) {
            self.disable(id, count, effects);
        }
    }

    /// Disables an alert on prices whose models have too many groups of their own in its groups: each event needs to
    /// know them all.
    fn bound_finer(&mut self, period: Timeframe, id: AlertId, effects: &mut Effects) {
        let count = self.finer_groups(period, id);
        if count > limits::WATCHED_GROUPS && self.is_judged(period) {
            self.disable(id, count, effects);
        }
    }

    /// Returns how many groups of their own models have in those of an alert.
    fn finer_groups(&self, period: Timeframe, id: AlertId) -> u64 {
        let Some(of) = self.watched_prices(id).filter(|of| of.needs_all()) else { return 0 };
        self.used_in_all(period).map_or(0, |total| of.finer_groups(&total))
    }

    fn watched_prices(&self, id: AlertId) -> Option<&WatchedPrices> {
        self.watched_groups.of_alert(id)?.prices()
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
        period: Timeframe,
        id: AlertId,
        group: &GroupValues,
        before: Option<&Decimal>,
    ) -> Option<GroupExceeded> {
        let after = self.group_value(period, id, group)?;
        if !self.is_judged(period) {
            return None;
        }
        let alert = self.alerts.iter().find(|of| of.id == id)?;
        let known = self.groups.entry((id, period.start())).or_default();
        known.judge(group, alert.armed_for(group), before, after)
    }

    /// Tells of groups of an alert that have fired: in several messages, where there are too many for one.
    fn tell_of_groups(
        &self,
        timeframe: Timeframe,
        id: AlertId,
        groups: Vec<GroupExceeded>,
        cause: &dyn Fn() -> Cause,
        effects: &mut Effects,
    ) {
        let Some(alert) = self.alerts.iter().find(|of| of.id == id) else { return };
        let told = GroupExceeded::parts(groups).into_iter().map(|groups| GroupsExceeded {
            subscription_id: self.subscription_id,
            alert: alert.clone(),
            groups,
            timeframe,
            cause: cause(),
        });
        effects.groups_exceeded.extend(told);
    }

    /// Returns the groups of an alert that have usage in a period.
    fn groups_in(&self, period: Timeframe, alert: AlertId) -> Option<BTreeSet<GroupValues>> {
        let of = self.watched_groups.of_alert(alert)?;
        let total = self.used_in_all(period);
        Some(total.map(|total| of.groups_in(&total)).unwrap_or_default())
    }

    fn has_group(&self, period: Timeframe, alert: AlertId, group: &GroupValues) -> bool {
        self.watched_prices(alert).is_some_and(|of| {
            let total = self.used_in_all(period);
            total.is_some_and(|total| of.has(&total, group))
        })
    }

    /// Returns the value of a group in a period; none where it has no usage there, or nobody asks what that costs.
    fn group_value(
        &self,
        period: Timeframe,
        alert: AlertId,
        group: &GroupValues,
    ) -> Option<Decimal> {
        let of = self.watched_groups.of_alert(alert)?;
        let used = |period, to| self.used(period, to);
        of.value(self.card()?, period, group, &used)
    }
}
