//! Periods that fall due together, and are adjusted together.

use std::collections::BTreeSet;

use super::{
    Line, RateCard, RatedInterval, Used,
    group::{Group, Reaching},
    line::{Charged, Member},
    step::Step,
    until::Until,
};
use crate::{
    Decimal, Timeframe, Timestamp,
    price::{Adjustment, BillingMode, Discount},
    time::INSTANT,
};

/// Periods of a group's intervals that fall due together: those in advance that begin at one instant,
/// those in arrears that end at one (invoicing 7.4).
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// Timeframe from the first start to the last end.
    pub(super) timeframe: Timeframe,
    pub(super) billing_mode: BillingMode,
    pub(super) members: Vec<Member>,
    /// Discounts, in order.
    pub(super) discounts: Vec<Step>,
    /// Minimums, each as the share of its days, in order.
    pub(super) minimums: Vec<Step>,
    pub(super) maximums: Vec<Step>,
}

/// Totals of the members.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) totals: Vec<Decimal>,
    /// Members that a minimum added something to; empty before the end.
    pub(super) topped_up: Vec<bool>,
}

impl Group {
    /// Returns the periods that fall due together, of all that share an instant with a timeframe.
    pub(super) fn joints(&self, card: &RateCard, timeframe: Timeframe) -> Vec<Joint> {
        let periods = |place: &usize, within| {
            card.intervals.get(*place).map(|of| of.periods_in(within)).unwrap_or_default()
        };
        if let [alone] = self.members.as_slice() {
            let own = periods(alone, timeframe).into_iter();
            return own.filter_map(|period| Joint::new(self, card, &[(0, period)])).collect();
        }
        let all = self.members.iter().flat_map(|place| periods(place, timeframe));
        let instants: BTreeSet<_> = all.map(|period| self.due(period)).collect();
        let joints = instants.into_iter().filter_map(|at| {
            let beside = match self.billing_mode {
                BillingMode::InAdvance => {
                    Timeframe::nothing_at(at).until(at.saturating_add(INSTANT))
                }
                BillingMode::InArrear => {
                    Timeframe::nothing_at(at.saturating_sub(INSTANT)).until(at)
                }
            };
            let members = self.members.iter().enumerate().flat_map(|(index, place)| {
                periods(place, beside).into_iter().map(move |period| (index, period))
            });
            let members: Vec<_> = members.filter(|(_, period)| self.due(*period) == at).collect();
            Joint::new(self, card, &members)
        });
        joints.collect()
    }

    fn due(&self, period: Timeframe) -> Timestamp {
        match self.billing_mode {
            BillingMode::InAdvance => period.start(),
            BillingMode::InArrear => period.end(),
        }
    }
}

impl Joint {
    /// Joins the periods of some of a group's members, each given with the member's place in the group.
    fn new(group: &Group, card: &RateCard, periods: &[(usize, Timeframe)]) -> Option<Self> {
        let timeframe = hull(periods.iter().map(|(_, period)| *period))?;
        let due = group.due(timeframe);
        let members = periods.iter().filter_map(|(member, period)| {
            let interval = *group.members.get(*member)?;
            Some(Member { interval, period: *period, units_off: group.units_off(*member, due) })
        });
        let first = card.intervals.get(members.clone().next()?.interval)?;
        let mut joint = Self {
            timeframe,
            billing_mode: group.billing_mode,
            members: members.collect(),
            discounts: Vec::new(),
            minimums: Vec::new(),
            maximums: Vec::new(),
        };
        let is_fee = |(_, (member, _)): (usize, &(usize, Timeframe))| {
            let interval = group.members.get(*member).and_then(|of| card.intervals.get(*of));
            interval.is_some_and(RatedInterval::is_fee)
        };
        for Reaching { id, adjustment, force, needs_usage, reaches } in &group.adjustments {
            let reached = || {
                let all = periods.iter().enumerate();
                all.filter(|(_, (member, _))| reaches.contains(member))
            };
            let Some(timeframe) = hull(reached().map(|(_, (_, period))| *period)) else { continue };
            // What is due of fees alone has no minimum (subscriptions 2.4 rule 7).
            if *needs_usage && reached().all(is_fee) {
                continue;
            }
            let share = first.share(timeframe);
            let is_in_force = force.holds(due, group.billing_mode);
            let (adjustment, steps) = match adjustment {
                Adjustment::Discount(Discount::Usage(_)) => continue,
                // Of what falls due later within a period in advance, others may be in force.
                Adjustment::Discount(_) => (adjustment.clone(), &mut joint.discounts),
                Adjustment::Minimum(_) | Adjustment::Maximum(_) if !is_in_force => continue,
                Adjustment::Minimum(least) => {
                    (Adjustment::Minimum(share.of(least)), &mut joint.minimums)
                }
                Adjustment::Maximum(most) => {
                    (Adjustment::Maximum(share.of(most)), &mut joint.maximums)
                }
            };
            let reaches = reached().map(|(place, _)| place).collect();
            let (id, force, end) = (*id, *force, timeframe.end());
            steps.push(Step { id, adjustment, force, reaches, end, places: share.places });
        }
        Some(joint)
    }

    /// Returns the cumulative lines of its members, in order.
    pub(super) fn cumulative(&self, card: &RateCard, used: &Used<'_>, until: Until) -> Vec<Line> {
        let members = self.members.iter();
        let charged = members.map(|member| match card.intervals.get(member.interval) {
            Some(interval) => interval.charged(card, member, used, until),
            None => Charged::default(),
        });
        let charged: Vec<_> = charged.collect();
        let discounted = self.discounted(&charged);
        let adjusted = self.bounded(discounted, until);
        let mut topped_up = adjusted.topped_up.into_iter();
        let all = self.members.iter().zip(charged).zip(adjusted.totals);
        let lines = all.map(|((member, Charged { line, .. }), total)| {
            let top_ups = usize::from(topped_up.next().unwrap_or_default());
            let price = card.intervals.get(member.interval).map(|of| &of.price);
            let in_tiers = price.and_then(|of| of.in_tiers(&line.subtotal, &total));
            Line { total, top_ups, in_tiers, ..line }
        });
        lines.collect()
    }

    /// Returns what its members come to after discounts. Without any that is all that has fallen due, whenever
    /// it has.
    fn discounted(&self, charged: &[Charged]) -> Vec<Decimal> {
        if self.discounts.is_empty() {
            let latest = |of: &Charged| of.due.values().next_back().map(|state| state.sum.clone());
            return charged.iter().map(|of| latest(of).unwrap_or_default()).collect();
        }
        self.totals(&self.movements(charged))
    }

    /// Takes the discounts off amounts that fall due at an instant.
    pub(super) fn discount(&self, amounts: &mut [Decimal], at: Timestamp) {
        let mode = self.billing_mode;
        let in_force = self.discounts.iter().filter(|step| step.force.holds(at, mode));
        in_force.for_each(|step| step.apply(amounts));
    }

    /// Brings amounts up to the minimums that count, and down to the maximums.
    pub(super) fn bounded(&self, mut amounts: Vec<Decimal>, until: Until) -> Totals {
        let cap = |amounts: &mut Vec<Decimal>| {
            self.maximums.iter().for_each(|step| step.apply(amounts));
        };
        let counts = |step: &&Step| until.has_ended(step.end);
        let mut minimums = self.minimums.iter().filter(counts).peekable();
        if minimums.peek().is_none() {
            cap(&mut amounts);
            return Totals { totals: amounts, topped_up: Vec::new() };
        }
        let mut running = amounts.clone();
        cap(&mut running);
        minimums.for_each(|step| step.apply(&mut amounts));
        cap(&mut amounts);
        let topped_up = amounts.iter().zip(&running).map(|(total, running)| total != running);
        Totals { topped_up: topped_up.collect(), totals: amounts }
    }
}

/// Returns the timeframe from the first start to the last end.
fn hull(periods: impl Iterator<Item = Timeframe>) -> Option<Timeframe> {
    periods.reduce(|one, other| {
        Timeframe::nothing_at(one.start().min(other.start())).until(one.end().max(other.end()))
    })
}
