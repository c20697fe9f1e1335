use std::sync::Arc;

use super::{Amounts, Line, RateCard, RatedInterval, rate};
use crate::{
    Decimal, PricingUnit, Timeframe, Timestamp,
    price::{Price, Share},
    usage::{MeterId, Total},
};

/// What a billing period has come to, followed while events are added to it: constant work for each.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    card: Arc<RateCard>,
    /// Whether the period has ended, so that minimums count.
    has_ended: bool,
    lines: Vec<RunningLine>,
}

#[derive(Clone, Debug)]
struct RunningLine {
    amounts: Amounts,
    /// What was used of each meter, and what that costs.
    cells: Vec<(Decimal, Decimal)>,
    share: Share,
}

/// A line that has moved: its place, and by how much.
pub(crate) type Moved = (usize, Amounts);

impl Running {
    /// Rates what was used in a billing period, as of an instant.
    pub(crate) fn new(
        card: Arc<RateCard>,
        period: Timeframe,
        total: &Total,
        at: Timestamp,
    ) -> Self {
        let used = |_: Timeframe, _: Timestamp, meter: MeterId| total.figure(meter);
        let lines = rate(&card, &used, period, at);
        let lines = card.intervals.iter().zip(lines);
        let lines = lines.map(|(interval, line)| RunningLine::new(interval, &line, period, total));
        let lines = lines.collect();
        Self { has_ended: period.end() <= at, lines, card }
    }

    /// Follows usage that has moved, and returns which lines have.
    pub(crate) fn follow(&mut self, moved: &[MeterId], total: &Total) -> Vec<Moved> {
        let mut lines = Vec::new();
        let intervals = self.card.intervals.iter().zip(&mut self.lines).enumerate();
        for (index, (interval, line)) in intervals {
            if interval.meters.iter().any(|meter| moved.contains(meter)) {
                let before = line.amounts.clone();
                line.follow(interval, moved, total, self.has_ended);
                lines.push((index, line.amounts.since(before)));
            }
        }
        lines
    }

    /// Returns what credits of a currency or pricing unit pay for of usage lines that have moved: what
    /// they cost more before adjustments.
    pub(crate) fn drawn_in(&self, unit: &PricingUnit, moved: &[Moved]) -> Decimal {
        let moved = moved.iter().filter(|(index, _)| {
            self.card.intervals.get(*index).is_some_and(|of| of.price.currency == *unit)
        });
        moved.filter_map(|(_, amounts)| amounts.subtotal.clone()).sum()
    }

    /// Returns what they pay for of everything that was used.
    pub(crate) fn used_in(&self, unit: &PricingUnit) -> Decimal {
        let lines = self.card.intervals.iter().zip(&self.lines);
        let used = lines.filter(|(of, _)| !of.meters.is_empty() && of.price.currency == *unit);
        used.filter_map(|(_, line)| line.amounts.subtotal.clone()).sum()
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
        let moved = |after: &Option<Decimal>, before: Option<Decimal>| {
            after.clone().map(|after| after - before.unwrap_or_default())
        };
        Self {
            subtotal: moved(&self.subtotal, before.subtotal),
            total: moved(&self.total, before.total),
        }
    }
}

impl RunningLine {
    fn new(interval: &RatedInterval, line: &Line, period: Timeframe, total: &Total) -> Self {
        let model = interval.price.charge.model();
        let cells = interval.meters.iter().enumerate().map(|(index, meter)| {
            let figure = total.figure(*meter).unwrap_or_default();
            let amount = model.amount(index, &figure);
            (figure, amount)
        });
        let cells = cells.collect();
        Self { amounts: line.amounts(), cells, share: interval.share(period) }
    }

    /// Rates what was used of the meters that have moved.
    fn follow(
        &mut self,
        interval: &RatedInterval,
        moved: &[MeterId],
        total: &Total,
        has_ended: bool,
    ) {
        let (model, adjustments) = (interval.price.charge.model(), &interval.price.adjustments);
        let mut subtotal = self.amounts.subtotal.take().unwrap_or_default();
        for (index, (meter, (quantity, amount))) in
            interval.meters.iter().zip(&mut self.cells).enumerate()
        {
            if let Some(figure) = total.figure(*meter).filter(|_| moved.contains(meter)) {
                let before = std::mem::replace(amount, model.amount(index, &figure));
                subtotal += amount.clone() - before;
                *quantity = figure;
            }
        }
        let rated = match (adjustments.units_off(), self.cells.as_slice()) {
            (Some(units), [(quantity, _)]) => model.amount(0, &(quantity.clone() - units.clone())),
            _ => subtotal.clone(),
        };
        let total = match has_ended {
            true => adjustments.ended(rated, self.share),
            false => adjustments.running(rated, self.share),
        };
        self.amounts = Amounts { subtotal: Some(subtotal), total: Some(total) };
    }
}
