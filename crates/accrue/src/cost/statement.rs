use std::time::Duration;

use super::{
    Cost, CostLine, fees,
    rate_card::{Priced, RateCard},
};
use crate::{
    Decimal, PricingUnit, Timeframe, Timestamp,
    price::{Part, Price, Rated},
    usage::Total,
};

/// What a subscription costs in slots that adjoin, while it is computed.
pub(crate) struct Statement<'a> {
    card: &'a RateCard,
    /// Nothing counts that falls due after it.
    now: Timestamp,
    slots: Vec<(Timeframe, Vec<Sums>)>,
}

/// What one price comes to in one slot.
#[derive(Clone, Debug, Default)]
struct Sums {
    quantity: Decimal,
    subtotal: Decimal,
    total: Decimal,
    parts: Vec<Part>,
    /// Whether usage was added: parts explain the first piece alone.
    is_rated: bool,
}

impl<'a> Statement<'a> {
    /// Starts with the fees that fall due in the slots.
    pub(crate) fn new(card: &'a RateCard, slots: &[Timeframe], now: Timestamp) -> Self {
        let lines = |slot: &Timeframe| {
            let sums = card.prices.iter().map(|priced| {
                let mut sums = Sums::default();
                let fees = fees(&priced.price, &card.subscription, until_now(*slot, now));
                for fee in fees.into_iter().filter(|fee| fee.at <= now) {
                    sums.quantity += fee.quantity;
                    sums.subtotal += fee.subtotal;
                    sums.total += fee.total;
                }
                sums
            });
            (*slot, sums.collect())
        };
        Self { card, now, slots: slots.iter().map(lines).collect() }
    }

    /// Returns the instants of a billing period at which it must be known what was used since its
    /// start: where a slot begins or ends.
    pub(crate) fn marks(&self, period: Timeframe) -> Vec<Timestamp> {
        let first = self.slots.partition_point(|(slot, _)| slot.end() < period.start());
        let slots = self.slots.get(first..).unwrap_or_default().iter().map(|(slot, _)| *slot);
        let within = slots.take_while(|slot| slot.start() <= period.end());
        let bounds = within.flat_map(|slot| [slot.start(), slot.end()]);
        let mut marks: Vec<_> = bounds.map(|at| at.clamp(period.start(), period.end())).collect();
        marks.dedup();
        marks
    }

    /// Adds what was used in a billing period: from its start to each of its marks.
    pub(crate) fn add(&mut self, period: Timeframe, used: &[(Timestamp, Total)]) {
        for (index, priced) in self.card.prices.iter().enumerate() {
            if priced.meters.is_empty() {
                continue;
            }
            let rated: Vec<_> =
                used.iter().map(|(at, used)| (*at, self.rate(priced, period, *at, used))).collect();
            for pair in rated.windows(2) {
                let [(from, before), (_, after)] = pair else { continue };
                let slot = self.slots.partition_point(|(slot, _)| slot.end() <= *from);
                let lines = self.slots.get_mut(slot).map(|(_, lines)| lines);
                let Some(sums) = lines.and_then(|lines| lines.get_mut(index)) else { continue };
                let whole = *from == period.start();
                sums.add(before, after, whole);
            }
        }
    }

    /// Rates what was used from the start of a period up to an instant: nothing at its start, and
    /// at its end with what a minimum adds.
    fn rate(&self, priced: &Priced, period: Timeframe, at: Timestamp, used: &Total) -> Rated {
        let mut rated = priced.rate(used);
        if at == period.end() && at <= self.now {
            let top_up = priced.price.adjustments.top_up(&rated.total);
            rated.total += top_up;
        }
        rated
    }

    /// Sums up, in a currency or pricing unit.
    pub(crate) fn finish(self, currency: &PricingUnit) -> Vec<Cost> {
        let invoiced_in = self.card.subscription.currency;
        let costs = self.slots.into_iter().map(|(slot, sums)| {
            let lines = self.card.prices.iter().zip(sums);
            let lines = lines.map(|(Priced { price, .. }, sums)| {
                sums.line(price, price.worth_in(currency, invoiced_in))
            });
            Cost::of(slot, currency.clone(), lines.collect())
        });
        costs.collect()
    }
}

/// Cuts what lies in the future off, where no fee has fallen due.
fn until_now(slot: Timeframe, now: Timestamp) -> Timeframe {
    slot.until(slot.end().min(now.saturating_add(Duration::from_micros(1))))
}

impl Sums {
    fn add(&mut self, before: &Rated, after: &Rated, whole: bool) {
        let is_first = !std::mem::replace(&mut self.is_rated, true);
        let moved = |sum: &mut Decimal, before: &Decimal, after: &Decimal| {
            *sum += after.clone() - before.clone();
        };
        moved(&mut self.quantity, &before.quantity, &after.quantity);
        moved(&mut self.subtotal, &before.subtotal.amount, &after.subtotal.amount);
        moved(&mut self.total, &before.total, &after.total);
        self.parts = if is_first && whole { after.subtotal.parts.clone() } else { Vec::new() };
    }

    fn line(self, price: &Price, worth: Option<Decimal>) -> CostLine {
        CostLine {
            price_id: price.id,
            name: price.name.clone(),
            currency: price.currency.clone(),
            quantity: self.quantity,
            subtotal: self.subtotal,
            total: self.total,
            parts: self.parts,
            worth,
        }
    }
}
