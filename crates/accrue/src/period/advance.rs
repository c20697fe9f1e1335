use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use smallvec::SmallVec;

use super::{BillingPeriod, PeriodState, Watches};
use crate::{
    AlertId, Decimal, EventKey, MetricId, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, AlertDisabled, Cause, Crossing, Exceeded, GroupsExceeded, WatchedGroups},
    credit::DrawDown,
    meter::{CellId, InGroup, MeterId, Source, SumId},
    price::GroupSum,
    rating::{PriceMove, RateCard, Running},
    subscription::{PeriodKey, Threshold},
    usage::{Reading, Seen, Total},
};

/// Billing periods of a subscription, with the states of its prices' periods that touch them.
#[derive(Clone, Debug)]
pub(crate) struct Periods {
    pub(crate) subscription_id: SubscriptionId,
    /// Meters whose cells its prices rate.
    pub(crate) meters: Vec<MeterId>,
    /// Alerts that may fire: those on usage first, and those on groups last.
    pub(crate) alerts: Vec<Alert>,
    /// Groups that alerts watch, whether or not they may fire.
    pub(crate) watched_groups: Arc<Watches>,
    /// What is known of them, of each alert and each period in which it watches them, by the start of that.
    pub(crate) groups: BTreeMap<(AlertId, Timestamp), WatchedGroups>,
    /// Currencies and pricing units in which its usage draws credits.
    pub(crate) draws_in: Vec<PricingUnit>,
    pub(crate) states: BTreeMap<PeriodKey, PeriodState>,
    /// Billing periods, oldest first.
    pub(crate) billing: Vec<BillingPeriod>,
    /// Whose usage alerts watch, where that is not the subscriber's alone.
    pub(crate) watched: Option<Source>,
    /// Threshold of what usage may come to before it is invoiced, in one of the billing periods.
    pub(crate) threshold: Option<Threshold>,
    /// Amounts of billing periods, where an alert or a threshold watches them, and of prices' periods, where credits
    /// pay for them.
    rated: BTreeMap<Timeframe, Running>,
}

/// Change of billing periods.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    /// Event that is added; `seen` is as it was before the event.
    Event { at: Timestamp, key: &'a EventKey, readings: &'a [Reading], seen: &'a Seen },
    /// Next state: time has come, terms are others, or usage was summed anew.
    Next { next: Box<Periods>, cause: &'a Cause },
    /// Alerts that are to be judged on values that do not move.
    Watched { cause: &'a Cause },
}

/// Effects of a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// Alerts that fire, in order: those on usage first, then those on cost.
    pub(crate) exceeded: Vec<Exceeded>,
    /// Changes of the cost of usage that credits pay for.
    pub(crate) draw_downs: Vec<DrawDown>,
    /// What usage has come to, where that reaches the threshold.
    pub(crate) reached: Option<Decimal>,
    /// Alerts on groups that fire, behind all others.
    pub(crate) groups_exceeded: Vec<GroupsExceeded>,
    /// Alerts that are disabled, for they would have to watch too many groups.
    pub(crate) disabled: Vec<AlertDisabled>,
}

impl Periods {
    pub(crate) fn new(
        subscription_id: SubscriptionId,
        meters: Vec<MeterId>,
        states: BTreeMap<PeriodKey, PeriodState>,
        billing: Vec<BillingPeriod>,
    ) -> Self {
        Self {
            subscription_id,
            meters,
            alerts: Vec::new(),
            watched_groups: Arc::default(),
            groups: BTreeMap::new(),
            draws_in: Vec::new(),
            states,
            billing,
            watched: None,
            threshold: None,
            rated: BTreeMap::new(),
        }
    }

    /// Says in which billing periods alerts may fire.
    pub(crate) fn judge_only(&mut self, is_judged: impl Fn(Timeframe) -> bool) {
        for billing in &mut self.billing {
            billing.is_judged = is_judged(billing.timeframe);
        }
    }

    /// Tells whether somebody asks what the usage costs.
    pub(crate) fn are_rated(&self) -> bool {
        !self.draws_in.is_empty() || self.are_costs_watched()
    }

    /// Tells whether an alert or a threshold watches what billing periods cost.
    pub(super) fn are_costs_watched(&self) -> bool {
        self.threshold.is_some() || self.alerts.iter().any(|alert| alert.condition.is_rated())
    }

    /// Returns what the usage of the threshold's billing period comes to.
    pub(super) fn evaluated(&self) -> Option<(&Threshold, Decimal)> {
        let threshold = self.threshold.as_ref()?;
        Some((threshold, self.rated.get(&threshold.period)?.usage_cost()))
    }

    /// Returns what usage has come to, where that reaches the threshold: from there on it is counted anew.
    fn reach_threshold(&mut self) -> Option<Decimal> {
        let (threshold, evaluated) = self.evaluated()?;
        if !threshold.is_reached(&evaluated) {
            return None;
        }
        self.threshold.iter_mut().for_each(|of| of.base.clone_from(&evaluated));
        Some(evaluated)
    }

    /// Returns the usage from the start of a period up to an instant.
    pub(crate) fn used(&self, period: Timeframe, to: Timestamp) -> Option<Cow<'_, Total>> {
        used(&self.states, period, to)
    }

    /// Returns what prices make of the groups of one of its states; nothing where nobody asks what usage costs.
    pub(crate) fn group_sums(&self, state: &PeriodState) -> BTreeMap<SumId, GroupSum> {
        let card = self.card();
        card.map(|card| card.group_sums(state.timeframe, &state.total.groups)).unwrap_or_default()
    }

    /// Returns the prices by which it was rated; none where it was not.
    pub(super) fn card(&self) -> Option<&Arc<RateCard>> {
        self.rated.values().next().map(Running::card)
    }

    /// Rates the usage in the periods, as of an instant.
    pub(crate) fn rate(&mut self, card: &Arc<RateCard>, at: Timestamp) {
        let states = &self.states;
        let used = |period: Timeframe, to: Timestamp| used(states, period, to);
        self.rated.clear();
        let on_cost = || self.alerts.iter().filter(|alert| alert.condition.is_on_cost());
        let is_watched = self.are_costs_watched();
        for billing in self.billing.iter_mut().filter(|_| is_watched) {
            let running = Running::new(Arc::clone(card), billing.timeframe, &used, at);
            billing.watch(&running, on_cost());
            self.rated.insert(billing.timeframe, running);
        }
        if self.draws_in.is_empty() {
            return;
        }
        let periods =
            self.billing.iter().flat_map(|of| card.usage_periods(of.timeframe).into_keys());
        for period in periods {
            let rated = || Running::of_period(Arc::clone(card), period, &used, at);
            self.rated.entry(period).or_insert_with(rated);
        }
    }

    /// Applies a change to the state, and returns its effects.
    pub(crate) fn advance(&mut self, change: Change<'_>) -> Effects {
        match change {
            Change::Event { at, key, readings, seen } => self.add(at, key, readings, seen),
            Change::Next { next, cause } => {
                let before = std::mem::replace(self, *next);
                let earlier = |at, alert: &Alert| before.value_at(at, alert);
                let exceeded = self.judge_all(&earlier, cause);
                let draw_downs = self.draw_downs_since(&before);
                let mut effects = Effects { exceeded, draw_downs, ..Effects::default() };
                self.judge_all_groups(Some(&before), cause, &mut effects);
                effects
            }
            Change::Watched { cause } => {
                let mut exceeded = self.judge_all(&|_, _| None, cause);
                for fired in &mut exceeded {
                    fired.value_before = Some(fired.value_after.clone());
                }
                let mut effects = Effects { exceeded, ..Effects::default() };
                self.judge_all_groups(None, cause, &mut effects);
                effects
            }
        }
    }

    /// Returns the changes of the cost of usage that credits pay for.
    pub(crate) fn draw_downs_since(&self, before: &Self) -> Vec<DrawDown> {
        let units: BTreeSet<_> = before.draws_in.iter().chain(&self.draws_in).collect();
        let periods = before.rated.keys().chain(self.rated.keys());
        let starts: BTreeSet<_> = periods.map(|period| period.start()).collect();
        let mut draw_downs = Vec::new();
        for period_start in starts {
            for unit in &units {
                let used = |of: &Self| of.used_in(period_start, unit);
                let mut prices = used(self);
                for of in used(before) {
                    add_move(&mut prices, PriceMove { amount: -of.amount, ..of });
                }
                draw_downs.extend(self.draw_down(period_start, unit, prices));
            }
        }
        draw_downs
    }

    /// Returns what usage costs by now, price by price.
    fn used_in(&self, start: Timestamp, unit: &PricingUnit) -> Vec<PriceMove> {
        let rated = self.rated.iter().filter(|(period, _)| period.start() == start);
        let mut prices = Vec::new();
        for of in rated.flat_map(|(_, running)| running.used_in(unit)) {
            add_move(&mut prices, of);
        }
        prices
    }

    /// Makes a draw-down of the prices whose amount has moved; none where none has.
    fn draw_down(
        &self,
        period_start: Timestamp,
        unit: &PricingUnit,
        mut prices: Vec<PriceMove>,
    ) -> Option<DrawDown> {
        prices.retain(|of| !of.amount.is_zero());
        if let Some(card) = self.card() {
            prices.sort_by_key(|of| card.place_of(of.in_force));
        }
        let (subscription_id, currency) = (self.subscription_id, unit.clone());
        let has_moved = !prices.is_empty();
        has_moved.then_some(DrawDown { subscription_id, period_start, currency, prices })
    }

    fn add(&mut self, at: Timestamp, key: &EventKey, readings: &[Reading], seen: &Seen) -> Effects {
        let cause = || Cause::Event { idempotency_key: key.clone(), timestamp: at };
        let costs = self.costs_behind(at);
        let groups = self.groups_behind(at, readings);
        let holding = self.billing.iter().position(|of| of.timeframe.contains(at));
        let (mut exceeded, mut moved) = (Vec::new(), Vec::new());
        for reading in readings {
            if !self.counts(reading) {
                continue;
            }
            let watching = self.watching(reading.cell);
            let before = holding.filter(|_| !watching.is_empty());
            let before = before.and_then(|index| self.figure_in(index, reading.cell));
            let states = self.states.values_mut().filter(|of| of.timeframe.contains(at));
            let mut has_moved = false;
            states.for_each(|state| has_moved |= state.add(reading, seen));
            moved.extend(has_moved.then(|| reading.place()));
            for alert in watching {
                let of = holding.and_then(|index| self.judge(index, alert, before.as_ref(), cause));
                exceeded.extend(of);
            }
        }
        let draw_downs = self.follow(at, &moved);
        for (index, alert, before) in costs {
            exceeded.extend(self.judge(index, alert, before.as_ref(), cause));
        }
        let mut effects =
            Effects { exceeded, draw_downs, reached: self.reach_threshold(), ..Effects::default() };
        self.judge_groups(at, groups, &cause, &mut effects);
        effects
    }

    /// Tells whether something is added up in one of the meters that are counted.
    pub(super) fn counts(&self, reading: &Reading) -> bool {
        reading
            .meter
            .is_none_or(|meter| self.meters.contains(&meter) || self.watched_groups.has_part(meter))
    }

    /// Returns the values that alerts on cost watch, of the billing periods that an event can move:
    /// what it moves goes on into later ones, where a price's period does.
    fn costs_behind(&self, at: Timestamp) -> Vec<(usize, usize, Option<Decimal>)> {
        let mut costs = Vec::new();
        let moving = self.billing.iter().enumerate().filter(|(_, of)| at < of.timeframe.end());
        for (index, billing) in moving {
            let alerts = self.alerts.iter().enumerate();
            let on_cost = alerts.filter(|(_, alert)| alert.condition.is_on_cost());
            costs.extend(on_cost.map(|(place, alert)| (index, place, billing.cost(alert))));
        }
        costs
    }

    /// Rates the cells that an event at an instant has moved.
    fn follow(&mut self, at: Timestamp, moved_cells: &[InGroup<'_>]) -> Vec<DrawDown> {
        let states = &self.states;
        let used = |period: Timeframe, to: Timestamp| used(states, period, to);
        let mut drawn = BTreeMap::<_, Vec<PriceMove>>::new();
        for (timeframe, running) in &mut self.rated {
            let moved = running.follow(at, moved_cells, &used);
            if let Some(billing) = self.billing.iter_mut().find(|of| of.timeframe == *timeframe) {
                billing.follow(&moved);
            }
            for unit in &self.draws_in {
                let prices = drawn.entry((timeframe.start(), unit)).or_default();
                for of in running.drawn_in(unit, &moved) {
                    add_move(prices, of);
                }
            }
        }
        let draw_downs = drawn.into_iter();
        let draw_downs =
            draw_downs.filter_map(|((start, unit), of)| self.draw_down(start, unit, of));
        draw_downs.collect()
    }

    /// Returns the places of the alerts that watch a cell.
    fn watching(&self, cell: CellId) -> SmallVec<[usize; 8]> {
        let alerts = self.alerts.iter().enumerate();
        let watching = alerts.filter(|(_, alert)| {
            alert.condition.metric_id().is_some_and(|id| cell == self.watched_cell(id))
        });
        watching.map(|(place, _)| place).collect()
    }

    fn judge_all(
        &mut self,
        before: &dyn Fn(Timestamp, &Alert) -> Option<Decimal>,
        cause: &Cause,
    ) -> Vec<Exceeded> {
        let starts: Vec<_> = self.billing.iter().map(|of| of.timeframe.start()).collect();
        let mut exceeded = Vec::new();
        for (index, start) in starts.into_iter().enumerate() {
            let before: Vec<_> = self.alerts.iter().map(|alert| before(start, alert)).collect();
            for (alert, before) in before.iter().enumerate() {
                exceeded.extend(self.judge(index, alert, before.as_ref(), || cause.clone()));
            }
        }
        exceeded
    }

    /// Judges an alert on the value that there is now, and keeps what fired.
    fn judge(
        &mut self,
        index: usize,
        alert: usize,
        before: Option<&Decimal>,
        cause: impl Fn() -> Cause,
    ) -> Option<Exceeded> {
        let value_after = self.value(index, self.alerts.get(alert)?)?;
        let alert = self.alerts.get(alert)?;
        let billing = self.billing.get_mut(index).filter(|billing| billing.is_judged)?;
        let fired = billing.fired.entry(alert.id).or_default();
        let Crossing { threshold, thresholds } =
            fired.judge(alert.armed(), before, &value_after)?;
        billing.fired_moved.insert(alert.id);
        Some(Exceeded {
            subscription_id: self.subscription_id,
            alert: alert.clone(),
            value_before: before.cloned(),
            value_after,
            threshold,
            thresholds,
            timeframe: billing.timeframe,
            cause: cause(),
        })
    }

    fn value_at(&self, start: Timestamp, alert: &Alert) -> Option<Decimal> {
        let index = self.billing.iter().position(|of| of.timeframe.start() == start)?;
        self.value(index, alert)
    }

    /// Returns the value that an alert watches; none where there is none yet.
    pub(super) fn value(&self, index: usize, alert: &Alert) -> Option<Decimal> {
        match alert.condition.metric_id() {
            Some(metric_id) => self.figure_in(index, self.watched_cell(metric_id)),
            None => self.billing.get(index)?.cost(alert),
        }
    }

    /// Returns the cell in which alerts watch a metric.
    pub(super) fn watched_cell(&self, metric: MetricId) -> CellId {
        let own = CellId::from(metric);
        self.watched.as_ref().map_or(own, |source| source.cell(own))
    }

    pub(super) fn used_in_all(&self, timeframe: Timeframe) -> Option<Cow<'_, Total>> {
        used(&self.states, timeframe, timeframe.end())
    }

    fn figure_in(&self, index: usize, cell: CellId) -> Option<Decimal> {
        let timeframe = self.billing.get(index)?.timeframe;
        used(&self.states, timeframe, timeframe.end())?.figure(cell)
    }
}

/// Adds how much more a price costs.
fn add_move(prices: &mut Vec<PriceMove>, more: PriceMove) {
    match prices.iter_mut().find(|of| of.in_force == more.in_force) {
        Some(of) => of.amount += more.amount,
        None => prices.push(more),
    }
}

/// Returns the usage from the start of a period up to an instant. Where nothing is kept up to there, nothing
/// was used behind it.
fn used(
    states: &BTreeMap<PeriodKey, PeriodState>,
    period: Timeframe,
    to: Timestamp,
) -> Option<Cow<'_, Total>> {
    let part = state(states, period.start(), to);
    let state = part.or_else(|| state(states, period.start(), period.end()))?;
    Some(Cow::Borrowed(&state.total))
}

fn state(
    states: &BTreeMap<PeriodKey, PeriodState>,
    start: Timestamp,
    end: Timestamp,
) -> Option<&PeriodState> {
    states.values().find(|state| state.timeframe.start() == start && state.timeframe.end() == end)
}
