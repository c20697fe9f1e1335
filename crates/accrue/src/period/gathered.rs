use std::sync::Arc;

use super::{BillingPeriod, Periods};
use crate::{
    Timestamp,
    alert::Alert,
    credit::DrawDown,
    usage::{Amount, Reading, Sums},
};

/// Events that billing periods take together, where that is the same as one by one: what alerts watch
/// only rises, and comes to no threshold.
#[derive(Debug)]
pub(crate) struct Gathered<'p> {
    periods: &'p Periods,
    /// What the events add to each state, in their order; none where they are to be taken one by one.
    sums: Option<Vec<Sums>>,
}

impl<'p> Gathered<'p> {
    /// Begins without an event.
    pub(crate) fn new(periods: &'p Periods) -> Self {
        let sums = || periods.states.values().map(|_| Sums::default()).collect();
        Self { periods, sums: costs_follow_usage(periods).then(sums) }
    }

    /// Adds an event.
    pub(crate) fn add(&mut self, at: Timestamp, readings: &[Reading]) {
        let Self { periods, sums: Some(sums) } = self else { return };
        let counts = |of: &&Reading| periods.counts(of);
        for (state, sums) in periods.states.values().zip(sums) {
            if !state.timeframe.contains(at) {
                continue;
            }
            sums.begin_event();
            for reading in readings.iter().filter(counts) {
                match &reading.amount {
                    Amount::Plain(amount) => sums.add(reading.place(), amount),
                    // Whether it is new depends on the events before it.
                    Amount::Distinct(_) => {
                        self.sums = None;
                        return;
                    }
                }
            }
        }
    }

    /// Returns the periods with all events, rated as of an instant, and what the events draw from
    /// credits, none of it below zero; none where they are to be taken one by one.
    pub(crate) fn taken(self, now: Timestamp) -> Option<(Periods, Vec<DrawDown>)> {
        let Self { periods: before, sums } = self;
        let sums = sums?;
        let card = before.card().filter(|_| before.are_rated()).map(Arc::clone);
        if card.is_some() && !sums.iter().all(Sums::only_rise) {
            return None;
        }
        let mut after = before.clone();
        for (state, sums) in after.states.values_mut().zip(&sums) {
            state.add_all(sums);
        }
        if let Some(card) = card {
            after.rate(&card, now);
        }
        let rises = |alert: &Alert| {
            let watched = alert.condition.metric_id();
            watched.is_none_or(|id| sums.iter().all(|sums| sums.rises(before.watched_cell(id))))
        };
        let judged = || before.billing.iter().enumerate().filter(|(_, of)| of.is_judged);
        let is_quiet = |alert: &Alert| {
            rises(alert)
                && judged().all(|(index, billing)| {
                    let [before, after] = [before, &after].map(|of| of.value(index, alert));
                    after.is_none_or(|after| !billing.would_fire(alert, before.as_ref(), &after))
                })
        };
        let mut of_values = before.alerts.iter().filter(|of| !of.condition.is_on_groups());
        if !of_values.all(is_quiet) {
            return None;
        }
        let places = sums.iter().flat_map(Sums::iter).map(|(place, _)| place);
        let groups = before.watched_groups.groups_of(places);
        if !after.groups_are_quiet(before, &groups) {
            return None;
        }
        if after.evaluated().is_some_and(|(of, evaluated)| of.is_reached(&evaluated)) {
            return None;
        }
        let draw_downs = after.draw_downs_since(before);
        Some((after, draw_downs))
    }
}

/// Tells whether costs that somebody asks for only rise where usage does.
///
/// A billing period pays the difference that it makes to a price's period which began before it. What is
/// used before it moves both sides of that: the difference may fall.
fn costs_follow_usage(periods: &Periods) -> bool {
    let Some(card) = periods.card().filter(|_| periods.are_rated()) else { return true };
    let is_difference = |billing: &BillingPeriod| {
        let start = billing.timeframe.start();
        let mut states = periods.states.values().map(|state| state.timeframe);
        states.any(|of| of.start() < start && start < of.end())
    };
    card.only_rises()
        && (!periods.are_costs_watched() || !periods.billing.iter().any(is_difference))
}
