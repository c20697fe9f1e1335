use std::collections::{BTreeMap, BTreeSet};

use bigdecimal::{BigDecimal, RoundingMode};

use super::{CREDITS_PER_EVENT, Gauge, Place, Subscription, Tenant};
use crate::model::{At, Event, Instant, MICROS_PER_DAY, months_after};

/// A billing period.
pub(in crate::sim) type Span = (Instant, Instant);

/// The parts of a span between instants.
fn split((from, until): Span, cuts: impl Iterator<Item = Instant>) -> Vec<Span> {
    let mut ends: Vec<_> = cuts.filter(|at| from < *at && *at < until).chain([until]).collect();
    ends.sort_unstable();
    let starts = [from].into_iter().chain(ends.clone());
    starts.zip(ends).collect()
}

impl Subscription {
    /// The billing periods in order: months from its start, cut where it ends. They go on where its plan changes.
    fn periods(&self) -> impl Iterator<Item = Span> {
        let Self { start, end, .. } = *self;
        let end = end.unwrap_or(Instant::MAX);
        let period = move |month| (months_after(start, month), months_after(start, month + 1));
        let periods = (0..).map(period).take_while(move |(from, _)| *from < end);
        periods.map(move |(from, until)| (from, until.min(end)))
    }

    pub(super) fn is_start(&self, at: Instant) -> bool {
        self.period(at).is_some_and(|(from, _)| from == at)
    }

    pub(super) fn period(&self, at: Instant) -> Option<Span> {
        let mut periods = self.periods().take_while(|(from, _)| *from <= at);
        periods.find(|(_, until)| at < *until)
    }

    /// What has fallen due of fees in a billing period, each where its part of that begins.
    fn fees(&self, span: Span, now: Instant) -> Option<BigDecimal> {
        let due = split(span, self.changes()).into_iter().filter(|(from, _)| *from <= now);
        due.map(|part| self.fee(part)).reduce(|sum, fee| sum + fee)
    }

    /// What the fee comes to in a part of a billing period, by days, of which one that has begun counts. The day in
    /// which the plan changes belongs to what comes then.
    fn fee(&self, (from, until): Span) -> BigDecimal {
        let month = (0..).map(|month| months_after(self.start, month));
        let mut months = month.clone().zip(month.skip(1));
        let (first, next) = months.find(|(_, next)| from < *next).unwrap_or((from, until));
        let day = |at: Instant| (at - first).div_euclid(MICROS_PER_DAY);
        let whole = day(next);
        let mut used = (day(until - 1) + 1).min(whole);
        if let Some(change) = self.changes().find(|at| from < *at) {
            used = used.min(day(change));
        }
        let fee = self.offer(from).fee * (used - day(from)).max(0);
        let part = BigDecimal::from(fee) / BigDecimal::from(whole);
        part.with_scale_round(2, RoundingMode::HalfUp)
    }

    /// When something of it fell due by an instant: the fee where it or its plan begins, and usage where what it costs is
    /// another, and at the end of each billing period.
    pub(in crate::sim) fn boundaries(&self, now: Instant) -> Vec<Instant> {
        let ends = self.periods().map(|(_, until)| until).take_while(|at| *at <= now);
        let end = self.end.unwrap_or(Instant::MAX);
        let cuts = self.cuts().filter(|at| *at <= now && *at < end);
        let all: BTreeSet<_> = ends.chain(cuts).chain([self.start]).collect();
        all.into_iter().filter(|at| *at <= now).collect()
    }

    /// The billing period whose usage is told: the current, first or last one.
    pub(in crate::sim) fn current(&self, now: Instant) -> Span {
        let last = self.end.unwrap_or(Instant::MAX).saturating_sub(1);
        self.period(now.max(self.start).min(last)).unwrap_or((self.start, self.start))
    }
}

impl Tenant {
    /// The events of a customer that count.
    pub(in crate::sim) fn visible(&self, customer: At) -> Vec<&Event> {
        let events = self.history.events.iter().enumerate();
        let own = events.filter(|(_, stored)| stored.event.customer == customer);
        own.filter(|(index, _)| self.history.counts(*index)).map(|(_, of)| &of.event).collect()
    }

    fn gauges(&self) -> impl Iterator<Item = Gauge> {
        (0..self.metrics.len()).map(Gauge::Metric).chain([Gauge::Cost])
    }

    pub(super) fn figure(&self, visible: &[&Event], metric: At, span: Span) -> Option<BigDecimal> {
        let within =
            visible.iter().copied().filter(|event| span.0 <= event.at && event.at < span.1);
        self.metrics[metric].1.figure(within)
    }

    /// What usage costs.
    fn usage_cost(&self, of: &Subscription, visible: &[&Event], span: Span) -> Option<BigDecimal> {
        let parts = split(span, of.starts()).into_iter();
        let costs =
            parts.filter_map(|part| Some(self.figure(visible, 0, part)? * of.offer(part.0).rate()));
        costs.reduce(|sum, cost| sum + cost)
    }

    /// What a subscription has come to cost in a billing period.
    pub(in crate::sim) fn cost(&self, index: At, span: Span, now: Instant) -> BigDecimal {
        let of = &self.subscriptions[index];
        let usage = self.usage_cost(of, &self.visible(of.customer), span);
        usage.unwrap_or_default() + of.fees(span, now).unwrap_or_default()
    }

    /// The figures that alerts may watch, in the billing periods of late.
    pub(super) fn figures(&self, customer: At, now: Instant) -> BTreeMap<Place, BigDecimal> {
        let visible = self.visible(customer);
        let mut figures = BTreeMap::new();
        let own = self.subscriptions.iter().enumerate().filter(|(_, of)| of.customer == customer);
        for (index, subscription) in own {
            let late = |(_, until): &Span| now - 45 * MICROS_PER_DAY < *until;
            let soon = |(from, _): &Span| *from <= now + MICROS_PER_DAY;
            for span in subscription.periods().take_while(soon).filter(late) {
                for gauge in self.gauges() {
                    let figure = match gauge {
                        Gauge::Metric(metric) => self.figure(&visible, metric, span),
                        // The fee counts once it has fallen due.
                        Gauge::Cost => {
                            let usage = self.usage_cost(subscription, &visible, span);
                            [usage, subscription.fees(span, now)]
                                .into_iter()
                                .flatten()
                                .reduce(|sum, cost| sum + cost)
                        }
                    };
                    figures.extend(figure.map(|figure| ((index, span.0, gauge), figure)));
                }
            }
        }
        figures
    }

    /// The usage of a subscription in its current period, by metric.
    pub(in crate::sim) fn usage(&self, index: At, now: Instant) -> (Span, Vec<Option<BigDecimal>>) {
        let subscription = &self.subscriptions[index];
        let (span, visible) = (subscription.current(now), self.visible(subscription.customer));
        let figure = |metric: At| {
            let figure = self.figure(&visible, metric, span);
            figure.or_else(|| self.metrics[metric].1.figure_without_events())
        };
        (span, (0..self.metrics.len()).map(figure).collect())
    }

    /// What the events of a customer have drawn of its credits.
    pub(in crate::sim) fn drawn(&self, customer: At) -> i64 {
        if !self.customers[customer].has_ledger {
            return 0;
        }
        let own = self.subscriptions.iter().filter(|of| of.customer == customer);
        let visible = self.visible(customer);
        let count = own.map(|of| {
            let end = of.end.unwrap_or(Instant::MAX);
            let within = visible.iter().filter(|event| of.start <= event.at && event.at < end);
            within.filter(|event| of.offer(event.at).draws).count()
        });
        CREDITS_PER_EVENT * i64::try_from(count.sum::<usize>()).unwrap()
    }
}
