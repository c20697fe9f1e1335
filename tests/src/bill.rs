//! A naive biller: it keeps the events that were accepted, and computes every cost, every figure and
//! every message anew from them. Of the core it borrows the billing periods alone, which have an
//! oracle of their own.

mod alerts;
mod bench;
mod changes;
mod checks;
mod costs;
mod days;
mod engine;
mod fees;
mod groups;
mod judge;
mod openings;
mod prices;
mod quantities;
mod script;
mod usage;

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    ops::{Add, AddAssign, Sub},
};

use accrue::{subscription::Subscription, usage::View};
use bigdecimal::BigDecimal;

use self::prices::Share;
pub use self::{
    alerts::{Alert, Body, Cause, Condition, Filter, Group, Message, Named, Override},
    bench::{Bench, Slice, run},
    openings::{Opening, opening},
    prices::{Adjustments, Charge, Discount, Model, Price, Tier},
    script::{
        Ask, GroupSpec, Life, Step, Subscribe, Terms, Timing, When, adding_up, alerts, costs,
    },
};
pub(crate) use self::{
    days::midnights,
    script::{cancel, create_alert, event, subscribe},
};
pub use crate::model::Scope;
use crate::model::{AHEAD, At, Event, Fired, Instant, MICROS_PER_DAY, MetricSpec};

/// Two instants: from the one, up to the other.
pub type Span = (Instant, Instant);

/// Everything that was accepted.
#[derive(Clone, Debug, Default)]
pub struct Biller {
    pub now: Instant,
    pub metrics: Vec<MetricSpec>,
    /// The prices of each plan.
    pub plans: Vec<Vec<Price>>,
    pub events: Vec<Event>,
    pub lives: Vec<ActiveSubscriptions>,
    pub alerts: Vec<Alert>,
    pub messages: Vec<Message>,
    fired: Fired,
    fired_groups: BTreeMap<Vec<String>, Fired>,
}

/// A subscription.
#[derive(Clone, Debug)]
pub struct ActiveSubscriptions {
    pub customer: At,
    pub plan: At,
    /// What the core says of it, for its billing periods.
    pub core: Subscription,
    /// How many of each fee, where that is not the price's own quantity.
    quantities: Vec<Option<BigDecimal>>,
    /// What those were changed to later, and when.
    changes: Vec<BTreeMap<Instant, BigDecimal>>,
    /// Up to when time has been told.
    told: Instant,
}

/// What something comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amounts {
    pub quantity: BigDecimal,
    pub subtotal: BigDecimal,
    pub total: BigDecimal,
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            quantity: self.quantity + other.quantity,
            subtotal: self.subtotal + other.subtotal,
            total: self.total + other.total,
        }
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        *self = std::mem::take(self) + other;
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            quantity: self.quantity - other.quantity,
            subtotal: self.subtotal - other.subtotal,
            total: self.total - other.total,
        }
    }
}

impl ActiveSubscriptions {
    fn start(&self) -> Instant {
        self.core.start_date.micros()
    }

    fn end(&self) -> Option<Instant> {
        self.core.end_date.map(accrue::Timestamp::micros)
    }

    /// The billing period that holds an instant.
    pub(crate) fn period(&self, at: Instant) -> Option<Span> {
        self.core.periods().containing(instant(at)).map(span)
    }

    /// Where the billing period before the current one begins, or before the last one.
    pub(crate) fn oldest_judged(&self, now: Instant) -> Instant {
        let last = self.end().map_or(now, |end| now.min(end - 1));
        let current = self.period(last);
        let earlier = current.and_then(|(start, _)| self.period(start - 1));
        earlier.or(current).map_or(Instant::MIN, |(start, _)| start)
    }

    /// The billing periods that a span overlaps.
    pub(crate) fn periods(&self, (from, until): Span) -> Vec<Span> {
        let within = accrue::Timeframe::new(instant(from), instant(until)).unwrap();
        self.core.periods().overlapping(within).map(span).collect()
    }

    /// The periods of a usage price that a span overlaps.
    pub(crate) fn periods_of(&self, price: &Price, (from, until): Span) -> Vec<Span> {
        let within = accrue::Timeframe::new(instant(from), instant(until)).unwrap();
        let cycle = price.cadence.cycle().unwrap();
        self.core.periods_of(cycle).overlapping(within).map(span).collect()
    }

    /// The billing periods that what happens at an instant can move, of those that alerts are judged on.
    pub(crate) fn judged_from(&self, at: Instant, now: Instant) -> Vec<Span> {
        if self.period(at).is_none() {
            return Vec::new();
        }
        let oldest = self.oldest_judged(now);
        let mut periods = self.periods((at, at.max(now) + AHEAD + 1));
        periods.retain(|(start, _)| oldest <= *start);
        periods
    }

    /// How many of a fee there are just before an instant, where that is not the price's own quantity.
    fn quantity_before(&self, index: At, at: Instant) -> Option<&BigDecimal> {
        let changed = self.changes[index].range(..at).next_back();
        changed.map(|(_, quantity)| quantity).or(self.quantities[index].as_ref())
    }

    /// The billing period that ends at an instant.
    fn period_until(&self, at: Instant) -> Option<Span> {
        self.period(at - 1).filter(|(_, end)| *end == at)
    }

    /// The billing period of now, the first or the last one.
    fn current_period(&self, now: Instant) -> Span {
        let last = self.end().map_or(i64::MAX, |end| (end - 1).max(self.start()));
        self.period(now.max(self.start()).min(last)).unwrap_or((self.start(), self.start()))
    }
}

/// Cuts a span into days of a zone from its start on, as a view asks; the span of each figure.
fn slots(view: View, (from, until): Span, zone: &str) -> Vec<Span> {
    let mut ends: Vec<Instant> = match view {
        View::Whole => Vec::new(),
        _ => days::days_from(zone, (from, until)),
    };
    ends.push(until);
    let mut slots = Vec::new();
    for end in ends {
        let before = slots.last().map_or(from, |(_, end)| *end);
        slots.push((if view == View::Cumulative { from } else { before }, end));
    }
    slots
}

/// Cuts the current billing period, as far as now where it is cut into days; each slot with the span
/// that it is shown as.
fn current_slots(view: View, (from, until): Span, now: Instant, zone: &str) -> Vec<(Span, Span)> {
    let same = |slot: Span| (slot, slot);
    if view == View::Whole || until <= now {
        let slots = if from == until { Vec::new() } else { slots(view, (from, until), zone) };
        return slots.into_iter().map(same).collect();
    }
    match from.cmp(&now) {
        Ordering::Greater => Vec::new(),
        Ordering::Equal => {
            let next = days::days_from(zone, (from, from + 3 * MICROS_PER_DAY))[0];
            vec![same((from, next))]
        }
        Ordering::Less => {
            // What happens now counts, and is not a day of its own.
            let slots = slots(view, (from, now), zone);
            let last = slots.len() - 1;
            let slots = slots.into_iter().enumerate();
            slots.map(|(index, of)| ((of.0, of.1 + i64::from(index == last)), of)).collect()
        }
    }
}

fn instant(micros: Instant) -> accrue::Timestamp {
    crate::host::micros(micros)
}

fn span(timeframe: accrue::Timeframe) -> Span {
    (timeframe.start().micros(), timeframe.end().micros())
}
