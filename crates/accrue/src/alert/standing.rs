use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use super::{Alert, Cause, Crossing, Exceeded, Fired, gauge::Gauge};
use crate::{
    AlertId, Decimal, EventKey, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    credit::DrawDown,
    rating::{RateCard, Running},
    usage::{
        Aggregate, Amount, Digest, DistinctIndex, MeterId, Reading, Seen, SplitId, Total,
        is_within_a_day,
    },
};

/// A subscription while events are added to it: the alerts that watch it, and its billing periods.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) subscription_id: SubscriptionId,
    /// The splits whose cells its prices rate.
    pub(crate) splits: Vec<SplitId>,
    pub(crate) alerts: Vec<Alert>,
    /// The currencies and pricing units in which its usage draws credits.
    pub(crate) draws_in: Vec<PricingUnit>,
    /// The billing periods that its events may fall in, with what they hold.
    pub(crate) standings: Vec<Standing>,
}

/// What came of an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    /// The alerts that fire: those on usage first, then those on cost.
    pub(crate) exceeded: Vec<Exceeded>,
    /// What it costs more, of what credits pay for.
    pub(crate) draw_downs: Vec<DrawDown>,
}

/// Where one billing period of one subscription stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) timeframe: Timeframe,
    pub(crate) total: Total,
    /// Whether alerts are judged on it: not on one that is older than the one before the current.
    pub(crate) is_judged: bool,
    /// What it has come to, and what of it alerts watch, where any does.
    rated: Option<(Running, BTreeMap<AlertId, Gauge>)>,
    /// What has fired, of each alert that may fire now.
    pub(crate) fired: BTreeMap<AlertId, Fired>,
    /// The distinct values of the period by meter, where the distinct index cannot tell.
    pub(crate) distinct: Option<HashSet<(MeterId, Digest)>>,
    pub(crate) total_moved: bool,
    pub(crate) fired_moved: BTreeSet<AlertId>,
}

impl Watched {
    /// Adds an event to the billing period that holds it. What was seen is that before the event.
    pub(crate) fn add(
        &mut self,
        at: Timestamp,
        key: &EventKey,
        readings: &[Reading],
        seen: &Seen,
    ) -> Added {
        let holding = self.standings.iter_mut().find(|standing| standing.timeframe.contains(at));
        let Some(standing) = holding else { return Added::default() };
        let cause = Cause::Event { idempotency_key: key.clone(), timestamp: at };
        let on_cost = || self.alerts.iter().filter(|alert| alert.condition.is_on_cost());
        let costs: Vec<_> = on_cost().map(|alert| standing.value(alert)).collect();
        let (mut exceeded, mut draw_downs, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for reading in readings {
            if reading.split.is_some_and(|split| !self.splits.contains(&split)) {
                continue;
            }
            let Some(amount) = standing.amount(reading, seen) else { continue };
            let is_watched = |alert: &&Alert| {
                alert.condition.metric_id().is_some_and(|id| reading.meter == id.into())
            };
            let watching = || self.alerts.iter().filter(is_watched);
            let before = watching().next().and_then(|_| standing.total.figure(reading.meter));
            standing.total.add(reading.meter, amount);
            standing.total_moved = true;
            moved.push(reading.meter);
            exceeded.extend(watching().filter_map(|alert| {
                standing.judge(self.subscription_id, alert, before.as_ref(), &cause)
            }));
        }
        if let Some((rated, gauges)) = &mut standing.rated {
            let moved = rated.follow(&moved, &standing.total);
            gauges.values_mut().for_each(|gauge| gauge.follow(&moved));
            draw_downs.extend(self.draws_in.iter().map(|unit| DrawDown {
                subscription_id: self.subscription_id,
                period_start: standing.timeframe.start(),
                currency: unit.clone(),
                amount: rated.drawn_in(unit, &moved),
            }));
        }
        exceeded.extend(on_cost().zip(costs).filter_map(|(alert, before)| {
            standing.judge(self.subscription_id, alert, before.as_ref(), &cause)
        }));
        Added { exceeded, draw_downs }
    }
}

impl Standing {
    pub(crate) const fn new(
        timeframe: Timeframe,
        total: Total,
        fired: BTreeMap<AlertId, Fired>,
    ) -> Self {
        let fired_moved = BTreeSet::new();
        Self {
            timeframe,
            total,
            is_judged: true,
            rated: None,
            fired,
            distinct: None,
            total_moved: false,
            fired_moved,
        }
    }

    /// Rates what the period holds, as of an instant.
    pub(crate) fn accrue(&mut self, card: &Arc<RateCard>, alerts: &[Alert], until: Timestamp) {
        let rated = Running::new(Arc::clone(card), self.timeframe, &self.total, until);
        let on_cost = alerts.iter().filter(|alert| alert.condition.is_on_cost());
        let gauges = on_cost.map(|alert| (alert.id, Gauge::new(&alert.condition, &rated)));
        let gauges = gauges.collect();
        self.rated = Some((rated, gauges));
    }

    /// Returns the value that an alert watches; none where there is none yet.
    pub(crate) fn value(&self, alert: &Alert) -> Option<Decimal> {
        match alert.condition.metric_id() {
            Some(metric_id) => self.total.figure(metric_id),
            None => {
                let (_, gauges) = self.rated.as_ref()?;
                gauges.get(&alert.id)?.value().cloned()
            }
        }
    }

    /// Tells whether the distinct index may be unable to judge this period, so that its values are needed.
    pub(crate) fn needs_distinct_values<'a>(
        &self,
        index: impl IntoIterator<Item = &'a DistinctIndex>,
    ) -> bool {
        is_within_a_day(self.timeframe)
            || index.into_iter().any(|seen| seen.seen_in(self.timeframe).is_none())
    }

    /// Judges an alert on the value that there is now, and keeps what fired.
    pub(crate) fn judge(
        &mut self,
        subscription_id: SubscriptionId,
        alert: &Alert,
        before: Option<&Decimal>,
        cause: &Cause,
    ) -> Option<Exceeded> {
        let value_after = self.value(alert).filter(|_| self.is_judged)?;
        let fired = self.fired.entry(alert.id).or_default();
        let Crossing { threshold, thresholds } = fired.judge(alert, before, &value_after)?;
        self.fired_moved.insert(alert.id);
        Some(Exceeded {
            subscription_id,
            alert: alert.clone(),
            value_before: before.cloned(),
            value_after,
            threshold,
            thresholds,
            timeframe: self.timeframe,
            cause: cause.clone(),
        })
    }

    /// Returns what a reading adds to this period; nothing for a value that it has already.
    fn amount(&mut self, reading: &Reading, seen: &Seen) -> Option<Aggregate> {
        let digest = match &reading.amount {
            Amount::Plain(amount) => return Some(amount.clone()),
            Amount::Distinct(digest) => *digest,
        };
        let value = (reading.meter, digest);
        let is_new = match &mut self.distinct {
            Some(distinct) => distinct.insert(value),
            None => {
                let seen = seen.get(&value).map(|seen| seen.seen_in(self.timeframe));
                seen.is_none_or(|seen| seen == Some(false))
            }
        };
        is_new.then_some(Aggregate::Distinct(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_needed_only_where_sightings_cannot_tell() {
        let timeframe = |start, end| {
            let at = |text| Timestamp::parse(text).unwrap();
            Timeframe::new(at(start), at(end)).unwrap()
        };
        let check = |timeframe: Timeframe, seen: &[DistinctIndex], expect: bool| {
            let standing = Standing::new(timeframe, Total::default(), BTreeMap::new());
            assert_eq!(standing.needs_distinct_values(seen), expect, "{timeframe:?}");
        };
        let month = timeframe("2026-03-10T00:00:00Z", "2026-04-10T00:00:00Z");
        let mut blurred = DistinctIndex::default();
        blurred.blur(timeframe("2026-03-12T00:00:00Z", "2026-03-13T00:00:00Z"));
        check(month, &[], false);
        check(month, &[DistinctIndex::default()], false);
        check(month, &[DistinctIndex::default(), blurred], true);
        check(timeframe("2026-03-10T00:00:00Z", "2026-03-10T06:00:00Z"), &[], true);
    }
}
