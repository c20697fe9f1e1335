//! Phases of the plan of a subscription (subscriptions 1.8, 3.4).

use super::{
    AdjustmentInterval, BillingAnchor, Cut, PlanInterval, Subscription, SubscriptionStatus, Terms,
    differences::Life,
};
use crate::{
    Error, Timestamp, Zone,
    plan::{PhaseOrder, PlanPhase},
};

/// Stretch of the life of a subscription on one plan, in one of its phases where it has some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    phase: Option<PhaseOrder>,
    pub(super) start: Timestamp,
    pub(super) end: Option<Timestamp>,
    anchor: BillingAnchor,
}

impl Stretch {
    /// Finds the stretch of a phase.
    pub(super) fn of(phase: Option<PhaseOrder>, all: &[Self]) -> Option<&Self> {
        all.iter().find(|of| of.phase == phase)
    }

    /// Cuts intervals from its start on.
    pub(super) fn cut(&self, cut: &Cut) -> Cut {
        Cut { start_date: self.start, anchor: self.anchor, ..*cut }
    }

    /// Refuses a life that is not within it.
    pub(super) fn check(&self, (start, end): Life) -> Result<(), Error> {
        let what = if self.phase.is_some() { "the phase" } else { "the plan" };
        if start < self.start {
            let first = self.start;
            let detail = format!("the start {start} is before that of {what}, {first}");
            return Err(Error::constraint(detail));
        }
        match self.end {
            Some(last) if last <= start => {
                Err(Error::constraint(format!("the start {start} is behind {what}, to {last}")))
            }
            Some(last) if end.is_some_and(|end| last < end) => {
                Err(Error::constraint(format!("the end is behind that of {what}, {last}")))
            }
            _ => Ok(()),
        }
    }
}

impl PlanPhase {
    /// Returns the end of the phase where it begins at an instant, by the clocks of a zone.
    fn end(&self, start: Timestamp, zone: &Zone) -> Timestamp {
        self.duration.map_or(Timestamp::MAX, |of| of.after(start, zone))
    }
}

impl Subscription {
    /// Notes the phases of the plan that it begins, from the one that is chosen on, and returns the stretches of these:
    /// one where the plan has none.
    pub(super) fn enter_phases(
        &mut self,
        cut: &Cut,
        terms: &Terms<'_>,
    ) -> Result<Vec<Stretch>, Error> {
        let at = "initial_phase_order";
        let phases = terms.phases();
        let Some(first) = phases.first() else {
            if let Some(phase) = terms.initial_phase {
                let message = format!("found {phase}, and the plan has no phases");
                return Err(Error::invalid(at, message));
            }
            let (start, anchor) = (cut.start_date, cut.anchor);
            return Ok(vec![Stretch { phase: None, start, end: None, anchor }]);
        };
        let initial = terms.initial_phase.unwrap_or(first.order);
        let Some(place) = phases.iter().position(|of| of.order == initial) else {
            let detail = format!("the plan has {} phases, and no {initial}", phases.len());
            return Err(Error::constraint(detail));
        };
        let mut plans = self.plans();
        let Some(mut plan) = plans.pop() else { return Ok(Vec::new()) };
        let mut entered = phases.iter().skip(place).peekable();
        let (mut stretches, mut start) = (Vec::with_capacity(phases.len()), cut.start_date);
        while let Some(phase) = entered.next() {
            plan = plan.in_phase(*phase, start);
            plan.is_later_phase = !stretches.is_empty();
            let end = entered.peek().map(|_| phase.end(start, &self.timezone));
            stretches.push(Stretch { phase: Some(phase.order), start, end, anchor: plan.anchor });
            plans.push(plan.clone());
            start = end.unwrap_or(start);
        }
        self.plan_intervals = plans;
        Ok(stretches)
    }

    /// Returns the phase of its plan that it is in at an instant; none where it is not active, or its plan has no phases.
    #[must_use]
    pub fn active_phase(&self, at: Timestamp) -> Option<PlanPhase> {
        match self.status(at) {
            SubscriptionStatus::Active => self.plan_at(at).phase,
            _ => None,
        }
    }

    /// Lets the phase after that of an instant begin then, and later ones follow with their whole lengths
    /// (subscriptions 3.4).
    pub(crate) fn trigger_phase(&mut self, at: Timestamp, now: Timestamp) -> Result<(), Error> {
        self.check_not_ended(now)?;
        self.check_no_pending_move(now)?;
        let refuse = |detail: String| Err(Error::constraint(detail));
        if let Some(end) = self.end_date.filter(|end| *end <= at) {
            return refuse(format!("{at} is not before the end of the subscription, {end}"));
        }
        let (begin, until) = (self.change_before(at), self.changes_plan_after(at));
        let mut plans = self.plan_intervals.iter().filter(|of| !of.is_later_phase);
        if let Some(of) = plans.find(|of| at < of.start_date && of.start_date <= now) {
            let since = of.start_date;
            return refuse(format!("the subscription is on another plan or version since {since}"));
        }
        let within = |of: &PlanInterval| {
            begin <= of.start_date && until.is_none_or(|until| of.start_date < until)
        };
        let phases = self.plan_intervals.iter().filter(|of| within(of) && of.splits());
        let phases: Vec<_> = phases.filter_map(|of| Some((of.phase?, of.start_date))).collect();
        let Some((place, (current, start))) =
            phases.iter().enumerate().rfind(|(_, (_, start))| *start <= at)
        else {
            return refuse(format!("the plan of the subscription has no phases at {at}"));
        };
        if at <= *start {
            return refuse(format!("{at} is not after the start of {}, {start}", current.order));
        }
        let later = phases.get(place.saturating_add(1)..).unwrap_or_default();
        if later.is_empty() {
            return refuse(format!("no phase follows {}", current.order));
        }
        let ends = later.iter().skip(1).map(|(_, start)| Some(*start)).chain([until]);
        let mut moves = Vec::with_capacity(later.len());
        let mut start = at;
        for ((phase, was), end_was) in later.iter().zip(ends) {
            let end = phase.end(start, &self.timezone);
            moves.push(PhaseMove {
                phase: phase.order,
                was: (*was, end_was),
                start,
                end: until.map_or(end, |until| until.min(end)),
            });
            start = end;
        }
        if let Some(last) = moves.last_mut() {
            last.end = until.unwrap_or(Timestamp::MAX);
        }
        let current = current.order;
        self.without_trial(|of| {
            of.cut_phase(current, (begin, at), until);
            moves.iter().for_each(|to| of.move_phase(to, until));
            of.plan_intervals.sort_by_key(|of| of.start_date);
            of.follow_phases((begin, until));
        });
        self.check_intervals()?;
        self.check_size()
    }

    /// Ends what is of a phase of the plan that has begun at an instant at another one.
    fn cut_phase(
        &mut self,
        phase: PhaseOrder,
        (begin, at): (Timestamp, Timestamp),
        until: Option<Timestamp>,
    ) {
        let is_own = |of: Option<PhaseOrder>, start| {
            of == Some(phase) && begin <= start && until.is_none_or(|until| start < until)
        };
        let cut = |end: &mut Option<Timestamp>| *end = Some(end.map_or(at, |end| end.min(at)));
        let lives =
            self.price_intervals.iter().filter(|of| is_own(of.plan_phase_order, of.start_date));
        let lives: Vec<_> = lives.cloned().collect();
        let is_of = |of: &AdjustmentInterval| {
            is_own(of.phase(), of.start_date) || lives.iter().any(|interval| of.goes_with(interval))
        };
        self.adjustment_intervals.retain(|of| !is_of(of) || of.start_date < at);
        self.adjustment_intervals
            .iter_mut()
            .filter(|of| is_of(of))
            .for_each(|of| cut(&mut of.end_date));
        self.price_intervals
            .retain(|of| !is_own(of.plan_phase_order, of.start_date) || of.start_date < at);
        let own = self.price_intervals.iter_mut();
        for of in own.filter(|of| is_own(of.plan_phase_order, of.start_date)) {
            cut(&mut of.end_date);
            let start = of.start_date;
            of.quantities.retain(|from, _| *from < at || *from == start);
        }
    }

    /// Moves a phase, with all that is of it.
    fn move_phase(&mut self, to: &PhaseMove, until: Option<Timestamp>) {
        let (zone, was) = (self.timezone.clone(), to.was);
        let is_own = |of: Option<PhaseOrder>, start: Timestamp| {
            of == Some(to.phase) && was.0 <= start && was.1.is_none_or(|end| start < end)
        };
        let lives =
            self.price_intervals.iter().filter(|of| is_own(of.plan_phase_order, of.start_date));
        let lives: Vec<_> = lives.cloned().collect();
        let moved = |(start, end): Life| (to.moved(start, &zone), to.moved_end(end, &zone));
        let is_there = |start: Timestamp, end: Option<Timestamp>| {
            until.is_none_or(|until| start < until) && end.is_none_or(|end| start < end)
        };
        self.adjustment_intervals.retain_mut(|of| {
            let own = is_own(of.phase(), of.start_date)
                || lives.iter().any(|interval| of.goes_with(interval));
            if own {
                (of.start_date, of.end_date) = moved(of.life());
            }
            !own || is_there(of.start_date, of.end_date)
        });
        self.price_intervals.retain_mut(|of| {
            let own = is_own(of.plan_phase_order, of.start_date);
            if own {
                (of.start_date, of.end_date) = moved(of.life());
                let quantities = std::mem::take(&mut of.quantities).into_iter();
                of.quantities = quantities.map(|(at, of)| (to.moved(at, &zone), of)).collect();
                of.begin_quantities();
            }
            !own || is_there(of.start_date, of.end_date)
        });
        self.plan_intervals.retain_mut(|of| {
            let own = of.is_later_phase && of.start_date == was.0;
            if own {
                of.start_date = to.start;
                if of.anchored_at == was.0 {
                    of.anchored_at = to.start;
                }
            }
            !own || until.is_none_or(|until| of.start_date < until)
        });
    }

    /// Lets what is between the begins of phases be of the phase of then, in its billing periods.
    fn follow_phases(&mut self, (begin, until): (Timestamp, Option<Timestamp>)) {
        let mut last: Option<(Option<PlanPhase>, BillingAnchor, Timestamp)> = None;
        let own = self
            .plan_intervals
            .iter_mut()
            .filter(|of| begin <= of.start_date && until.is_none_or(|until| of.start_date < until));
        for of in own {
            if let Some(last) = last.filter(|_| !of.splits()) {
                (of.phase, of.anchor, of.anchored_at) = last;
            }
            let aligns = of.phase.is_some_and(|phase| phase.aligns_billing);
            if let Some((_, anchor, anchored_at)) = last.filter(|_| of.is_later_phase && !aligns) {
                (of.anchor, of.anchored_at) = (anchor, anchored_at);
            }
            last = Some((of.phase, of.anchor, of.anchored_at));
        }
    }

    /// Returns the start of the plan that it is on at an instant, whatever its phases and versions.
    pub(super) fn change_before(&self, at: Timestamp) -> Timestamp {
        let mut changes = self.plan_intervals.iter().filter(|of| of.is_change());
        changes.rfind(|of| of.start_date <= at).map_or(self.start_date, |of| of.start_date)
    }
}

/// Move of a phase to other instants.
struct PhaseMove {
    phase: PhaseOrder,
    /// When it was.
    was: Life,
    start: Timestamp,
    end: Timestamp,
}

impl PhaseMove {
    /// Returns the instant that one within it becomes: as far behind its start, by the clocks.
    fn moved(&self, at: Timestamp, zone: &Zone) -> Timestamp {
        zone.moved(at, self.was.0, self.start).min(self.end)
    }

    fn moved_end(&self, end: Option<Timestamp>, zone: &Zone) -> Option<Timestamp> {
        let whole = Some(self.end).filter(|end| *end < Timestamp::MAX);
        match end {
            None => whole,
            end if end == self.was.1 => whole,
            Some(end) => Some(self.moved(end, zone)),
        }
    }
}

impl PlanInterval {
    /// Goes on in a phase of its plan that begins at an instant.
    fn in_phase(mut self, phase: PlanPhase, start: Timestamp) -> Self {
        if phase.aligns_billing {
            (self.anchor, self.anchored_at) = (BillingAnchor::SubscriptionStart, start);
        }
        Self { phase: Some(phase), start_date: start, ..self }
    }
}
