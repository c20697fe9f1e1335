//! What falls due at one instant: the lines of an invoice (invoicing 6.1).

use std::collections::BTreeMap;

use super::{
    Line, RateCard, RatedInterval, Used,
    deferred::around,
    discounts::Movement,
    group::{Group, Reaching},
    joint::Joint,
    line::{Charged, Member},
    sides::Sides,
    until::Until,
};
use crate::{
    AdjustmentIntervalId, Decimal, PriceId, Timeframe, Timestamp,
    price::{Adjustment, BillingMode, Discount, Part, Quantity},
    time::INSTANT,
};

/// What falls due at an instant: fees in advance whose periods begin then, or whose quantities change;
/// usage and fees in arrears whose periods end then; what usage with an invoicing cycle has come to by then
/// within its period, with what was invoiced of it before; and what a minimum adds to fees in advance at the end
/// of theirs.
///
/// All that falls due in a life, less what was invoiced before, is what [`rate`](super::rate) says that the life costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// Lines, in the order of the card.
    pub(crate) lines: Vec<DueLine>,
    /// Adjustments of them, in the order in which they apply (invoicing 7.1).
    pub(crate) steps: Vec<DueStep>,
}

impl Due {
    /// Returns what each line comes to after adjustments.
    pub(crate) fn adjusted(&self) -> Vec<Decimal> {
        let lines = self.lines.iter().enumerate();
        let adjusted = lines.map(|(place, line)| {
            let by = self.steps.iter().filter_map(|step| step.by.get(&place));
            by.fold(line.subtotal.clone(), |amount, by| amount + by)
        });
        adjusted.collect()
    }
}

/// Charge of an interval that falls due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DueLine {
    /// Place of the interval on the card.
    pub(crate) interval: usize,
    /// Service period.
    pub(crate) period: Timeframe,
    pub(crate) quantity: Decimal,
    /// Amount before adjustments.
    pub(crate) subtotal: Decimal,
    /// Parts of the subtotal, where they can be told.
    pub(crate) parts: Vec<Part>,
    /// What had fallen due of its period before: of a fee in advance whose quantity changes.
    pub(crate) before: Earlier,
}

/// Amounts that had fallen due before: tiers convert what falls due on top of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Earlier {
    /// Before adjustments.
    pub(crate) subtotal: Decimal,
    /// After adjustments.
    pub(crate) total: Decimal,
}

/// Adjustment of lines that fall due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DueStep {
    pub(crate) adjustment: AdjustmentIntervalId,
    /// What it adds to each line that it reaches, by place of the line.
    pub(crate) by: BTreeMap<usize, Decimal>,
}

impl RateCard {
    /// Returns what falls due at an instant.
    pub(crate) fn due(&self, used: &Used<'_>, at: Timestamp) -> Due {
        let joints = self.joints(around(at));
        let traces = joints.filter_map(|(group, joint)| {
            let trace = joint.trace(group, self, used, at).and_then(|trace| {
                trace.only(&joint, self, |of, period| of.deferral(period).is_none())
            });
            trace.or_else(|| joint.trace_within(group, self, used, at))
        });
        let traces = traces.chain(self.deferred(used, |_, invoiced_at| invoiced_at == at));
        self.joined(&traces.collect::<Vec<_>>())
    }

    /// Returns the joints of all groups that share an instant with a timeframe.
    pub(super) fn joints(&self, timeframe: Timeframe) -> impl Iterator<Item = (&Group, Joint)> {
        self.groups.iter().flat_map(move |group| {
            group.joints(self, timeframe).into_iter().map(move |joint| (group, joint))
        })
    }

    /// Returns what usage has come to in the periods that hold an instant, of all that was used in them by
    /// then: without fees and composite prices, and without what minimums add at the end (invoicing 15).
    pub(crate) fn so_far(&self, used: &Used<'_>, at: Timestamp) -> Due {
        let around = Timeframe::nothing_at(at).until(at.saturating_add(INSTANT));
        let has_usage = |group: &Group| {
            let mut intervals = group.members.iter().filter_map(|place| self.intervals.get(*place));
            intervals.any(RatedInterval::is_usage)
        };
        let joints = self.joints(around).filter(|(group, _)| has_usage(group));
        let traces = joints.map(|(group, joint)| {
            let until = Until::before(joint.timeframe.end(), at);
            joint.trace_so_far(group, self, used, at, until)
        });
        let traces =
            traces.chain(self.deferred(used, |end, invoiced_at| end <= at && at < invoiced_at));
        self.joined(&traces.collect::<Vec<_>>())
    }

    /// Joins what falls due of several joints, in the order of the card.
    fn joined(&self, traces: &[Trace]) -> Due {
        let mut places: Vec<_> = traces
            .iter()
            .enumerate()
            .flat_map(|(trace, of)| {
                let lines = of.lines.iter().enumerate();
                lines.filter_map(move |(member, line)| {
                    line.as_ref().map(|line| (line.interval, line.period.start(), trace, member))
                })
            })
            .collect();
        places.sort_unstable();
        let place_of: BTreeMap<_, _> = places
            .iter()
            .enumerate()
            .map(|(place, (_, _, trace, member))| ((*trace, *member), place))
            .collect();
        let lines = places
            .iter()
            .filter_map(|(_, _, trace, member)| traces.get(*trace)?.lines.get(*member)?.clone());
        let steps = self.adjustments.iter().filter_map(|id| {
            let mut by = BTreeMap::new();
            for (trace, of) in traces.iter().enumerate() {
                let reached = of.steps.get(id).into_iter().flatten();
                by.extend(reached.filter_map(|(member, amount)| {
                    Some((*place_of.get(&(trace, *member))?, amount.clone()))
                }));
            }
            (!by.is_empty()).then_some(DueStep { adjustment: *id, by })
        });
        Due { lines: lines.collect(), steps: steps.collect() }
    }

    /// Returns the first instant behind another one, or of all, at which something falls due.
    pub(crate) fn next_due(&self, after: Option<Timestamp>) -> Option<Timestamp> {
        let mut after = after;
        loop {
            let next = self.next_instant(after)?;
            if self.has_due(next) {
                return Some(next);
            }
            after = Some(next);
        }
    }

    /// Returns what each interval of a fee in advance comes to before an instant; nothing for others.
    pub(crate) fn in_advance_until(&self, until: Timestamp) -> Vec<Decimal> {
        let nothing_used = |_: Timeframe, _: Timestamp| None;
        let past = Timeframe::before(until);
        let lines = super::rate(self, &nothing_used, &[past], until).into_iter().flatten();
        let totals = self.intervals.iter().zip(lines).map(|(of, line)| match of.billing_mode() {
            BillingMode::InAdvance => line.total,
            BillingMode::InArrear => Decimal::zero(),
        });
        totals.collect()
    }

    /// Tells whether nothing falls due at an instant but less of fees in advance.
    pub(crate) fn only_takes_back(&self, at: Timestamp) -> bool {
        let due = self.due(&|_, _| None, at);
        due.lines.iter().all(|line| {
            let interval = self.intervals.get(line.interval);
            line.subtotal.is_negative()
                && interval.is_some_and(|of| of.billing_mode() == BillingMode::InAdvance)
        })
    }

    /// Returns the fees in advance that have a period around an instant, with the start of the first's cycle.
    pub(crate) fn in_advance_around(&self, at: Timestamp) -> BTreeMap<PriceId, Timestamp> {
        self.in_advance_between(at, at)
    }

    /// Returns the fees in advance that have a period around some instant from one to another, with the start
    /// of the first's cycle: what was billed for the cycle may have begun before, under other terms.
    pub(crate) fn in_advance_between(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> BTreeMap<PriceId, Timestamp> {
        let around =
            Timeframe::nothing_at(from.saturating_sub(INSTANT)).until(to.saturating_add(INSTANT));
        let fees = self.intervals.iter().filter(|of| of.billing_mode() == BillingMode::InAdvance);
        let mut starts = BTreeMap::new();
        for of in fees {
            for period in of.periods_in(around).into_iter().take(1) {
                let cycle = of.periods.cycle_start(period.start());
                let start = starts.entry(of.price.id).or_insert(cycle);
                *start = cycle.min(*start);
            }
        }
        starts
    }

    /// Tells whether something falls due at an instant, whatever was used.
    fn has_due(&self, at: Timestamp) -> bool {
        !self.due(&|_, _| None, at).lines.is_empty()
    }

    /// Tells whether usage falls due at an instant, or what depends on it.
    pub(crate) fn has_usage_due(&self, at: Timestamp) -> bool {
        let before = Timeframe::nothing_at(at.saturating_sub(INSTANT)).until(at);
        let usage = self.intervals.iter().filter(|of| !of.is_fee());
        let mut periods =
            usage.flat_map(|of| of.periods_in(before).into_iter().map(move |period| (of, period)));
        let is_due = |of: &RatedInterval, period: Timeframe| {
            period.end() == at && of.deferral(period).is_none()
                || of.inner_boundaries(period).contains(&at)
        };
        periods.any(|(of, period)| is_due(of, period)) || self.has_deferred_to(at)
    }

    /// Tells whether usage is invoiced within its periods.
    pub(crate) fn has_inner_boundaries(&self) -> bool {
        self.intervals.iter().any(|of| of.price.invoicing_cycle().is_some())
    }

    /// Returns the next instant at which something may fall due.
    fn next_instant(&self, after: Option<Timestamp>) -> Option<Timestamp> {
        self.groups.iter().filter_map(|group| group.next_instant(self, after)).min()
    }
}

impl Group {
    fn next_instant(&self, card: &RateCard, after: Option<Timestamp>) -> Option<Timestamp> {
        let has_minimum =
            self.adjustments.iter().any(|of| matches!(of.adjustment, Adjustment::Minimum(_)));
        let has_ends = has_minimum || self.billing_mode == BillingMode::InArrear;
        let has_starts = self.billing_mode == BillingMode::InAdvance;
        let intervals = self.members.iter().filter_map(|place| card.intervals.get(*place));
        let charged = intervals.filter(|of| !of.price.is_free_allocation());
        let instants = charged.flat_map(|of| {
            let changes = of.quantities.keys().copied().filter(|_| has_starts);
            let changes = changes.filter(|at| of.holds(*at));
            let periods = of.next_periods(after);
            let ends = periods.clone().into_iter().map(Timeframe::end);
            let ends = ends.chain(of.deferred.map(|(_, at)| at)).filter(|_| has_ends);
            let starts = periods.clone().into_iter().map(Timeframe::start).filter(|_| has_starts);
            let inner = periods.into_iter().flat_map(|period| of.inner_boundaries(period));
            changes.chain(ends).chain(starts).chain(inner).collect::<Vec<_>>()
        });
        let is_behind = |at: &Timestamp| after.is_none_or(|after| after < *at);
        // What never ends falls due never.
        instants.filter(is_behind).filter(|at| *at < Timestamp::MAX).min()
    }

    /// Returns the units that each adjustment takes off, of those that apply to what falls due at an
    /// instant.
    fn units(&self, due: Timestamp) -> impl Iterator<Item = (&Reaching, &Decimal)> {
        self.adjustments.iter().filter_map(move |of| match &of.adjustment {
            Adjustment::Discount(Discount::Usage(units)) => {
                of.force.holds(due, self.billing_mode).then_some((of, units))
            }
            _ => None,
        })
    }
}

impl RatedInterval {
    /// Tells whether an instant lies in one of its periods.
    fn holds(&self, at: Timestamp) -> bool {
        !self.periods_in(Timeframe::nothing_at(at).until(at.saturating_add(INSTANT))).is_empty()
    }

    /// Returns the period that is under way at an instant, and the next one; the first one of all.
    fn next_periods(&self, after: Option<Timestamp>) -> Vec<Timeframe> {
        if self.is_once {
            return self.periods.first().into_iter().collect();
        }
        let Some(after) = after else { return self.periods.first().into_iter().collect() };
        let later = Timeframe::nothing_at(after).until(Timestamp::MAX);
        self.periods.overlapping(later).take(2).collect()
    }
}

/// How what falls due of a joint's members comes about.
pub(super) struct Trace {
    /// Line of each member that has something due.
    pub(super) lines: Vec<Option<DueLine>>,
    /// What each adjustment adds to the members that it reaches.
    pub(super) steps: Steps,
}

/// What each adjustment adds to the members that it reaches.
type Steps = BTreeMap<AdjustmentIntervalId, Vec<(usize, Decimal)>>;

impl Joint {
    /// Traces what usage has come to by an instant within its periods.
    fn trace_so_far(
        &self,
        group: &Group,
        card: &RateCard,
        used: &Used<'_>,
        at: Timestamp,
        until: Until,
    ) -> Trace {
        let end = self.timeframe.end();
        let after = self.charged(card, used, until);
        let (steps, _) = self.steps(group, card, &after, end, [until; 2]);
        let lines = self.members.iter().zip(&after).map(|(member, of)| {
            let interval = card.intervals.get(member.interval)?;
            let start = member.period.start();
            (interval.is_usage() && start <= at).then(|| DueLine {
                interval: member.interval,
                period: Timeframe::nothing_at(start).until(at),
                quantity: of.line.quantity.clone(),
                subtotal: of.line.subtotal.clone(),
                parts: of.line.parts.clone(),
                before: Earlier::default(),
            })
        });
        Trace { lines: lines.collect(), steps }
    }

    /// Traces what usage has come to by an inner boundary of its invoicing cycle: that of members whose cycle
    /// has one then.
    fn trace_within(
        &self,
        group: &Group,
        card: &RateCard,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Option<Trace> {
        let is_due = |member: &Member| {
            let interval = card.intervals.get(member.interval);
            interval.is_some_and(|of| of.inner_boundaries(member.period).contains(&at))
        };
        let due: Vec<_> = self.members.iter().map(is_due).collect();
        if !due.contains(&true) {
            return None;
        }
        let mut trace = self.trace_so_far(group, card, used, at, Until::through(at));
        for (line, is_due) in trace.lines.iter_mut().zip(due) {
            line.take_if(|_| !is_due);
        }
        Some(trace)
    }

    fn charged(&self, card: &RateCard, used: &Used<'_>, until: Until) -> Vec<Charged> {
        let members = self.members.iter().map(|member| {
            card.intervals.get(member.interval).map(|of| of.charged(card, member, used, until))
        });
        members.map(Option::unwrap_or_default).collect()
    }

    pub(super) fn trace(
        &self,
        group: &Group,
        card: &RateCard,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Option<Trace> {
        let is_in_advance = self.billing_mode == BillingMode::InAdvance;
        if !is_in_advance && self.timeframe.end() != at {
            return None;
        }
        let just_before = at.saturating_sub(INSTANT);
        let after = self.charged(card, used, Until::through(at));
        let before = is_in_advance.then(|| self.charged(card, used, Until::through(just_before)));
        let ends = [just_before, at].map(Until::through);
        let (steps, totals) = self.steps(group, card, &after, at, ends);

        let none = Line::default();
        let lines = self.members.iter().enumerate().map(|(place, member)| {
            let line = after.get(place).map_or(&none, |of| &of.line);
            let earlier = before.as_ref().and_then(|of| of.get(place)).map_or(&none, |of| &of.line);
            let is_touched = steps.values().flatten().any(|(of, by)| *of == place && !by.is_zero());
            let is_due = !is_in_advance || line.charges != earlier.charges || is_touched;
            let has_changed = member.period.start() < at && at < member.period.end();
            let start = if is_in_advance && has_changed { at } else { member.period.start() };
            is_due.then(|| DueLine {
                interval: member.interval,
                period: Timeframe::nothing_at(start).until(member.period.end()),
                quantity: &line.quantity - &earlier.quantity,
                subtotal: &line.subtotal - &earlier.subtotal,
                parts: line.parts.clone(),
                before: Earlier {
                    subtotal: earlier.subtotal.clone(),
                    total: totals.get(place).cloned().unwrap_or_default(),
                },
            })
        });
        let lines: Vec<_> = lines.collect();
        lines.iter().any(Option::is_some).then_some(Trace { lines, steps })
    }

    /// Returns what each adjustment adds to what falls due at an instant, where minimums count up to an end,
    /// and up to another one right before the instant; and what members had come to before that, of those in
    /// advance.
    fn steps(
        &self,
        group: &Group,
        card: &RateCard,
        after: &[Charged],
        at: Timestamp,
        [just_before, until]: [Until; 2],
    ) -> (Steps, Vec<Decimal>) {
        let mut steps = Steps::new();
        let mut note = |id, reaches: &[usize], by: Vec<Decimal>| {
            let reached =
                reaches.iter().filter_map(|place| Some((*place, by.get(*place)?.clone())));
            steps.insert(id, reached.collect());
        };

        self.take_units_off(group, card, after, (at, until), &mut note);
        let is_in_advance = self.billing_mode == BillingMode::InAdvance;
        let mut movements = self.movements(after);
        let now = movements.pop_if(|of| of.at == at);
        if let Some(Movement { off, .. }) = &now {
            for (step, off) in self.discounts.iter().zip(off) {
                let is_moved = off.iter().any(|by| !by.is_zero());
                if is_moved || step.force.holds(at, self.billing_mode) {
                    note(step.id, &step.reaches, off.clone());
                }
            }
        }
        // Bounds are of all that a period has come to.
        let earlier = self.totals(&movements);
        movements.extend(now);
        let after_now = self.totals(&movements);
        let mut sides = Sides { before: is_in_advance.then_some(earlier), after: after_now };
        for step in &self.minimums {
            if until.has_ended(step.end) {
                let by = sides.apply(step, just_before.has_ended(step.end));
                note(step.id, &step.reaches, by);
            }
        }
        for step in &self.maximums {
            let by = sides.apply(step, true);
            note(step.id, &step.reaches, by);
        }
        (steps, sides.before.unwrap_or_default())
    }

    /// Takes units off the usage that falls due, adjustment by adjustment.
    fn take_units_off(
        &self,
        group: &Group,
        card: &RateCard,
        charged: &[Charged],
        (at, until): (Timestamp, Until),
        note: &mut impl FnMut(AdjustmentIntervalId, &[usize], Vec<Decimal>),
    ) {
        let mut off = vec![Decimal::zero(); self.members.len()];
        for (of, units) in group.units(at) {
            // Members of the joint, which need not be all of the group.
            let places = self.members.iter().enumerate().filter_map(|(place, member)| {
                let own = group.members.iter().position(|interval| *interval == member.interval)?;
                of.reaches.contains(&own).then_some(place)
            });
            let places: Vec<_> = places.collect();
            let members = self.members.iter().zip(charged).zip(&mut off).enumerate();
            let by = members.map(|(place, ((member, of), off))| {
                let is_reached = places.contains(&place);
                let interval = card.intervals.get(member.interval);
                let interval = interval.filter(|of| is_reached && of.is_usage())?;
                let rate = |off: &Decimal| {
                    let left = Quantity::One(&of.line.quantity - off);
                    interval.rate(&left, member.period, until).amount
                };
                let before = rate(off);
                *off += units;
                Some(rate(off) - before)
            });
            let by: Vec<_> = by.map(Option::unwrap_or_default).collect();
            note(of.id, &places, by);
        }
    }
}
