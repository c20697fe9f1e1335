use std::collections::BTreeMap;

use super::{RateCard, Used, discounts::State, interval::RatedInterval, until::Until};
use crate::{
    Decimal, Timeframe, Timestamp,
    price::{Charge, Converted, Part, Parts, Quantity, Rating, Worth},
};

/// Line of a price in a timeframe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) quantity: Decimal,
    /// Amount before adjustments.
    pub(crate) subtotal: Decimal,
    /// What a minimum of the model adds to it.
    pub(super) top_up: Decimal,
    /// Amount after adjustments.
    pub(crate) total: Decimal,
    /// Both in the currency that is invoiced, where tiers convert them.
    pub(crate) in_tiers: Option<Converted>,
    /// Parts of the subtotal, where they can be told: those of a fee cannot.
    pub(crate) parts: Vec<Part>,
    /// Number of charges, of periods in which something was used, and of minimums of models.
    pub(super) charges: usize,
    /// Number of times that a minimum added something.
    pub(super) top_ups: usize,
    /// Number of periods that the line is of.
    pub(super) periods: usize,
}

/// Amounts of a line: none before anything was used or charged, or of a composite price while they are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub(crate) subtotal: Option<Decimal>,
    /// The subtotal without what a minimum of the model adds: what credits pay for.
    pub(crate) spent: Option<Decimal>,
    pub(crate) total: Option<Decimal>,
    /// The subtotal and the total in the currency that is invoiced, where tiers convert them.
    pub(crate) in_tiers: Option<Converted>,
}

/// Charge of an interval in one of its periods, from the start on, before the adjustments that it
/// shares with others.
#[derive(Clone, Debug, Default)]
pub(super) struct Charged {
    /// Line of it, whose total is not there yet.
    pub(super) line: Line,
    /// The amount that is adjusted, as of each instant at which something of it falls due.
    pub(super) due: BTreeMap<Timestamp, State>,
}

/// A period of an interval.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The place of the interval on the card.
    pub(super) interval: usize,
    pub(super) period: Timeframe,
    /// Units that are taken off before they are rated.
    pub(super) units_off: Option<Decimal>,
}

impl Line {
    /// Adds the amounts of one period between two instants.
    pub(super) fn add(&mut self, after: &Self, before: &Self) {
        if after.periods == 0 {
            return;
        }
        let moved = |sum: &mut Decimal, after: &Decimal, before: &Decimal| {
            *sum += after.clone() - before.clone();
        };
        let parts = after.parts().less(&before.parts());
        let subtotal = after.subtotal.clone() - before.subtotal.clone();
        self.parts = self.parts().and(&Parts { amount: &subtotal, parts: &parts });
        self.subtotal += subtotal;
        moved(&mut self.top_up, &after.top_up, &before.top_up);
        moved(&mut self.quantity, &after.quantity, &before.quantity);
        moved(&mut self.total, &after.total, &before.total);
        if let Some(after) = &after.in_tiers {
            self.in_tiers.get_or_insert_default().add(&after.since(before.in_tiers.as_ref()));
        }
        let more = |sum: &mut usize, after: usize, before: usize| {
            *sum = sum.saturating_add(after.saturating_sub(before));
        };
        more(&mut self.charges, after.charges, before.charges);
        more(&mut self.top_ups, after.top_ups, before.top_ups);
        self.periods = self.periods.saturating_add(1);
    }

    fn parts(&self) -> Parts<'_> {
        Parts { amount: &self.subtotal, parts: &self.parts }
    }

    /// Returns its amounts in a unit that they are worth something in.
    pub(crate) fn converted(&self, worth: &Worth) -> Converted {
        let in_tiers = self.in_tiers.as_ref();
        Converted {
            subtotal: worth.of(&self.subtotal, in_tiers.map(|of| &of.subtotal)),
            total: worth.of(&self.total, in_tiers.map(|of| &of.total)),
        }
    }

    pub(crate) fn amounts(&self) -> Amounts {
        let is_charged = self.charges > 0 || !self.subtotal.is_zero();
        Amounts {
            subtotal: is_charged.then(|| self.subtotal.clone()),
            spent: is_charged.then(|| &self.subtotal - &self.top_up),
            total: (is_charged || self.top_ups > 0).then(|| self.total.clone()),
            in_tiers: self.in_tiers.clone(),
        }
    }
}

impl Charged {
    /// Charges a line at the end of a period: the subtotal, or what is rated in its place.
    pub(super) fn at_end(line: Line, rated: Option<Decimal>, period: Timeframe) -> Self {
        let rated = rated.unwrap_or_else(|| line.subtotal.clone());
        let state = State { level: rated.clone(), sum: rated };
        Self { line, due: BTreeMap::from([(period.end(), state)]) }
    }
}

impl RatedInterval {
    /// Returns its charge in one of its periods.
    pub(super) fn charged(
        &self,
        card: &RateCard,
        member: &Member,
        used: &Used<'_>,
        until: Until,
    ) -> Charged {
        match self.price.charge {
            Charge::Usage { .. } => self.usage(member, used, until),
            Charge::Fixed { .. } => self.fee(member.period, until),
            Charge::Composite { .. } => self.composite(card, member.period, used, until),
        }
    }

    pub(super) fn usage(&self, member: &Member, used: &Used<'_>, until: Until) -> Charged {
        let period = member.period;
        let to = until.used.min(period.end());
        if to <= period.start() {
            return Charged::default();
        }
        let total = used(period, to);
        let is_used = total.as_deref().is_some_and(|total| self.figures.are_there(total));
        let quantity = self.figures.quantity(total.as_deref());
        let line = self.line(&quantity, period, until);
        let charges = usize::from(is_used).saturating_add((!line.top_up.is_zero()).into());
        let rated = member
            .units_off
            .as_ref()
            .map(|units| self.rate(&Quantity::One(&line.quantity - units), period, until).amount);
        Charged::at_end(Line { charges, ..line }, rated, period)
    }

    /// Returns the line of a quantity in one of its periods, before adjustments.
    pub(super) fn line(&self, quantity: &Quantity, period: Timeframe, until: Until) -> Line {
        let Rating { amount: subtotal, parts } = self.rate(quantity, period, until);
        let top_up = self.top_up(quantity, period, until);
        let quantity = match self.group_rater(period) {
            Some(rater) => rater.sum_of(quantity).quantity,
            None => self.price.charge.model().line_quantity(quantity),
        };
        Line { quantity, subtotal, top_up, parts, periods: 1, ..Line::default() }
    }

    /// Rates the usage of one of its periods: once that is over with what a minimum of the model adds, and
    /// prorated where the model is.
    pub(super) fn rate(&self, quantity: &Quantity, period: Timeframe, until: Until) -> Rating {
        let (model, is_over) = (self.price.charge.model(), self.has_minimum(period, until));
        if let Some(rater) = self.group_rater(period) {
            return rater.rating(quantity, is_over);
        }
        let rating = match is_over {
            true => model.rate_ended(quantity, self.share(period)),
            false => model.rate_so_far(quantity),
        };
        match model.is_prorated() {
            true => rating.prorated(self.share(period)),
            false => rating,
        }
    }

    /// Tells whether a minimum of the model counts: once the period is over, of one that is no trial.
    pub(super) fn has_minimum(&self, period: Timeframe, until: Until) -> bool {
        until.has_ended(period.end()) && !self.is_trial
    }

    /// Returns what a minimum of the model adds to what a quantity costs: nothing before the period is over.
    pub(super) fn top_up(&self, quantity: &Quantity, period: Timeframe, until: Until) -> Decimal {
        if !self.has_minimum(period, until) {
            return Decimal::zero();
        }
        if let Some(rater) = self.group_rater(period) {
            let sum = rater.sum_of(quantity);
            return sum.ended - sum.amount;
        }
        let model = self.price.charge.model();
        let amount = model.amount(quantity);
        let top_up = model.top_up(quantity, &amount, self.share(period));
        self.served(&amount + &top_up, period) - self.served(amount, period)
    }

    /// Returns the part of an amount of usage that the days served of a period are worth.
    pub(super) fn served(&self, amount: Decimal, period: Timeframe) -> Decimal {
        match self.price.charge.model().is_prorated() {
            true => self.share(period).of(&amount),
            false => amount,
        }
    }
}
