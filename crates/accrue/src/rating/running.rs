use std::sync::Arc;

use super::{Amounts, RateCard, RatedInterval, Used};
use crate::{
    Decimal, PricingUnit, Timeframe, Timestamp,
    meter::CellId,
    price::{Price, Share},
};

/// What a timeframe has come to, followed while events are added: constant work for each.
///
/// A price may have periods of its own that begin before the timeframe or end behind it: of those it is
/// what they have come to at the end of the timeframe less that at its start.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    card: Arc<RateCard>,
    timeframe: Timeframe,
    lines: Vec<RunningLine>,
}

#[derive(Clone, Debug, Default)]
struct RunningLine {
    amounts: Amounts,
    /// Whether something was used within the timeframe.
    is_used: bool,
    /// The price's periods that the timeframe touches; none of a fee.
    periods: Vec<RunningPeriod>,
}

/// One period of a price, within a timeframe.
#[derive(Clone, Debug)]
struct RunningPeriod {
    timeframe: Timeframe,
    share: Share,
    /// Whether it has ended, so that minimums count.
    has_ended: bool,
    /// What it came to up to the start of the timeframe, where it begins before that.
    before: Option<Cumulative>,
    after: Cumulative,
}

/// What one period of a price has come to from its start up to an instant.
#[derive(Clone, Debug)]
struct Cumulative {
    to: Timestamp,
    /// What was used of each cell, and what that costs.
    cells: Vec<(Decimal, Decimal)>,
    subtotal: Decimal,
    total: Decimal,
    /// Whether a minimum added something.
    is_topped_up: bool,
}

/// A line that has moved: its place, and by how much.
pub(crate) type Moved = (usize, Amounts);

impl Running {
    /// Rates what a timeframe has come to, as of an instant. What was used in all of the timeframe is
    /// asked for too, as if it were a period.
    pub(crate) fn new(
        card: Arc<RateCard>,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let lines = card.intervals.iter().map(|interval| {
            if interval.is_fee() {
                let fee = interval.rate(used, std::slice::from_ref(&timeframe), at).pop();
                let amounts = fee.unwrap_or_default().amounts();
                return RunningLine { amounts, ..RunningLine::default() };
            }
            RunningLine::new(interval, interval.periods_in(timeframe), timeframe, used, at)
        });
        Self { lines: lines.collect(), card, timeframe }
    }

    /// Rates only the usage prices of which the timeframe is a period: what credits pay for.
    pub(crate) fn of_period(
        card: Arc<RateCard>,
        period: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let lines = card.intervals.iter().map(|interval| {
            if interval.is_fee() || interval.periods_in(period) != [period] {
                return RunningLine::default();
            }
            RunningLine::new(interval, vec![period], period, used, at)
        });
        Self { lines: lines.collect(), card, timeframe: period }
    }

    /// Follows usage at an instant that has moved some cells, and returns which lines have moved.
    pub(crate) fn follow(
        &mut self,
        at: Timestamp,
        moved: &[CellId],
        used: &Used<'_>,
    ) -> Vec<Moved> {
        let mut lines = Vec::new();
        if self.timeframe.end() <= at {
            return lines;
        }
        let is_within = self.timeframe.contains(at);
        let intervals = self.card.intervals.iter().zip(&mut self.lines).enumerate();
        for (index, (interval, line)) in intervals {
            let holds = line.periods.iter().any(|period| period.timeframe.contains(at));
            if holds && interval.cells.iter().any(|cell| moved.contains(cell)) {
                let before = line.amounts.clone();
                line.is_used |= is_within;
                line.follow(interval, at, moved, used);
                lines.push((index, line.amounts.since(before)));
            }
        }
        lines
    }

    /// Returns what credits of a currency or pricing unit pay for of lines that have moved, of prices of
    /// which the timeframe is a period: what they cost more before adjustments.
    pub(crate) fn drawn_in(&self, unit: &PricingUnit, moved: &[Moved]) -> Decimal {
        let moved = moved.iter().filter(|(index, _)| self.draws(*index, unit));
        moved.filter_map(|(_, amounts)| amounts.subtotal.clone()).sum()
    }

    /// Returns what they pay for of everything that was used.
    pub(crate) fn used_in(&self, unit: &PricingUnit) -> Decimal {
        let lines = self.lines.iter().enumerate().filter(|(index, _)| self.draws(*index, unit));
        lines.filter_map(|(_, line)| line.amounts.subtotal.clone()).sum()
    }

    fn draws(&self, index: usize, unit: &PricingUnit) -> bool {
        let line = self.card.intervals.get(index).zip(self.lines.get(index));
        line.is_some_and(|(interval, line)| {
            let mut periods = line.periods.iter();
            let is_own = periods.next().is_some_and(|first| first.timeframe == self.timeframe);
            interval.price.currency == *unit && is_own && periods.next().is_none()
        })
    }

    /// Returns the prices, in order, with what each has come to.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Price, &Amounts)> {
        let lines = self.card.intervals.iter().zip(&self.lines);
        lines.map(|(interval, line)| (&*interval.price, &line.amounts))
    }

    pub(crate) fn card(&self) -> &RateCard {
        &self.card
    }
}

impl Amounts {
    /// Returns by how much they have moved.
    fn since(&self, before: Self) -> Self {
        // What a minimum added may be used up, so that there is nothing any more.
        let moved = |after: &Option<Decimal>, before: Option<Decimal>| {
            let is_there = after.is_some() || before.is_some();
            is_there.then(|| after.clone().unwrap_or_default() - before.unwrap_or_default())
        };
        Self {
            subtotal: moved(&self.subtotal, before.subtotal),
            total: moved(&self.total, before.total),
        }
    }
}

impl RunningLine {
    fn new(
        interval: &RatedInterval,
        periods: Vec<Timeframe>,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let is_used = |cell: &CellId| used(timeframe, timeframe.end(), *cell).is_some();
        let periods = periods.into_iter();
        let periods = periods.map(|of| RunningPeriod::new(interval, of, timeframe, used, at));
        let mut line = Self {
            amounts: Amounts::default(),
            is_used: interval.cells.iter().any(is_used),
            periods: periods.collect(),
        };
        line.sum_up();
        line
    }

    fn follow(
        &mut self,
        interval: &RatedInterval,
        at: Timestamp,
        moved: &[CellId],
        used: &Used<'_>,
    ) {
        for period in self.periods.iter_mut().filter(|period| period.timeframe.contains(at)) {
            period.follow(interval, at, moved, used);
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let periods = || self.periods.iter();
        let is_topped_up = periods().any(|period| period.after.is_topped_up);
        let subtotal = || periods().map(|of| of.moved(|cumulative| &cumulative.subtotal)).sum();
        let total = || periods().map(|of| of.moved(|cumulative| &cumulative.total)).sum();
        self.amounts = Amounts {
            subtotal: self.is_used.then(subtotal),
            total: (self.is_used || is_topped_up).then(total),
        };
    }
}

impl RunningPeriod {
    fn new(
        interval: &RatedInterval,
        period: Timeframe,
        timeframe: Timeframe,
        used: &Used<'_>,
        at: Timestamp,
    ) -> Self {
        let share = interval.share(period);
        let has_ended = period.end() <= timeframe.end() && period.end() <= at;
        let to = |to, has_ended| Cumulative::new(interval, period, to, used, share, has_ended);
        let before = (period.start() < timeframe.start()).then(|| to(timeframe.start(), false));
        let after = to(period.end().min(timeframe.end()), has_ended);
        Self { timeframe: period, share, has_ended, before, after }
    }

    fn follow(
        &mut self,
        interval: &RatedInterval,
        at: Timestamp,
        moved: &[CellId],
        used: &Used<'_>,
    ) {
        let (period, share) = (self.timeframe, self.share);
        if let Some(before) = self.before.as_mut().filter(|before| at < before.to) {
            before.follow(interval, period, moved, used, share, false);
        }
        self.after.follow(interval, period, moved, used, share, self.has_ended);
    }

    fn moved(&self, of: impl Fn(&Cumulative) -> &Decimal) -> Decimal {
        match &self.before {
            Some(before) => of(&self.after) - of(before),
            None => of(&self.after).clone(),
        }
    }
}

impl Cumulative {
    fn new(
        interval: &RatedInterval,
        period: Timeframe,
        to: Timestamp,
        used: &Used<'_>,
        share: Share,
        has_ended: bool,
    ) -> Self {
        let model = interval.price.charge.model();
        let cells = interval.cells.iter().enumerate().map(|(index, cell)| {
            let figure = used(period, to, *cell).unwrap_or_default();
            let amount = model.amount(index, &figure);
            (figure, amount)
        });
        let cells: Vec<_> = cells.collect();
        let subtotal = cells.iter().map(|(_, amount)| amount.clone()).sum();
        let mut new = Self { to, cells, subtotal, total: Decimal::zero(), is_topped_up: false };
        new.adjust(interval, share, has_ended);
        new
    }

    /// Rates what was used of the cells that have moved.
    fn follow(
        &mut self,
        interval: &RatedInterval,
        period: Timeframe,
        moved: &[CellId],
        used: &Used<'_>,
        share: Share,
        has_ended: bool,
    ) {
        let model = interval.price.charge.model();
        let meters = interval.cells.iter().zip(&mut self.cells).enumerate();
        for (index, (cell, (quantity, amount))) in meters {
            if !moved.contains(cell) {
                continue;
            }
            let figure = used(period, self.to, *cell).unwrap_or_default();
            let before = std::mem::replace(amount, model.amount(index, &figure));
            self.subtotal += amount.clone() - before;
            *quantity = figure;
        }
        self.adjust(interval, share, has_ended);
    }

    fn adjust(&mut self, interval: &RatedInterval, share: Share, has_ended: bool) {
        let (model, adjustments) = (interval.price.charge.model(), &interval.price.adjustments);
        let rated = match (adjustments.units_off(), self.cells.as_slice()) {
            (Some(units), [(quantity, _)]) => model.amount(0, &(quantity.clone() - units.clone())),
            _ => self.subtotal.clone(),
        };
        self.total = match has_ended {
            true => adjustments.ended(rated.clone(), share),
            false => adjustments.running(rated.clone(), share),
        };
        self.is_topped_up = has_ended && self.total != adjustments.running(rated, share);
    }
}
