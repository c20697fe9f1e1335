use std::collections::BTreeMap;

use bigdecimal::{BigDecimal, RoundingMode};

use super::{CREDITS_PER_EVENT, FEE, Gauge, Place, Subscription, Tenant};
use crate::model::{At, Event, Instant, MICROS_PER_DAY, months_after};

/// A billing period.
pub(in crate::sim) type Span = (Instant, Instant);

impl Subscription {
    /// The billing periods in order: months from its start, cut where it ends.
    fn periods(&self) -> impl Iterator<Item = Span> {
        let Self { start, end, .. } = *self;
        let end = end.unwrap_or(Instant::MAX);
        let period = move |month| (months_after(start, month), months_after(start, month + 1));
        let periods = (0..).map(period).take_while(move |(from, _)| *from < end);
        periods.map(move |(from, until)| (from, until.min(end)))
    }

    pub(super) fn period(&self, at: Instant) -> Option<Span> {
        let mut periods = self.periods().take_while(|(from, _)| *from <= at);
        periods.find(|(_, until)| at < *until)
    }

    /// What the fee comes to in a billing period: a part of it where that is cut short, by days, of which one
    /// that has begun counts.
    pub(in crate::sim) fn fee(&self, (from, until): Span) -> BigDecimal {
        let whole = (0..).map(|month| months_after(self.start, month)).find(|end| from < *end);
        let whole = whole.unwrap_or(until).div_euclid(MICROS_PER_DAY);
        let from = from.div_euclid(MICROS_PER_DAY);
        let used = (until - 1).div_euclid(MICROS_PER_DAY) + 1 - from;
        let whole = whole - from;
        let part = BigDecimal::from(FEE * used.min(whole)) / BigDecimal::from(whole);
        part.with_scale_round(2, RoundingMode::HalfUp)
    }

    /// When something of it fell due by an instant: the fee where it begins, and at the end of each billing
    /// period.
    pub(in crate::sim) fn boundaries(&self, now: Instant) -> Vec<Instant> {
        let ends = self.periods().map(|(_, until)| until);
        [self.start].into_iter().chain(ends).take_while(|at| *at <= now).collect()
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

    pub(super) fn figure(
        &self,
        visible: &[&Event],
        gauge: Gauge,
        span: Span,
    ) -> Option<BigDecimal> {
        let within =
            visible.iter().copied().filter(|event| span.0 <= event.at && event.at < span.1);
        match gauge {
            Gauge::Metric(metric) => self.metrics[metric].1.figure(within),
            Gauge::Cost => self.metrics[0].1.figure(within).map(|sum| sum / 2),
        }
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
                    let mut figure = self.figure(&visible, gauge, span);
                    // The fee counts once it has fallen due.
                    if gauge == Gauge::Cost && span.0 <= now {
                        figure = Some(figure.unwrap_or_default() + subscription.fee(span));
                    }
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
            let figure = self.figure(&visible, Gauge::Metric(metric), span);
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
            visible.iter().filter(|event| of.start <= event.at && event.at < end).count()
        });
        CREDITS_PER_EVENT * i64::try_from(count.sum::<usize>()).unwrap()
    }
}
