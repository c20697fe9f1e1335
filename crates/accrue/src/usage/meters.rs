use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    ops::RangeInclusive,
};

use super::reading::{Group, Reading};
use crate::{
    Error, EventKey, MetricId,
    expression::{Expression, Fields},
    meter::{CellId, InGroup, KnownIds, Meter, MeterId, Place, Values},
    metric::{Function, Metric},
};

/// Set that events are held against: metrics, and meters that divide some of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    /// Revision of the set: how often the account's has grown.
    pub(crate) revision: u64,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) divided: Vec<Meter>,
    /// Condition on the events.
    filter: Option<Expression>,
    /// Comparisons that are made of each event besides.
    more_terms: usize,
    /// Groups that there are, of meters with groups.
    groups: BTreeMap<MeterId, BTreeSet<Values>>,
    /// Revisions in which they were there, where only those count: a metric can be in the list for its
    /// meters.
    revisions: Option<RangeInclusive<u64>>,
}

impl Meters {
    /// Returns the set of only one metric.
    pub(crate) fn one(metric: Metric) -> Self {
        Self { revision: metric.since, metrics: vec![metric], ..Self::default() }
    }

    /// Returns the set of all metrics and meters of an account.
    pub(crate) fn all(revision: u64, metrics: Vec<Metric>, divided: Vec<Meter>) -> Self {
        Self { revision, metrics, divided, ..Self::default() }
    }

    /// Returns everything that is in one of some sets, once.
    ///
    /// # Errors
    ///
    /// A constraint violation where a meter would have too many combinations.
    pub(crate) fn together<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Result<Self, Error> {
        let (mut metrics, mut divided) = (BTreeMap::new(), BTreeMap::<_, Meter>::new());
        for set in sets {
            metrics.extend(set.metrics.iter().map(|metric| (metric.id, metric.clone())));
            for meter in &set.divided {
                match divided.entry(meter.id) {
                    Entry::Vacant(vacant) => drop(vacant.insert(meter.clone())),
                    Entry::Occupied(known) => drop(known.into_mut().extend(meter)?),
                }
            }
        }
        let revision = metrics.values().map(|metric| metric.since).max().unwrap_or_default();
        Ok(Self::all(revision, metrics.into_values().collect(), divided.into_values().collect()))
    }

    /// Keeps only the metrics as a whole.
    pub(crate) fn only_metrics(&self) -> Self {
        Self { divided: Vec::new(), ..self.clone() }
    }

    /// Keeps only those that count distinct values.
    pub(crate) fn only_distinct(mut self) -> Self {
        self.metrics.retain(|metric| matches!(metric.sql.function(), Function::CountDistinct(_)));
        self
    }

    /// Keeps all metrics, but only some of the meters that divide them, or of their parts.
    pub(crate) fn with_divided(&self, meters: &[MeterId]) -> Self {
        let wanted = self.divided.iter().filter_map(|meter| meter.with_parts(meters));
        Self { divided: wanted.collect(), ..self.clone() }
    }

    /// Keeps only some metrics, and some of the meters that divide them, or of their parts.
    pub(crate) fn only(&self, metrics: &BTreeSet<MetricId>, meters: &[MeterId]) -> Self {
        let mut meters = self.with_divided(meters);
        meters.metrics.retain(|metric| metrics.contains(&metric.id));
        meters
    }

    /// Keeps only those that were there in some revisions of the set.
    pub(crate) fn since(&self, revisions: RangeInclusive<u64>) -> Self {
        let divided = self.divided.iter().filter_map(|meter| meter.since(&revisions));
        let divided: Vec<_> = divided.collect();
        let metrics = self.metrics.iter().filter(|metric| {
            let is_divided = divided.iter().any(|meter| meter.metric_id == metric.id);
            is_divided || revisions.contains(&metric.since)
        });
        let metrics = metrics.cloned().collect();
        Self { metrics, divided, revisions: Some(revisions), ..self.clone() }
    }

    /// Adds comparisons that are made of each event besides.
    pub(crate) fn and_terms(self, more_terms: usize) -> Self {
        Self { more_terms, ..self }
    }

    /// Restricts it to the events that a filter is true of.
    pub(crate) fn of_events(self, filter: Option<Expression>) -> Self {
        Self { filter, ..self }
    }

    /// Adds groups that there are.
    pub(crate) fn in_groups(self, groups: BTreeMap<MeterId, BTreeSet<Values>>) -> Self {
        Self { groups, ..self }
    }

    /// Tells whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// Tells whether a metric itself is among them, and not only meters that divide it.
    fn has(&self, metric: &Metric) -> bool {
        self.revisions.as_ref().is_none_or(|revisions| revisions.contains(&metric.since))
    }

    /// Tells whether an event is one of those that are held against them.
    pub(crate) fn take(&self, fields: &Fields<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(fields))
    }

    /// Adds the contribution of an event to one of the metrics, and to the meters that divide it.
    pub(crate) fn read(
        &self,
        metric: &Metric,
        fields: &Fields<'_>,
        key: &EventKey,
        (known, readings): (&mut KnownIds, &mut Vec<Reading>),
    ) {
        let Some(contribution) = metric.sql.contribution(fields) else { return };
        let (function, at) = (metric.sql.function(), fields.timestamp());
        let plain = Reading::new(metric.id, function, contribution, at, key);
        for meter in self.divided(metric) {
            let Some(place) = meter.place_of(fields) else { continue };
            let Place { meter: part, group: values } = place;
            let cell = meter.cell_of(&values, fields, known);
            let group = meter.has_groups().then(|| {
                let id = meter.group_id(&values, known);
                Group { id, meter: part, values }
            });
            let amount = plain.amount.clone();
            readings.push(Reading { cell, meter: Some(part), group, amount });
        }
        if self.has(metric) {
            readings.push(plain);
        }
    }

    /// Returns the most comparisons that it takes to tell whether an event is taken.
    pub(crate) fn terms_of_filter(&self) -> usize {
        self.filter.as_ref().map_or(0, Expression::terms).saturating_add(self.more_terms)
    }

    /// Returns the most comparisons that reading a metric of an event takes.
    pub(crate) fn terms_of(&self, metric: &Metric) -> usize {
        let divided = self.divided(metric).map(Meter::terms).fold(0, usize::saturating_add);
        metric.sql.terms().saturating_add(divided)
    }

    /// Returns the most comparisons that an event takes.
    pub(crate) fn terms(&self) -> usize {
        let metrics = self.metrics.iter().map(|metric| self.terms_of(metric));
        metrics.fold(self.terms_of_filter(), usize::saturating_add)
    }

    fn divided(&self, metric: &Metric) -> impl Iterator<Item = &Meter> {
        self.divided.iter().filter(|meter| meter.metric_id == metric.id)
    }

    /// Returns the cells that are plain aggregates, of all groups that are known.
    pub(crate) fn added_up(&self) -> impl Iterator<Item = InGroup<'_>> {
        self.cells(|function| !matches!(function, Function::CountDistinct(_)))
    }

    /// Returns the cells that count distinct values, of all groups that are known.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = InGroup<'_>> {
        self.cells(|function| matches!(function, Function::CountDistinct(_)))
    }

    fn cells(&self, wanted: impl Fn(&Function) -> bool) -> impl Iterator<Item = InGroup<'_>> {
        let metrics = self.metrics.iter().filter(move |metric| wanted(metric.sql.function()));
        metrics.flat_map(|metric| {
            let divided = self.divided(metric).flat_map(|meter| self.cells_of(meter));
            let own = self.has(metric).then(|| CellId::from(metric.id).into());
            divided.chain(own)
        })
    }

    fn cells_of(&self, meter: &Meter) -> Vec<InGroup<'_>> {
        if !meter.has_groups() {
            let known = meter.known_groups();
            let cells = known.iter().flat_map(|values| meter.all_cells(values));
            return cells.map(InGroup::from).collect();
        }
        let known = meter.parts().into_iter().flat_map(|part| {
            let groups = self.groups.get(&part).into_iter().flatten();
            groups.map(move |values| (part, values))
        });
        let cells = known.flat_map(|(part, values)| {
            let cells = meter.all_cells(values).into_iter();
            cells.map(move |cell| InGroup { cell, group: Some((part, values)) })
        });
        cells.collect()
    }
}
