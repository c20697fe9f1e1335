//! A naive model of metering and alerts: it keeps everything that was accepted, and computes each
//! figure from scratch. It shares no code with the engine but the names of things.

mod calendar;
mod fired;
mod metric;

use std::collections::BTreeSet;

use bigdecimal::BigDecimal;

pub use self::{
    calendar::{MICROS_PER_DAY, months_after},
    fired::Fired,
    metric::{Condition, Field, Function, MetricSpec, Operator, Value},
};

/// Microseconds since 1970.
pub type Instant = i64;
/// A place in one of the lists of the model.
pub type At = usize;

/// How far back and ahead of now events are taken.
pub const GRACE: i64 = MICROS_PER_DAY;
/// How far ahead of now events are taken.
pub const AHEAD: i64 = 300_000_000;

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub now: Instant,
    pub customers: Vec<Customer>,
    pub metrics: Vec<Metric>,
    pub events: Vec<Event>,
    pub subscriptions: Vec<Subscription>,
    pub alerts: Vec<Alert>,
    pub messages: Vec<Message>,
    fired: Fired,
    steps: u64,
}

/// A customer; its events may come before it exists.
#[derive(Clone, Debug, Default)]
pub struct Customer {
    pub exists: bool,
}

/// A metric: it counts what was accepted before it too.
#[derive(Clone, Debug)]
pub struct Metric {
    pub spec: MetricSpec,
}

/// An event that was accepted, and when in the order of acceptance it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub customer: At,
    pub key: String,
    pub name: &'static str,
    pub at: Instant,
    pub properties: Vec<(&'static str, Value)>,
    step: u64,
}

impl Event {
    #[must_use]
    pub fn new(
        customer: At,
        key: String,
        name: &'static str,
        at: Instant,
        properties: Vec<(&'static str, Value)>,
    ) -> Self {
        Self { customer, key, name, at, properties, step: 0 }
    }
}

/// A subscription: start <= its usage < end.
#[derive(Clone, Debug)]
pub struct Subscription {
    pub customer: At,
    pub plan: At,
    pub start: Instant,
    pub end: Option<Instant>,
    told_start: bool,
    told_end: bool,
}

/// An alert on a metric.
#[derive(Clone, Debug)]
pub struct Alert {
    pub scope: Scope,
    pub metric: At,
    pub thresholds: Vec<BigDecimal>,
    pub enabled: bool,
    pub deleted: bool,
    /// The subscriptions that it is disabled for alone.
    pub muted: BTreeSet<At>,
}

/// What an alert is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Subscription(At),
    Plan(At),
}

/// A message about a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub at: Instant,
    pub subscription: At,
    pub body: Body,
}

/// What it says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Created,
    Started,
    Ended,
    CancellationScheduled(Instant),
    Exceeded {
        alert: At,
        before: Option<BigDecimal>,
        after: BigDecimal,
        threshold: BigDecimal,
        thresholds: Vec<BigDecimal>,
        period: (Instant, Instant),
        cause: Cause,
    },
}

/// What made an alert fire.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    Event(String, Instant),
    Configuration,
    Subscription,
}

/// What becomes of an event that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    New,
    Duplicate,
    Refused,
}

// Time.

impl Model {
    #[must_use]
    pub fn at(now: Instant) -> Self {
        Self { now, ..Self::default() }
    }

    /// Moves the clock: subscriptions start and end.
    pub fn advance_to(&mut self, now: Instant) {
        self.now = now;
        self.tell_lives();
    }

    /// Says what lives began and ended up to now, in the order in which they did.
    fn tell_lives(&mut self) {
        let mut due = Vec::new();
        for (index, subscription) in self.subscriptions.iter_mut().enumerate() {
            let Subscription { start, end, .. } = *subscription;
            let never_begins = end.is_some_and(|end| end <= start);
            if !subscription.told_start && start <= self.now {
                subscription.told_start = true;
                if !never_begins {
                    due.push(Message { at: start, subscription: index, body: Body::Started });
                }
            }
            if !subscription.told_end && end.is_some_and(|end| end <= self.now) {
                subscription.told_end = true;
                subscription.told_start = true;
                let at = end.unwrap();
                due.push(Message { at, subscription: index, body: Body::Ended });
            }
        }
        due.sort_by_key(|message| message.at);
        self.messages.extend(due);
    }
}

// Figures.

impl Model {
    /// The billing period of a subscription that holds an instant: calendar months from its start.
    #[must_use]
    pub fn period(&self, subscription: At, at: Instant) -> Option<(Instant, Instant)> {
        let Subscription { start, end, .. } = self.subscriptions[subscription];
        let end = end.unwrap_or(i64::MAX);
        if at < start || at >= end {
            return None;
        }
        (0..).find_map(|month| {
            let next = months_after(start, month + 1);
            (at < next).then(|| (months_after(start, month), next.min(end)))
        })
    }

    /// What the first so many events add up to; none where none contributes.
    #[must_use]
    fn figure_of(
        &self,
        events: usize,
        metric: At,
        customer: At,
        (from, until): (Instant, Instant),
    ) -> Option<BigDecimal> {
        let Metric { spec } = &self.metrics[metric];
        let counted = self.events[..events]
            .iter()
            .filter(|event| event.customer == customer && from <= event.at && event.at < until);
        spec.figure(counted)
    }

    /// What all events add up to within a timeframe; zero or none where none contributes.
    #[must_use]
    pub fn usage_between(
        &self,
        metric: At,
        customer: At,
        timeframe: (Instant, Instant),
    ) -> Option<BigDecimal> {
        let figure = self.figure_of(self.events.len(), metric, customer, timeframe);
        figure.or_else(|| self.metrics[metric].spec.figure_without_events())
    }

    /// The usage of a subscription in its current period, its first or its last one, by metric.
    #[must_use]
    pub fn usage(&self, subscription: At) -> ((Instant, Instant), Vec<Option<BigDecimal>>) {
        let Subscription { customer, start, end, .. } = self.subscriptions[subscription];
        let at = self.now.max(start).min(end.unwrap_or(i64::MAX).saturating_sub(1));
        let period = self.period(subscription, at).unwrap_or((start, start));
        let metrics = 0..self.metrics.len();
        (period, metrics.map(|metric| self.usage_between(metric, customer, period)).collect())
    }
}

// What callers do.

impl Model {
    pub fn create_metric(&mut self, spec: MetricSpec) {
        self.metrics.push(Metric { spec });
    }

    /// Says what becomes of an event, by what was accepted before.
    #[must_use]
    pub fn fate(&self, event: &Event, earlier_in_batch: &[Event]) -> Fate {
        let mut known = self.events.iter().chain(earlier_in_batch);
        let known = known.find(|known| known.key == event.key);
        match known {
            Some(known) if *known == (Event { step: known.step, ..event.clone() }) => {
                Fate::Duplicate
            }
            Some(_) => Fate::Refused,
            None if event.at < self.now - GRACE || event.at > self.now + AHEAD => Fate::Refused,
            None => Fate::New,
        }
    }

    /// Accepts a new event: alerts are judged right before and right after it.
    pub fn accept(&mut self, mut event: Event) {
        self.steps += 1;
        event.step = self.steps;
        let (at, customer, key) = (event.at, event.customer, event.key.clone());
        self.events.push(event);
        for subscription in 0..self.subscriptions.len() {
            if self.subscriptions[subscription].customer != customer {
                continue;
            }
            let Some(period) = self.period(subscription, at) else { continue };
            for alert in self.watching(subscription) {
                let metric = self.alerts[alert].metric;
                let count = self.events.len();
                let before = self.figure_of(count - 1, metric, customer, period);
                let after = self.figure_of(count, metric, customer, period);
                let cause = Cause::Event(key.clone(), at);
                self.judge(alert, subscription, period, before, after, cause);
            }
        }
    }

    /// Creates a subscription. Usage that is there already counts.
    pub fn subscribe(&mut self, customer: At, plan: At, start: Instant, end: Option<Instant>) {
        let subscription = self.subscriptions.len();
        let (told_start, told_end) = (start <= self.now, end.is_some_and(|end| end <= self.now));
        self.subscriptions.push(Subscription { customer, plan, start, end, told_start, told_end });
        self.tell(subscription, Body::Created);
        if told_start {
            self.tell(subscription, Body::Started);
        }
        if told_end {
            self.tell(subscription, Body::Ended);
        }
        let mut watching = self.watching(subscription);
        watching.sort_unstable();
        self.judge_at_once(&watching, subscription, &Cause::Subscription);
    }

    /// Ends a subscription now or later.
    pub fn cancel(&mut self, subscription: At, end: Instant) {
        let before = self.subscriptions[subscription].end.replace(end);
        if end <= self.now {
            self.subscriptions[subscription].told_end = true;
            self.tell(subscription, Body::Ended);
        } else {
            self.tell(subscription, Body::CancellationScheduled(end));
        }
        // An end that moves lets usage in or out, also of the period that ends now.
        let mut periods = self.soon(subscription);
        periods.extend(self.period(subscription, end - 1).filter(|_| end <= self.now));
        let mut watching = self.watching(subscription);
        watching.sort_by_key(|alert| matches!(self.alerts[*alert].scope, Scope::Plan(_)));
        for period in periods {
            for alert in &watching {
                let figure = |model: &Self| {
                    let period = model.period(subscription, period.0)?;
                    let of = &model.subscriptions[subscription];
                    let metric = model.alerts[*alert].metric;
                    model.figure_of(model.events.len(), metric, of.customer, period)
                };
                let after = figure(self);
                self.subscriptions[subscription].end = before;
                let earlier = figure(self);
                self.subscriptions[subscription].end = Some(end);
                let cause = Cause::Subscription;
                self.judge(*alert, subscription, period, earlier, after, cause);
            }
        }
    }

    pub fn create_alert(&mut self, scope: Scope, metric: At, thresholds: Vec<BigDecimal>) {
        let alert = self.alerts.len();
        let (enabled, deleted, muted) = (true, false, BTreeSet::new());
        self.alerts.push(Alert { scope, metric, thresholds, enabled, deleted, muted });
        self.configured(alert);
    }

    pub fn set_thresholds(&mut self, alert: At, thresholds: Vec<BigDecimal>) {
        if self.alerts[alert].thresholds != thresholds {
            self.alerts[alert].thresholds = thresholds;
            self.configured(alert);
        }
    }

    pub fn enable(&mut self, alert: At) {
        if !self.alerts[alert].enabled {
            self.alerts[alert].enabled = true;
            self.configured(alert);
        }
    }

    pub fn disable(&mut self, alert: At) {
        self.alerts[alert].enabled = false;
    }

    /// Enables a plan's alert for one of its subscriptions.
    pub fn enable_for(&mut self, alert: At, subscription: At) {
        if self.alerts[alert].muted.remove(&subscription) {
            self.judge_at_once(&[alert], subscription, &Cause::Configuration);
        }
    }

    pub fn disable_for(&mut self, alert: At, subscription: At) {
        self.alerts[alert].muted.insert(subscription);
    }

    pub fn delete_alert(&mut self, alert: At) {
        self.alerts[alert].deleted = true;
    }
}

// Alerts.

impl Model {
    /// Tells whether an alert is on a subscription, enabled or not.
    #[must_use]
    pub fn reaches(&self, alert: At, subscription: At) -> bool {
        !self.alerts[alert].deleted
            && match self.alerts[alert].scope {
                Scope::Subscription(of) => of == subscription,
                Scope::Plan(of) => of == self.subscriptions[subscription].plan,
            }
    }

    /// The alerts that watch a subscription now: by metric, its own before its plan's.
    fn watching(&self, subscription: At) -> Vec<At> {
        let all = 0..self.alerts.len();
        let mut watching: Vec<At> = all
            .filter(|alert| self.reaches(*alert, subscription))
            .filter(|alert| self.alerts[*alert].enabled)
            .filter(|alert| !self.alerts[*alert].muted.contains(&subscription))
            .collect();
        watching.sort_by_key(|alert| {
            let Alert { metric, scope, .. } = self.alerts[*alert];
            (metric, matches!(scope, Scope::Plan(_)), *alert)
        });
        watching
    }

    /// Judges an alert that was created, enabled or changed, for everyone whom it watches.
    fn configured(&mut self, alert: At) {
        for subscription in 0..self.subscriptions.len() {
            self.judge_at_once(&[alert], subscription, &Cause::Configuration);
        }
    }

    /// Judges alerts on the values that there are now: in the period that holds now, and in one that
    /// begins so soon that its events are taken already.
    fn judge_at_once(&mut self, alerts: &[At], subscription: At, cause: &Cause) {
        for period in self.soon(subscription) {
            for alert in alerts {
                if self.watching(subscription).contains(alert) {
                    self.judge_value(*alert, subscription, period, cause.clone());
                }
            }
        }
    }

    /// The billing period that holds now, and those that begin so soon that their events are taken.
    fn soon(&self, subscription: At) -> Vec<(Instant, Instant)> {
        let start = self.subscriptions[subscription].start;
        let first = self.period(subscription, self.now.max(start));
        let next = |period: &(Instant, Instant)| self.period(subscription, period.1);
        let periods = std::iter::successors(first, next);
        periods.take_while(|(start, _)| *start <= self.now + AHEAD).collect()
    }

    fn judge_value(
        &mut self,
        alert: At,
        subscription: At,
        period: (Instant, Instant),
        cause: Cause,
    ) {
        let customer = self.subscriptions[subscription].customer;
        let metric = self.alerts[alert].metric;
        let value = self.figure_of(self.events.len(), metric, customer, period);
        let fired_before = self.messages.len();
        self.judge(alert, subscription, period, None, value.clone(), cause);
        for message in &mut self.messages[fired_before..] {
            if let Body::Exceeded { before, .. } = &mut message.body {
                before.clone_from(&value);
            }
        }
    }

    /// Fires what a change of the value crosses and has not fired in the period.
    fn judge(
        &mut self,
        alert: At,
        subscription: At,
        period: (Instant, Instant),
        before: Option<BigDecimal>,
        after: Option<BigDecimal>,
        cause: Cause,
    ) {
        let Some(after) = after else { return };
        let place = (alert, subscription, period.0);
        let thresholds = &self.alerts[alert].thresholds;
        let crossed = self.fired.cross(place, thresholds, before.as_ref(), &after);
        let Some(threshold) = crossed.last().cloned() else { return };
        let thresholds = crossed;
        let body = Body::Exceeded { alert, before, after, threshold, thresholds, period, cause };
        self.tell(subscription, body);
    }

    fn tell(&mut self, subscription: At, body: Body) {
        self.messages.push(Message { at: self.now, subscription, body });
    }
}
