use super::{Used, card::RatedInterval, joint::Member, until::Until};
use crate::{
    Decimal, Timestamp,
    price::{Part, Quantity, Rating},
};

/// What a price comes to in a timeframe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) quantity: Decimal,
    /// Before adjustments.
    pub(crate) subtotal: Decimal,
    /// After them.
    pub(crate) total: Decimal,
    /// What the subtotal is made of, where that is all of one period from its start on.
    pub(crate) parts: Vec<Part>,
    /// How often something was charged, or whether something was used.
    pub(super) charges: usize,
    /// How often a minimum added something.
    pub(super) top_ups: usize,
    /// How many periods it is of.
    pub(super) periods: usize,
}

/// Amounts of a line: none before anything was used or charged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub(crate) subtotal: Option<Decimal>,
    pub(crate) total: Option<Decimal>,
}

/// What an interval has come to in one of its periods, from the start on, before what is adjusted
/// together with others.
#[derive(Clone, Debug, Default)]
pub(super) struct Charged {
    /// Its total is not there yet.
    pub(super) line: Line,
    /// The amount that is adjusted, as of each instant at which something of it falls due.
    pub(super) due: Vec<(Timestamp, Decimal)>,
}

impl Line {
    /// Adds what one period came to between two instants.
    pub(super) fn add(&mut self, after: &Self, before: &Self) {
        if after.periods == 0 {
            return;
        }
        let moved = |sum: &mut Decimal, after: &Decimal, before: &Decimal| {
            *sum += after.clone() - before.clone();
        };
        moved(&mut self.quantity, &after.quantity, &before.quantity);
        moved(&mut self.subtotal, &after.subtotal, &before.subtotal);
        moved(&mut self.total, &after.total, &before.total);
        let more = |sum: &mut usize, after: usize, before: usize| {
            *sum = sum.saturating_add(after.saturating_sub(before));
        };
        more(&mut self.charges, after.charges, before.charges);
        more(&mut self.top_ups, after.top_ups, before.top_ups);
        let is_whole = self.periods == 0 && before.periods == 0;
        self.parts = if is_whole { after.parts.clone() } else { Vec::new() };
        self.periods = self.periods.saturating_add(1);
    }

    pub(crate) fn amounts(&self) -> Amounts {
        let is_charged = self.charges > 0;
        Amounts {
            subtotal: is_charged.then(|| self.subtotal.clone()),
            total: (is_charged || self.top_ups > 0).then(|| self.total.clone()),
        }
    }
}

impl RatedInterval {
    /// Returns what it has come to in one of its periods.
    pub(super) fn charged(&self, member: &Member, used: &Used<'_>, until: Until) -> Charged {
        if self.is_fee() { self.fee(member.period, until) } else { self.usage(member, used, until) }
    }

    fn usage(&self, member: &Member, used: &Used<'_>, until: Until) -> Charged {
        let period = member.period;
        let to = until.used.min(period.end());
        if to <= period.start() {
            return Charged::default();
        }
        let figures: Vec<_> = self.cells.iter().map(|cell| used(period, to, *cell)).collect();
        let charges = usize::from(figures.iter().any(Option::is_some));
        let mut figures = figures.into_iter().map(Option::unwrap_or_default);
        let quantity = match self.cells.len() {
            1 => Quantity::One(figures.next().unwrap_or_default()),
            _ => Quantity::Cells(figures.collect()),
        };
        let model = self.price.charge.model();
        let Rating { amount: subtotal, parts } = model.rate(&quantity);
        let quantity = quantity.total();
        let rated = match &member.units_off {
            Some(units) => model.rate(&Quantity::One(quantity.clone() - units.clone())).amount,
            None => subtotal.clone(),
        };
        let line = Line { quantity, subtotal, parts, charges, periods: 1, ..Line::default() };
        Charged { line, due: vec![(period.end(), rated)] }
    }
}
