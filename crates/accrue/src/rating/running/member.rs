//! Amounts of one price in one of its periods, followed while events move its usage.

use crate::{
    Decimal, Timestamp,
    meter::{CellId, InGroup},
    price::Quantity,
    rating::{
        Line, RateCard, Used, groups::RunningGroups, interval::RatedInterval, line::Member,
        until::Until,
    },
    usage::Figures,
};

/// Running amounts of a member of a joint.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningMember {
    /// Usage of each cell, or what other prices come to; none for a fee, and of groups.
    quantity: Option<Quantity>,
    /// What a composite price sees.
    pub(super) seen: Option<Seen>,
    /// Usage of groups, of a model that has such.
    groups: Option<RunningGroups>,
    /// Amount of each cell, of a model whose cells add up.
    cells: Vec<Decimal>,
    /// Amount of the quantity on all days of a cycle, as long as the period runs.
    amount: Decimal,
    /// The part of it for the days served.
    pub(super) spent: Decimal,
    /// The same, with what a minimum of the model adds.
    pub(super) subtotal: Decimal,
    /// The amount that is adjusted.
    pub(super) rated: Decimal,
    /// True where a fee was charged, or a minimum of the model adds something.
    pub(super) is_charged: bool,
}

/// What a composite price sees in one of its periods: fees, and usage by its periods.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    fees: Decimal,
    pub(super) usage: Vec<(Member, RunningMember)>,
}

/// Usage at an instant that has moved some cells.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a, 'u> {
    pub(super) at: Timestamp,
    pub(super) moved: &'a [InGroup<'a>],
    pub(super) used: &'a Used<'u>,
}

impl Followed<'_, '_> {
    /// Tells whether it is rated by a price in one of its periods.
    pub(super) fn is_of(self, card: &RateCard, member: &Member) -> bool {
        let interval = card.intervals.get(member.interval);
        let rates = |of: &RatedInterval| self.moved.iter().any(|place| of.figures.count(*place));
        member.period.contains(self.at) && interval.is_some_and(rates)
    }
}

impl RunningMember {
    pub(super) fn new(
        card: &RateCard,
        interval: &RatedInterval,
        member: &Member,
        until: Until,
        used: &Used<'_>,
    ) -> Self {
        if interval.is_fee() {
            let Line { subtotal, charges, .. } = interval.fee(member.period, until).line;
            let is_charged = charges > 0;
            let (spent, rated) = (subtotal.clone(), subtotal.clone());
            return Self { spent, subtotal, rated, is_charged, ..Self::default() };
        }
        if until.used <= member.period.start() {
            // Nothing can be used of it up to there.
            return Self::default();
        }
        if interval.is_composite() {
            let usage = card.usage_seen_by(interval, member.period).map(|(of, member)| {
                let own = Self::new(card, of, &member, until, used);
                (member, own)
            });
            let fees = card.fees_seen_by(interval, member.period, until);
            let seen = Seen { fees, usage: usage.collect() };
            let mut new = Self { seen: Some(seen), ..Self::default() };
            new.rate(interval, member, until);
            return new;
        }
        let total = used(member.period, until.used);
        if let Some(groups) = RunningGroups::new(interval, member.period, total.as_deref()) {
            let mut new = Self { groups: Some(groups), ..Self::default() };
            new.rate(interval, member, until);
            return new;
        }
        let mut quantity = interval.figures.quantity(total.as_deref());
        let model = interval.price.charge.model();
        let cells = quantity.figures_mut().iter().enumerate();
        let cells = cells.filter_map(|(index, units)| model.cell_amount(index, units)).collect();
        let amount = model.amount(&quantity);
        let mut new = Self { quantity: Some(quantity), cells, amount, ..Self::default() };
        new.rate(interval, member, until);
        new
    }

    /// Rates the usage of the cells that have moved.
    pub(super) fn follow(
        &mut self,
        card: &RateCard,
        member: &Member,
        until: Until,
        usage: Followed<'_, '_>,
    ) {
        let Some(interval) = card.intervals.get(member.interval) else { return };
        if let Some(seen) = &mut self.seen {
            for (seen, own) in &mut seen.usage {
                if usage.is_of(card, seen) {
                    own.follow(card, seen, until, usage);
                }
            }
            self.rate(interval, member, until);
            return;
        }
        let Followed { moved, used, .. } = usage;
        let Some(total) = used(member.period, until.used) else { return };
        if let Some(groups) = &mut self.groups {
            groups.follow(interval, member.period, moved, &total);
            self.rate(interval, member, until);
            return;
        }
        let Some(quantity) = &mut self.quantity else { return };
        let Figures::Cells(cells) = &interval.figures else { return };
        let model = interval.price.charge.model();
        let cells = cells.iter().zip(quantity.figures_mut()).enumerate();
        let has_moved = |own: &CellId| moved.iter().any(|place| place.cell == *own);
        for (index, (cell, units)) in cells.filter(|(_, (cell, _))| has_moved(cell)) {
            *units = total.figure(*cell).unwrap_or_default();
            if let Some(amount) = self.cells.get_mut(index)
                && let Some(after) = model.cell_amount(index, units)
            {
                self.amount += &after - &*amount;
                *amount = after;
            }
        }
        if self.cells.is_empty() {
            self.amount = model.amount(quantity);
        }
        self.rate(interval, member, until);
    }

    /// Rates the amount at an instant: what a minimum of the model adds is there once the period is over.
    fn rate(&mut self, interval: &RatedInterval, member: &Member, until: Until) {
        if let Some(RunningGroups { sum, .. }) = &self.groups {
            self.spent = sum.amount.clone();
            self.subtotal = match interval.has_minimum(member.period, until) {
                true => sum.ended.clone(),
                false => sum.amount.clone(),
            };
            self.is_charged = self.subtotal != self.spent;
            self.rated = self.subtotal.clone();
            return;
        }
        if let Some(Seen { fees, usage }) = &self.seen {
            let usage: Decimal = usage.iter().map(|(_, own)| &own.subtotal).sum();
            let seen = Quantity::One(fees + &usage);
            self.amount = interval.price.charge.model().amount(&seen);
            self.quantity = Some(seen);
        }
        let Some(quantity) = &self.quantity else { return };
        let top_up = interval.top_up(quantity, member.period, until);
        self.is_charged = self.seen.is_none() && !top_up.is_zero();
        self.spent = interval.served(self.amount.clone(), member.period);
        self.subtotal = &self.spent + &top_up;
        self.rated = match (&member.units_off, quantity) {
            (Some(units), Quantity::One(quantity)) => {
                let left = Quantity::One(quantity - units);
                interval.rate(&left, member.period, until).amount
            }
            _ => self.subtotal.clone(),
        };
    }
}
