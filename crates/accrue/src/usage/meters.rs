use std::{collections::BTreeSet, ops::RangeInclusive};

use super::{
    meter::{MeterId, Split, SplitId},
    reading::Reading,
};
use crate::{
    EventKey, MetricId,
    expression::{Expression, Fields},
    metric::{Function, Metric},
};

/// What events are held against: metrics, and splits of some of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    /// How often the account's set of them has grown.
    pub(crate) revision: u64,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) splits: Vec<Split>,
    /// Only events that this is true of.
    filter: Option<Expression>,
    /// Only those that were there in some revisions: a metric can be in the list for its splits.
    revisions: Option<RangeInclusive<u64>>,
}

impl Meters {
    /// Only one metric.
    pub(crate) fn one(metric: Metric) -> Self {
        Self { revision: metric.since, metrics: vec![metric], ..Self::default() }
    }

    /// All metrics and splits of an account.
    pub(crate) fn all(revision: u64, metrics: Vec<Metric>, splits: Vec<Split>) -> Self {
        Self { revision, metrics, splits, ..Self::default() }
    }

    /// Only the metrics, without splits.
    pub(crate) fn only_metrics(&self) -> Self {
        Self { splits: Vec::new(), ..self.clone() }
    }

    /// Only what counts distinct values.
    pub(crate) fn only_distinct(mut self) -> Self {
        self.metrics.retain(|metric| matches!(metric.sql.function(), Function::CountDistinct(_)));
        self
    }

    /// All metrics, but only some splits.
    pub(crate) fn with_splits(&self, splits: &[SplitId]) -> Self {
        let wanted = self.splits.iter().filter(|split| splits.contains(&split.id));
        Self { splits: wanted.cloned().collect(), ..self.clone() }
    }

    /// Only some metrics, and some splits.
    pub(crate) fn only(&self, metrics: &BTreeSet<MetricId>, splits: &[SplitId]) -> Self {
        let mut meters = self.with_splits(splits);
        meters.metrics.retain(|metric| metrics.contains(&metric.id));
        meters
    }

    /// Only those that were there in some revisions of the set.
    pub(crate) fn since(mut self, revisions: RangeInclusive<u64>) -> Self {
        self.splits.retain(|split| revisions.contains(&split.since));
        let splits = &self.splits;
        self.metrics.retain(|metric| {
            let is_split = splits.iter().any(|split| split.metric_id == metric.id);
            is_split || revisions.contains(&metric.since)
        });
        Self { revisions: Some(revisions), ..self }
    }

    /// Only of the events that a filter is true of.
    pub(crate) fn of_events(self, filter: Option<Expression>) -> Self {
        Self { filter, ..self }
    }

    /// Tells whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// Tells whether a metric itself is among them, and not only splits of it.
    fn has(&self, metric: &Metric) -> bool {
        self.revisions.as_ref().is_none_or(|revisions| revisions.contains(&metric.since))
    }

    /// Tells whether an event is one of those that are held against them.
    pub(crate) fn take(&self, fields: &Fields<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(fields))
    }

    /// Adds what an event contributes to one of the metrics, and to the splits of it.
    pub(crate) fn read(
        &self,
        metric: &Metric,
        fields: &Fields<'_>,
        key: &EventKey,
        readings: &mut Vec<Reading>,
    ) {
        let Some(contribution) = metric.sql.contribution(fields) else { return };
        let (function, at) = (metric.sql.function(), fields.timestamp());
        let plain = Reading::new(metric.id, function, contribution, at, key);
        for split in self.splits_of(metric) {
            let (meter, split) = (split.meter_of(fields), Some(split.id));
            readings.push(Reading { meter, split, amount: plain.amount.clone() });
        }
        if self.has(metric) {
            readings.push(plain);
        }
    }

    /// Returns how many comparisons it takes at most to tell whether an event is taken.
    pub(crate) fn terms_of_filter(&self) -> usize {
        self.filter.as_ref().map_or(0, Expression::terms)
    }

    /// Returns how many comparisons reading a metric of an event takes at most.
    pub(crate) fn terms_of(&self, metric: &Metric) -> usize {
        let splits = self.splits_of(metric).map(Split::terms).fold(0, usize::saturating_add);
        metric.sql.terms().saturating_add(splits)
    }

    /// Returns how many comparisons an event takes at most.
    pub(crate) fn terms(&self) -> usize {
        let metrics = self.metrics.iter().map(|metric| self.terms_of(metric));
        metrics.fold(self.terms_of_filter(), usize::saturating_add)
    }

    fn splits_of(&self, metric: &Metric) -> impl Iterator<Item = &Split> {
        self.splits.iter().filter(|split| split.metric_id == metric.id)
    }

    /// Returns the meters that are plain aggregates.
    pub(crate) fn added_up(&self) -> impl Iterator<Item = MeterId> {
        self.ids(|function| !matches!(function, Function::CountDistinct(_)))
    }

    /// Returns the meters that count distinct values.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = MeterId> {
        self.ids(|function| matches!(function, Function::CountDistinct(_)))
    }

    fn ids(&self, wanted: impl Fn(&Function) -> bool) -> impl Iterator<Item = MeterId> {
        let metrics = self.metrics.iter().filter(move |metric| wanted(metric.sql.function()));
        metrics.flat_map(|metric| {
            let splits = self.splits_of(metric);
            let own = self.has(metric).then(|| metric.id.into());
            splits.flat_map(Split::meters).chain(own)
        })
    }
}
