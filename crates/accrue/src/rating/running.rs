mod member;

use std::sync::Arc;

use self::member::{Followed, RunningMember};
use super::{
    Amounts, Line, PriceMove, RateCard, Used,
    interval::RatedInterval,
    joint::{Joint, Totals},
    line::Member,
    until::Until,
};
use crate::{
    Decimal, PricingUnit, Timeframe, Timestamp,
    meter::InGroup,
    price::{Converted, Price},
};

/// Running amounts of a timeframe, followed while events are added: constant work for each.
///
/// A price may have periods of its own that begin before the timeframe or end behind it: of those the
/// amount is that at the end of the timeframe less that at its start.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    card: Arc<RateCard>,
    timeframe: Timeframe,
    lines: Vec<RunningLine>,
    joints: Vec<RunningJoint>,
}

#[derive(Clone, Debug, Default)]
struct RunningLine {
    amounts: Amounts,
    /// True where something was used within the timeframe.
    is_used: bool,
    /// Its periods within the timeframe: the place of a joint, and of a member there.
    periods: Vec<(usize, usize)>,
}

/// Periods that fall due together, within a timeframe.
#[derive(Clone, Debug)]
struct RunningJoint {
    joint: Joint,
    /// Amounts up to the start of the timeframe, where the periods begin before that.
    before: Option<Cumulative>,
    after: Cumulative,
}

/// Cumulative amounts from the start up to an instant.
#[derive(Clone, Debug)]
struct Cumulative {
    until: Until,
    members: Vec<RunningMember>,
    adjusted: Totals,
}

/// Line that has moved: its place, and the difference of its amounts.
pub(crate) type Moved = (usize, Amounts);

impl Running {
    /// Rates a timeframe, as of an instant. The usage in all of the timeframe is asked for too, as if
    /// it were a period.
    pub(crate) fn new(
        card: Arc<RateCard>,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        Self::rate(card, timeframe, used, at, |_| true)
    }

    /// Rates only the usage prices of which the timeframe is a period: those that credits pay for.
    pub(crate) fn of_period(
        card: Arc<RateCard>,
        period: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let is_own = |of: &RatedInterval| of.is_usage() && of.periods_in(period) == [period];
        Self::rate(card, period, used, at, is_own)
    }

    fn rate(
        card: Arc<RateCard>,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
        is_rated: impl Fn(&RatedInterval) -> bool,
    ) -> Self {
        let mut lines = vec![RunningLine::default(); card.intervals.len()];
        let mut joints = Vec::new();
        let mut fees = vec![vec![Line::default(); lines.len()]];
        for group in &card.groups {
            let intervals = group.members.iter().filter_map(|place| card.intervals.get(*place));
            let is_moving = intervals.clone().any(|of| !of.is_fee());
            if !intervals.clone().any(&is_rated) {
                continue;
            }
            if !is_moving {
                group.rate(&card, used, &[timeframe], at, &mut fees);
                continue;
            }
            for joint in group.joints(&card, timeframe) {
                for (place, member) in joint.members.iter().enumerate() {
                    let line = lines.get_mut(member.interval);
                    line.into_iter().for_each(|line| line.periods.push((joints.len(), place)));
                }
                joints.push(RunningJoint::new(&card, joint, timeframe, used, at));
            }
        }
        let fees = fees.into_iter().flatten();
        for ((line, interval), fee) in lines.iter_mut().zip(&card.intervals).zip(fees) {
            line.amounts = fee.amounts();
            if !line.periods.is_empty() {
                let total = used(timeframe, timeframe.end());
                line.is_used =
                    total.as_deref().is_some_and(|total| interval.figures.are_there(total));
                line.sum_up(&joints, &interval.price);
            }
        }
        Self { lines, card, timeframe, joints }
    }

    /// Follows usage at an instant that has moved some cells, and returns which lines have moved.
    pub(crate) fn follow(
        &mut self,
        at: Timestamp,
        moved: &[InGroup<'_>],
        used: &Used<'_>,
    ) -> Vec<Moved> {
        let mut lines = Vec::new();
        if self.timeframe.end() <= at {
            return lines;
        }
        let is_within = self.timeframe.contains(at);
        for index in 0..self.joints.len() {
            let Some(joint) = self.joints.get_mut(index) else { break };
            let places = joint.follow(&self.card, Followed { at, moved, used });
            if places.is_empty() {
                continue;
            }
            let members: Vec<_> = joint.joint.members.iter().map(|of| of.interval).collect();
            for (place, interval) in members.into_iter().enumerate() {
                let line = self.lines.get_mut(interval).zip(self.card.intervals.get(interval));
                let Some((line, of)) = line else { continue };
                let before = line.amounts.clone();
                line.is_used |= is_within && places.contains(&place) && of.is_usage();
                line.sum_up(&self.joints, &of.price);
                lines.push((interval, line.amounts.since(before)));
            }
        }
        lines
    }

    /// Returns the amounts that credits of a currency or pricing unit pay for, of lines that have moved,
    /// of prices of which the timeframe is a period: the difference of each before adjustments.
    pub(crate) fn drawn_in(&self, unit: &PricingUnit, moved: &[Moved]) -> Vec<PriceMove> {
        let mut moved: Vec<_> =
            moved.iter().filter(|(index, _)| self.draws(*index, unit)).collect();
        moved.sort_by_key(|(index, _)| *index);
        moved.into_iter().filter_map(|(index, of)| self.priced(*index, of)).collect()
    }

    /// Returns the amounts that they pay for of all usage, price by price.
    pub(crate) fn used_in(&self, unit: &PricingUnit) -> Vec<PriceMove> {
        let lines = self.lines.iter().enumerate().filter(|(index, _)| self.draws(*index, unit));
        lines.filter_map(|(index, line)| self.priced(index, &line.amounts)).collect()
    }

    /// Returns the price of a line, with the amount that credits pay for.
    fn priced(&self, index: usize, amounts: &Amounts) -> Option<PriceMove> {
        let RatedInterval { price, in_force, .. } = self.card.intervals.get(index)?;
        let (price, amount) = (Arc::clone(price), amounts.spent.clone()?);
        Some(PriceMove { price, in_force: *in_force, amount })
    }

    fn draws(&self, index: usize, unit: &PricingUnit) -> bool {
        let line = self.card.intervals.get(index).zip(self.lines.get(index));
        line.is_some_and(|(interval, line)| {
            let mut periods = line.members(&self.joints).map(|of| of.member.period);
            interval.price.currency == *unit
                && interval.is_usage()
                && !interval.is_trial
                && periods.next() == Some(self.timeframe)
                && periods.next().is_none()
        })
    }

    /// Returns the prices, in order, each with its amounts.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Price, &Amounts)> {
        let lines = self.card.intervals.iter().zip(&self.lines);
        lines.map(|(interval, line)| (&*interval.price, &line.amounts))
    }

    /// Returns what usage comes to in the currency that is invoiced: prices that are worth nothing in that do
    /// not count.
    pub(crate) fn usage_cost(&self) -> Decimal {
        let invoiced_in = self.card.invoiced_in;
        let unit = PricingUnit::from(invoiced_in);
        let lines = self.card.intervals.iter().zip(&self.lines).filter(|(of, _)| of.is_usage());
        let amounts = lines.filter_map(|(of, line)| {
            let worth = of.price.worth_in(&unit, invoiced_in)?;
            let in_tiers = line.amounts.in_tiers.as_ref().map(|of| &of.total);
            Some(worth.of(line.amounts.total.as_ref()?, in_tiers))
        });
        amounts.sum()
    }

    pub(crate) fn card(&self) -> &Arc<RateCard> {
        &self.card
    }
}

impl Amounts {
    /// Returns the difference of the amounts.
    fn since(&self, before: Self) -> Self {
        // What a minimum added may be used up, so that there is nothing any more.
        let moved = |after: &Option<Decimal>, before: Option<Decimal>| {
            let is_there = after.is_some() || before.is_some();
            is_there.then(|| after.clone().unwrap_or_default() - before.unwrap_or_default())
        };
        Self {
            subtotal: moved(&self.subtotal, before.subtotal),
            spent: moved(&self.spent, before.spent),
            total: moved(&self.total, before.total),
            in_tiers: self.in_tiers.as_ref().map(|of| of.since(before.in_tiers.as_ref())),
        }
    }
}

/// Period of a line: a member of a joint, with its amounts.
struct RunningPeriod<'a> {
    member: &'a Member,
    before: Option<Reached<'a>>,
    after: Reached<'a>,
}

/// Amounts of a member.
struct Reached<'a> {
    of: &'a RunningMember,
    total: &'a Decimal,
    is_topped_up: bool,
}

impl RunningLine {
    fn members<'a>(
        &self,
        joints: &'a [RunningJoint],
    ) -> impl Iterator<Item = RunningPeriod<'a>> + use<'a, '_> {
        let own = |(joint, place): &(usize, usize)| joints.get(*joint)?.period(*place);
        self.periods.iter().filter_map(own)
    }

    fn sum_up(&mut self, joints: &[RunningJoint], price: &Price) {
        let subtotal: Decimal = self.members(joints).map(|of| of.moved(|of| &of.of.subtotal)).sum();
        let is_charged =
            self.is_used || !subtotal.is_zero() || self.members(joints).any(|of| of.is_charged());
        let is_topped_up = self.members(joints).any(|of| of.after.is_topped_up);
        let spent = || self.members(joints).map(|of| of.moved(|of| &of.of.spent)).sum();
        let total = || self.members(joints).map(|of| of.moved(|of| of.total)).sum();
        let in_tiers = self.members(joints).filter_map(|of| of.in_tiers(price));
        self.amounts = Amounts {
            subtotal: is_charged.then_some(subtotal),
            spent: is_charged.then(spent),
            total: (is_charged || is_topped_up).then(total),
            in_tiers: in_tiers.reduce(|mut sum, of| {
                sum.add(&of);
                sum
            }),
        };
    }
}

impl RunningPeriod<'_> {
    fn moved(&self, of: impl for<'a> Fn(&Reached<'a>) -> &'a Decimal) -> Decimal {
        match &self.before {
            Some(before) => of(&self.after) - of(before),
            None => of(&self.after).clone(),
        }
    }

    /// Returns what tiers make of it, where they convert it.
    fn in_tiers(&self, price: &Price) -> Option<Converted> {
        let reached = |of: &Reached<'_>| price.in_tiers(&of.of.subtotal, of.total);
        let before = self.before.as_ref().and_then(reached);
        Some(reached(&self.after)?.since(before.as_ref()))
    }

    /// Tells whether something was charged that nobody used.
    fn is_charged(&self) -> bool {
        let was_charged = self.before.as_ref().is_some_and(|before| before.of.is_charged);
        self.after.of.is_charged && !was_charged
    }
}

impl RunningJoint {
    fn new(
        card: &RateCard,
        joint: Joint,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let own = joint.timeframe;
        let to = |to| Cumulative::new(card, &joint, Until::before(to, at), used);
        let before = (own.start() < timeframe.start()).then(|| to(timeframe.start()));
        let after = to(own.end().min(timeframe.end()));
        Self { before, after, joint }
    }

    /// Rates the usage of the cells that have moved, and returns the places of the members that it is of.
    fn follow(&mut self, card: &RateCard, usage: Followed<'_, '_>) -> Vec<usize> {
        let all = self.joint.members.iter().zip(&self.after.members).enumerate();
        let held = all.filter(|(_, (member, own))| match &own.seen {
            Some(seen) => seen.usage.iter().any(|(seen, _)| usage.is_of(card, seen)),
            None => usage.is_of(card, member),
        });
        let places: Vec<_> = held.map(|(place, _)| place).collect();
        if places.is_empty() {
            return places;
        }
        if let Some(before) = self.before.as_mut().filter(|before| usage.at < before.until.used) {
            before.follow(card, &self.joint, &places, usage);
        }
        self.after.follow(card, &self.joint, &places, usage);
        places
    }

    fn period(&self, place: usize) -> Option<RunningPeriod<'_>> {
        let before = self.before.as_ref().and_then(|before| before.reached(place));
        Some(RunningPeriod {
            member: self.joint.members.get(place)?,
            before,
            after: self.after.reached(place)?,
        })
    }
}

impl Cumulative {
    fn new(card: &RateCard, joint: &Joint, until: Until, used: &Used<'_>) -> Self {
        let members = joint.members.iter().map(|member| {
            let interval = card.intervals.get(member.interval);
            interval.map(|of| RunningMember::new(card, of, member, until, used)).unwrap_or_default()
        });
        let mut new = Self { until, members: members.collect(), adjusted: Totals::default() };
        new.adjust(joint);
        new
    }

    fn follow(
        &mut self,
        card: &RateCard,
        joint: &Joint,
        places: &[usize],
        usage: Followed<'_, '_>,
    ) {
        for place in places {
            let Some(member) = joint.members.get(*place) else { continue };
            if let Some(own) = self.members.get_mut(*place) {
                own.follow(card, member, self.until, usage);
            }
        }
        self.adjust(joint);
    }

    fn adjust(&mut self, joint: &Joint) {
        let mut amounts: Vec<_> = self.members.iter().map(|of| of.rated.clone()).collect();
        joint.discount(&mut amounts, joint.timeframe.end());
        self.adjusted = joint.bounded(amounts, self.until);
    }

    fn reached(&self, place: usize) -> Option<Reached<'_>> {
        let Totals { totals, topped_up } = &self.adjusted;
        Some(Reached {
            of: self.members.get(place)?,
            total: totals.get(place)?,
            is_topped_up: topped_up.get(place).copied().unwrap_or_default(),
        })
    }
}
