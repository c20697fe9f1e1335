use std::collections::{BTreeMap, BTreeSet, HashSet, btree_map::Entry};

use serde::{Deserialize, Serialize};

use super::{
    aggregate::{Aggregate, Latest},
    quarter::Quarter,
    sightings::{Sightings, is_within_a_day},
};
use crate::{
    AlertId, Decimal, EventKey, MetricId, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Crossing, Fired},
    metric::{Contribution, Function},
    webhook::{Cause, UsageExceeded},
};

/// What one event adds to one metric.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) metric_id: MetricId,
    pub(crate) amount: Amount,
}

/// What an event adds, ready to be added.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// To an aggregate that only needs to be added to.
    Plain(Aggregate),
    /// One value, of which it must be known whether it is new.
    Distinct(Digest),
}

/// What a distinct value is recognized by.
pub(crate) type Digest = [u8; 32];

impl Reading {
    /// Reads what an event contributes to a metric.
    pub(crate) fn new(
        metric_id: MetricId,
        function: &Function,
        contribution: Contribution,
        at: Timestamp,
        key: &EventKey,
    ) -> Self {
        let amount = match contribution {
            Contribution::Occurrence => Amount::Plain(Aggregate::Count(1)),
            Contribution::Distinct(value) => Amount::Distinct(value.digest()),
            Contribution::Number(value) => Amount::Plain(match function {
                Function::Min(_) => Aggregate::Min(value),
                Function::Max(_) => Aggregate::Max(value),
                Function::Latest(_) => Aggregate::Latest(Latest { at, key: key.clone(), value }),
                _ => Aggregate::Sum(value),
            }),
        };
        Self { metric_id, amount }
    }
}

/// The running total of one billing period of one subscription, of all metrics that have any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Total(pub(crate) BTreeMap<MetricId, Aggregate>);

impl Total {
    pub(crate) fn add(&mut self, metric_id: MetricId, amount: Aggregate) {
        match self.0.entry(metric_id) {
            Entry::Occupied(mut total) => total.get_mut().add(amount),
            Entry::Vacant(vacant) => {
                vacant.insert(amount);
            }
        }
    }

    pub(crate) fn figure(&self, metric_id: MetricId) -> Option<Decimal> {
        self.0.get(&metric_id).map(Aggregate::figure)
    }
}

/// A subscription as the tally sees it: the alerts that watch it, and its billing periods.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) alerts: Vec<Alert>,
    /// The billing periods that its events may fall in, with what they hold.
    pub(crate) standings: Vec<Standing>,
}

/// Where one billing period of one subscription stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) timeframe: Timeframe,
    pub(crate) total: Total,
    /// What has fired, of each alert that may fire now.
    pub(crate) fired: BTreeMap<AlertId, Fired>,
    /// The distinct values of the period by metric, where sightings cannot tell.
    pub(crate) members: Option<HashSet<(MetricId, Digest)>>,
    pub(crate) total_moved: bool,
    pub(crate) fired_moved: BTreeSet<AlertId>,
}

/// One customer's usage while events are added to it, one by one: buckets, totals, distinct values,
/// and the alerts that fire on the way.
///
/// The engine loads it, adds events and saves it. What comes out does not depend on how events are
/// cut into batches.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Everything before this instant is too old to be taken.
    pub(crate) oldest_taken: Timestamp,
    pub(crate) buckets: BTreeMap<(MetricId, Quarter), Aggregate>,
    pub(crate) members: BTreeMap<Member, Membership>,
    pub(crate) sightings: BTreeMap<(MetricId, Digest), Sightings>,
    pub(crate) watched: Vec<Watched>,
}

/// A distinct value of a bucket.
pub(crate) type Member = (MetricId, Quarter, Digest);

/// Since when a distinct value is one of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Membership {
    /// Since before.
    Stored,
    /// Since an event that was added here.
    Added,
}

impl Tally {
    pub(crate) fn new(oldest_taken: Timestamp) -> Self {
        Self {
            oldest_taken,
            buckets: BTreeMap::new(),
            members: BTreeMap::new(),
            sightings: BTreeMap::new(),
            watched: Vec::new(),
        }
    }

    /// Adds an event, and returns the alerts that it makes fire.
    pub(crate) fn add(
        &mut self,
        at: Timestamp,
        key: &EventKey,
        readings: &[Reading],
    ) -> Vec<UsageExceeded> {
        for reading in readings {
            self.add_to_bucket(at, reading);
        }
        let cause = Cause::Event { idempotency_key: key.clone(), timestamp: at };
        let mut exceeded = Vec::new();
        for Watched { subscription_id, alerts, standings, .. } in &mut self.watched {
            let holding = standings.iter_mut().find(|standing| standing.timeframe.contains(at));
            let Some(standing) = holding else { continue };
            for reading in readings {
                let metric_id = reading.metric_id;
                let Some(amount) = standing.amount(reading, &self.sightings) else { continue };
                let watching =
                    || alerts.iter().filter(|alert| alert.condition.metric_id() == metric_id);
                let before = watching().next().and_then(|_| standing.total.figure(metric_id));
                standing.total.add(metric_id, amount);
                standing.total_moved = true;
                exceeded.extend(watching().filter_map(|alert| {
                    standing.judge(*subscription_id, alert, before.as_ref(), &cause)
                }));
            }
        }
        for reading in readings {
            if let Amount::Distinct(digest) = reading.amount {
                let sightings = self.sightings.entry((reading.metric_id, digest)).or_default();
                sightings.add(at, self.oldest_taken);
            }
        }
        exceeded
    }

    fn add_to_bucket(&mut self, at: Timestamp, reading: &Reading) {
        let quarter = Quarter::of(at);
        let amount = match &reading.amount {
            Amount::Plain(amount) => amount.clone(),
            Amount::Distinct(digest) => {
                match self.members.entry((reading.metric_id, quarter, *digest)) {
                    Entry::Occupied(_) => return,
                    Entry::Vacant(vacant) => vacant.insert(Membership::Added),
                };
                Aggregate::Distinct(1)
            }
        };
        match self.buckets.entry((reading.metric_id, quarter)) {
            Entry::Occupied(mut bucket) => bucket.get_mut().add(amount),
            Entry::Vacant(vacant) => {
                vacant.insert(amount);
            }
        }
    }
}

impl Standing {
    pub(crate) const fn new(
        timeframe: Timeframe,
        total: Total,
        fired: BTreeMap<AlertId, Fired>,
    ) -> Self {
        let fired_moved = BTreeSet::new();
        Self { timeframe, total, fired, members: None, total_moved: false, fired_moved }
    }

    /// Tells whether sightings may be unable to judge this period, so that its members are needed.
    pub(crate) fn needs_members<'a>(
        &self,
        sightings: impl IntoIterator<Item = &'a Sightings>,
    ) -> bool {
        is_within_a_day(self.timeframe)
            || sightings.into_iter().any(|seen| seen.seen_in(self.timeframe).is_none())
    }

    /// Judges an alert on the figure that there is now, and keeps what fired.
    pub(crate) fn judge(
        &mut self,
        subscription_id: SubscriptionId,
        alert: &Alert,
        before: Option<&Decimal>,
        cause: &Cause,
    ) -> Option<UsageExceeded> {
        let metric_id = alert.condition.metric_id();
        let value_after = self.total.figure(metric_id)?;
        let fired = self.fired.entry(alert.id).or_default();
        let Crossing { threshold, thresholds } = fired.judge(alert, before, &value_after)?;
        self.fired_moved.insert(alert.id);
        Some(UsageExceeded {
            subscription_id,
            alert: alert.clone(),
            metric_id,
            value_before: before.cloned(),
            value_after,
            threshold,
            thresholds,
            timeframe: self.timeframe,
            cause: cause.clone(),
        })
    }

    /// Returns what a reading adds to this period; nothing for a value that it has already.
    fn amount(
        &mut self,
        reading: &Reading,
        sightings: &BTreeMap<(MetricId, Digest), Sightings>,
    ) -> Option<Aggregate> {
        let digest = match &reading.amount {
            Amount::Plain(amount) => return Some(amount.clone()),
            Amount::Distinct(digest) => *digest,
        };
        let value = (reading.metric_id, digest);
        let is_new = match &mut self.members {
            Some(members) => members.insert(value),
            None => {
                let seen = sightings.get(&value).map(|seen| seen.seen_in(self.timeframe));
                seen.is_none_or(|seen| seen == Some(false))
            }
        };
        is_new.then_some(Aggregate::Distinct(1))
    }
}
