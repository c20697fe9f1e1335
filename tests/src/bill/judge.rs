//! Alerts, judged event by event and instant by instant.

use std::collections::BTreeSet;

use accrue::subscription::Subscription;
use bigdecimal::{BigDecimal, Zero as _};

use super::{
    ActiveSubscriptions, Alert, At, Biller, Body, Cause, Condition, Instant, Message, Scope, Span,
    fees::Due, groups::Figures,
};
use crate::model::{AHEAD, Event, GRACE};

/// Figures before and after something.
type Change = (Figures, Figures);

/// The figure of what has no groups.
fn whole(value: Option<BigDecimal>) -> Figures {
    value.into_iter().map(|value| (Vec::new(), value)).collect()
}

// Time.

impl Biller {
    /// Moves the clock, and tells what comes due for each subscription on the way.
    pub(crate) fn advance_to(&mut self, now: Instant) {
        self.now = now;
        for life in 0..self.lives.len() {
            for at in self.turns(life, now) {
                let of = &self.lives[life];
                let (start, end) = (of.start(), of.end());
                if start == at && end != Some(at) {
                    self.tell(at, life, Body::Started);
                }
                if end == Some(at) {
                    self.tell(at, life, Body::Ended);
                }
                self.turn(life, at);
            }
            self.lives[life].told = now;
        }
    }

    /// The instants that have come since time was told, at which a period begins or ends.
    fn turns(&self, life: At, now: Instant) -> BTreeSet<Instant> {
        let of = &self.lives[life];
        let mut found: BTreeSet<_> = [Some(of.start()), of.end()].into_iter().flatten().collect();
        let cycles = self.plans[of.plan].iter().filter_map(|price| price.cadence.cycle());
        let around = super::instant(of.told.min(now))..super::instant(now + 1);
        let around = accrue::Timeframe::new(around.start, around.end).unwrap();
        for cycle in cycles.chain([of.core.billing_cycle()]) {
            for period in of.core.periods_of(cycle).overlapping(around) {
                found.extend([period.start().micros(), period.end().micros()]);
            }
        }
        let end = of.end().unwrap_or(i64::MAX);
        let changes = of.changes.iter().flat_map(|changes| changes.range(of.start()..end));
        found.extend(changes.map(|(at, _)| *at));
        found.retain(|at| of.told < *at && *at <= now);
        found
    }

    /// Judges what an instant brings to the period that it ends, and to the one that holds it.
    fn turn(&mut self, life: At, at: Instant) {
        let of = &self.lives[life];
        for period in [of.period_until(at), of.period(at)].into_iter().flatten() {
            for alert in self.watching(life) {
                let value = |until| self.value(&self.lives[life], alert, period, until);
                let change = (value(at - 1), value(at));
                self.judge(at, alert, life, period, change, Cause::Period(at));
            }
        }
    }
}

// What callers do.

impl Biller {
    pub(crate) fn accept(&mut self, event: Event) {
        let lives = 0..self.lives.len();
        let (at, key) = (event.at, event.key.clone());
        let of_customer = lives.filter(|life| self.lives[*life].customer == event.customer);
        let moved = of_customer.flat_map(|life| {
            let periods = self.lives[life].judged_from(at, self.now);
            periods.into_iter().map(move |period| (life, period))
        });
        let with_alerts: Vec<_> =
            moved.map(|(life, period)| (life, period, self.values(life, period))).collect();
        self.events.push(event);
        for of_groups in [false, true] {
            for (life, period, before) in with_alerts.clone() {
                let after = self.values(life, period);
                for ((alert, before), (_, after)) in before.into_iter().zip(after) {
                    if self.alerts[alert].condition.is_on_groups() == of_groups {
                        let cause = Cause::Event(key.clone(), at);
                        self.judge(self.now, alert, life, period, (before, after), cause);
                    }
                }
            }
        }
    }

    pub(super) fn subscribe(
        &mut self,
        customer: At,
        plan: At,
        core: Subscription,
        quantities: Vec<Option<BigDecimal>>,
    ) {
        let (life, now) = (self.lives.len(), self.now);
        let changes = vec![Default::default(); quantities.len()];
        let of = ActiveSubscriptions { customer, plan, core, quantities, changes, told: now };
        let (start, end) = (of.start(), of.end());
        self.lives.push(of);
        self.tell(now, life, Body::Created);
        if start <= now {
            self.tell(now, life, Body::Started);
        }
        if end.is_some_and(|end| end <= now) {
            self.tell(now, life, Body::Ended);
        }
        self.judge_life(life);
    }

    pub(super) fn cancel(&mut self, life: At, core: Subscription) {
        let now = self.now;
        let before = self.lives[life].clone();
        self.lives[life].core = core;
        let end = self.lives[life].end().unwrap();
        match end <= now {
            true => self.tell(now, life, Body::Ended),
            false => self.tell(now, life, Body::CancellationScheduled(end)),
        }
        self.judge_change(life, &before);
    }

    pub(super) fn unschedule(&mut self, life: At, core: Subscription) {
        let before = self.lives[life].clone();
        self.lives[life].core = core;
        self.tell(self.now, life, Body::CancellationUnscheduled(before.end().unwrap()));
        self.judge_change(life, &before);
    }

    pub(super) fn change_quantity(
        &mut self,
        life: At,
        core: Subscription,
        (price, at, new): (At, Instant, BigDecimal),
    ) {
        let now = self.now;
        let before = self.lives[life].clone();
        let old = self.quantity_at(&before, price, at);
        if old == new {
            assert_eq!(core, before.core);
            return;
        }
        self.lives[life].core = core;
        self.lives[life].changes[price].insert(at, new.clone());
        self.tell(now, life, Body::QuantityUpdated { price, at, new, old });
        if at <= now {
            self.judge_change(life, &before);
        }
    }

    /// Judges what a change of a subscription brings now.
    fn judge_change(&mut self, life: At, before: &ActiveSubscriptions) {
        let now = self.now;
        let end = self.lives[life].end().unwrap_or(i64::MAX);
        let mut periods = self.soon(life);
        if end <= now {
            periods.extend(self.lives[life].period_until(end));
        }
        for (alert, period) in self.in_order(&self.own_first(life), periods) {
            let earlier = before.period(period.0);
            let earlier = earlier.map(|period| self.value(before, alert, period, now));
            let value = self.value(&self.lives[life], alert, period, now);
            let change = (earlier.unwrap_or_default(), value);
            self.judge(now, alert, life, period, change, Cause::Subscription);
        }
    }

    /// Judges all alerts of a new subscription.
    fn judge_life(&mut self, life: At) {
        self.judge_at_once(&self.own_first(life), life, &Cause::Subscription);
    }

    /// Judges what a correction has changed within a span, of some customers: in the current billing
    /// period, and in the one before as long as its events are taken.
    pub(crate) fn correct(
        &mut self,
        before: &Self,
        concerns: impl Fn(At) -> bool,
        within: Span,
        cause: &Cause,
    ) {
        let now = self.now;
        for life in 0..self.lives.len() {
            let of = self.lives[life].clone();
            let oldest = of.oldest_judged(now);
            // A price's period may go on behind the span.
            let reach = (within.0, within.1.max(now + AHEAD + 1));
            let mut periods = of.periods(reach);
            periods.retain(|period| {
                concerns(of.customer) && oldest <= period.0 && now - GRACE < period.1
            });
            for (alert, period) in self.in_order(&self.own_first(life), periods) {
                let earlier = before.value(&of, alert, period, now);
                let value = self.value(&of, alert, period, now);
                self.judge(now, alert, life, period, (earlier, value), cause.clone());
            }
        }
    }

    /// The alerts that watch a subscription: those on usage first, its own before its plan's.
    fn own_first(&self, life: At) -> Vec<At> {
        let mut watching = self.watching(life);
        watching.sort_by_key(|alert| {
            let of = &self.alerts[*alert];
            let is_on_cost = !matches!(of.condition, Condition::Usage(_));
            let is_on_groups = of.condition.is_on_groups();
            (is_on_cost, is_on_groups, matches!(of.scope, Scope::Plan(_)), *alert)
        });
        watching
    }

    /// Alerts in periods, in the order in which they are judged: those on groups behind all others.
    fn in_order(&self, alerts: &[At], periods: impl IntoIterator<Item = Span>) -> Vec<(At, Span)> {
        let periods: Vec<_> = periods.into_iter().collect();
        let mut all = Vec::new();
        for of_groups in [false, true] {
            for period in &periods {
                let is_of =
                    |alert: &&At| self.alerts[**alert].condition.is_on_groups() == of_groups;
                all.extend(alerts.iter().filter(is_of).map(|alert| (*alert, *period)));
            }
        }
        all
    }

    /// The billing period that holds now, and one that begins so soon that its events are taken.
    fn soon(&self, life: At) -> BTreeSet<Span> {
        let soon = super::instant(self.now)..super::instant(self.now + AHEAD + 1);
        let soon = accrue::Timeframe::new(soon.start, soon.end).unwrap();
        self.lives[life].core.periods().overlapping(soon).map(super::span).collect()
    }

    /// Judges an alert that was created, enabled or changed, for everyone whom it watches.
    pub(super) fn configured(&mut self, alert: At) {
        for life in 0..self.lives.len() {
            if self.watching(life).contains(&alert) {
                self.judge_at_once(&[alert], life, &Cause::Configuration);
            }
        }
    }
}

// Judging.

impl Biller {
    /// The alerts that watch a subscription now, in the order in which they are judged.
    fn watching(&self, life: At) -> Vec<At> {
        let reaches = |alert: &Alert| match alert.scope {
            Scope::Subscription(of) => of == life,
            Scope::Plan(of) => of == self.lives[life].plan,
        };
        let all = self.alerts.iter().enumerate();
        let mut watching: Vec<_> =
            all.filter(|(_, alert)| alert.enabled && reaches(alert)).collect();
        watching.sort_by_key(|(index, alert)| {
            let is_of_plan = matches!(alert.scope, Scope::Plan(_));
            match alert.condition {
                Condition::Usage(metric) => (0, metric, is_of_plan, *index),
                Condition::Groups(..) => (2, 0, is_of_plan, *index),
                _ => (1, 0, is_of_plan, *index),
            }
        });
        watching.into_iter().map(|(index, _)| index).collect()
    }

    fn values(&self, life: At, period: Span) -> Vec<(At, Figures)> {
        let value = |alert| (alert, self.value(&self.lives[life], alert, period, self.now));
        self.watching(life).into_iter().map(value).collect()
    }

    /// What a billing period has come to until an instant; none before the first event or fee.
    fn value(&self, of: &ActiveSubscriptions, alert: At, period: Span, until: Instant) -> Figures {
        let (unit, filters) = match &self.alerts[alert].condition {
            Condition::Usage(metric) => {
                return whole(self.metrics[*metric].figure(self.events_of(of.customer, period)));
            }
            Condition::Groups(keys, unit, filters) => {
                return self.groups(of, period, (keys, unit, filters));
            }
            Condition::Cost(unit) => (unit, None),
            Condition::Spend(unit, filters) => (unit, Some(filters)),
        };
        let mut value = None;
        for (index, price) in self.plans[of.plan].iter().enumerate() {
            let passes =
                filters.is_none_or(|all| all.iter().all(|filter| filter.passes(index, price)));
            let Some(worth) = price.worth_in(unit).filter(|_| passes) else { continue };
            let counts = |due: &Due| due.at <= until && !(due.is_top_up && filters.is_some());
            let due = self.fees(of, index, period).into_iter().filter(counts);
            let mut parts: Vec<_> =
                due.map(|due| (due.amounts.subtotal, due.amounts.total)).collect();
            parts.extend(self.used(of, price, period).map(|used| (used.subtotal, used.total)));
            // What a minimum adds is owed, and no spend.
            let top_ups = self.top_ups(of, price, period).into_iter();
            let top_ups = top_ups.filter(|(at, _)| filters.is_none() && *at <= until);
            parts.extend(top_ups.map(|(_, top_up)| (BigDecimal::zero(), top_up)));
            for (subtotal, total) in parts {
                let part = if filters.is_some() { subtotal } else { total };
                value = Some(value.unwrap_or_default() + part * &worth);
            }
        }
        whole(value)
    }

    /// Judges alerts on the values that there are now: in the period that holds now, and in one that
    /// begins so soon that its events are taken already.
    fn judge_at_once(&mut self, alerts: &[At], life: At, cause: &Cause) {
        let now = self.now;
        for (alert, period) in self.in_order(alerts, self.soon(life)) {
            let value = self.value(&self.lives[life], alert, period, now);
            let known = self.messages.len();
            self.judge(now, alert, life, period, (Figures::new(), value), cause.clone());
            for message in &mut self.messages[known..] {
                match &mut message.body {
                    Body::Exceeded { before, after, .. } => *before = Some(after.clone()),
                    Body::GroupsExceeded { groups, .. } => {
                        groups.iter_mut().for_each(|of| of.before = Some(of.after.clone()));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Fires what a change of the value crosses and has not fired in the period.
    fn judge(
        &mut self,
        at: Instant,
        alert: At,
        life: At,
        period: Span,
        (before, after): Change,
        cause: Cause,
    ) {
        if self.alerts[alert].condition.is_on_groups() {
            let groups = self.cross_groups(alert, life, period, (&before, after));
            if !groups.is_empty() {
                self.tell(at, life, Body::GroupsExceeded { alert, groups, period, cause });
            }
            return;
        }
        let [before, after] = [before, after].map(|of| of.into_values().next());
        let Some(after) = after else { return };
        let place = (alert, life, period.0);
        let known = &self.alerts[alert].thresholds;
        let thresholds = self.fired.cross(place, known, before.as_ref(), &after);
        if !thresholds.is_empty() {
            let body = Body::Exceeded { alert, before, after, thresholds, period, cause };
            self.tell(at, life, body);
        }
    }

    fn tell(&mut self, at: Instant, subscription: At, body: Body) {
        self.messages.push(Message { at, subscription, body });
    }
}
