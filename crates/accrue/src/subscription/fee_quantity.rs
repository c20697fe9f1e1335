use serde::{Deserialize, Serialize};

use super::{Subscription, SubscriptionStatus};
use crate::{
    Decimal, Error, IdOr, PriceId, Timeframe, Timestamp, limits,
    price::{Charge, Price},
};

/// Another quantity of a fixed fee, from an instant on (wire 5.1).
///
/// It holds until the next change of that fee that is scheduled: a change leaves later ones as they
/// are, and replaces one at its own instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeeQuantityChange {
    /// The fee: a fixed price of the plan version.
    pub price: IdOr<PriceId>,
    /// How many from then on, zero or more.
    pub quantity: Decimal,
    /// When it takes effect.
    pub when: ChangeTiming,
}

/// When a change takes effect (wire 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeTiming {
    /// Now; with the start of a subscription that has not begun.
    Immediate,
    /// With the next billing period of the fee to begin.
    UpcomingInvoice,
    /// At an instant: no earlier than the current billing period of the fee and that of the
    /// subscription begin, and before the subscription ends.
    EffectiveDate(Timestamp),
}

/// How many of a fixed fee a subscription has, and from when until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FeeStretch {
    /// From when: the start of the subscription, or a change.
    pub start_date: Timestamp,
    /// Until when: the next change, or the end of the subscription; `None` where none is known.
    pub end_date: Option<Timestamp>,
    /// How many.
    pub quantity: Decimal,
}

impl FeeQuantityChange {
    /// Another quantity from now on.
    pub fn immediate(price: impl Into<IdOr<PriceId>>, quantity: Decimal) -> Self {
        Self { price: price.into(), quantity, when: ChangeTiming::Immediate }
    }

    /// Says what is wrong with it, whatever there is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_quantity("/quantity", &self.quantity)
    }
}

/// Refuses a quantity that is negative, or could not come in.
pub(super) fn check_quantity(pointer: impl Into<String>, quantity: &Decimal) -> Result<(), Error> {
    if quantity.is_negative() || !quantity.could_come_in() {
        let message = format!("found {quantity}, expected a number from zero on");
        return Err(Error::invalid(pointer, message));
    }
    Ok(())
}

impl ChangeTiming {
    /// Decides at which instant a fee of a subscription changes.
    pub(crate) fn decide(
        self,
        subscription: &Subscription,
        price: &Price,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        let Subscription { start_date, end_date, .. } = *subscription;
        if subscription.status(now) == SubscriptionStatus::Ended {
            return Err(Error::constraint("the subscription has ended already"));
        }
        let from = now.max(start_date);
        let current = subscription.fee_period(price, from);
        let current = current.ok_or_else(|| Error::constraint("the fee falls due no more"))?;
        match self {
            Self::Immediate => Ok(from),
            Self::UpcomingInvoice if now < start_date => Ok(start_date),
            Self::UpcomingInvoice => {
                let next = subscription.fee_period(price, current.end()).map(Timeframe::start);
                next.ok_or_else(|| Error::constraint("the fee has no next billing period"))
            }
            Self::EffectiveDate(date) => {
                let own = subscription.periods().containing(from);
                let own = own.map_or(start_date, Timeframe::start);
                let earliest = current.start().max(own);
                let wrong = |what: &str, bound: Timestamp| {
                    Err(Error::constraint(format!("the effective date {date} {what} {bound}")))
                };
                match end_date {
                    _ if date < earliest => {
                        wrong("is before the start of the current billing period,", earliest)
                    }
                    Some(end) if end <= date => {
                        wrong("is not before the end of the subscription,", end)
                    }
                    _ if subscription.fee_period(price, date).is_none() => {
                        wrong("is not within the only billing period of the fee, to", current.end())
                    }
                    _ => Ok(date),
                }
            }
        }
    }
}

impl Subscription {
    /// Returns how many of a fixed fee there are at an instant; `None` for a price that is none.
    #[must_use]
    pub fn fee_quantity<'a>(&'a self, price: &'a Price, at: Timestamp) -> Option<&'a Decimal> {
        let Charge::Fixed { quantity, .. } = &price.charge else { return None };
        let changes = self.fee_changes.get(&price.id);
        let changed = changes.and_then(|changes| changes.range(..=at).next_back());
        let changed = changed.map(|(_, quantity)| quantity);
        changed.or_else(|| self.fee_quantities.get(&price.id)).or(Some(quantity))
    }

    /// Returns how many of a fixed fee there are over the subscription's life, oldest first: nothing
    /// for a price that is no fee, or a life that is empty. Changes behind the end are left out.
    #[must_use]
    pub fn fee_schedule(&self, price: &Price) -> Vec<FeeStretch> {
        let changes = self.fee_changes.get(&price.id).into_iter().flat_map(|of| of.keys());
        let later = changes.copied().filter(|at| self.start_date < *at && self.covers(*at));
        let starts = [self.start_date].into_iter().filter(|at| self.covers(*at)).chain(later);
        let starts: Vec<_> = starts.collect();
        let ends = starts.iter().skip(1).copied().map(Some).chain([self.end_date]);
        let stretches = starts.iter().zip(ends).filter_map(|(start, end_date)| {
            let quantity = self.fee_quantity(price, *start)?.clone();
            Some(FeeStretch { start_date: *start, end_date, quantity })
        });
        stretches.collect()
    }

    /// Returns the billing period of a fee that holds an instant: one that is charged once has the
    /// subscription's first one alone.
    pub(crate) fn fee_period(&self, price: &Price, at: Timestamp) -> Option<Timeframe> {
        match price.cadence.cycle() {
            Some(cycle) => self.periods_of(cycle).containing(at),
            None => self.periods().first().filter(|first| first.contains(at)),
        }
    }

    /// Returns when the quantity of a fee changes next after an instant, while the subscription
    /// lives.
    pub(super) fn next_fee_change(&self, after: Timestamp) -> Option<Timestamp> {
        let changes = self.fee_changes.values().flat_map(|of| of.keys());
        changes.copied().filter(|at| after < *at && self.covers(*at)).min()
    }

    /// Changes the quantity of a fee from an instant on.
    pub(crate) fn change_fee(
        &mut self,
        id: PriceId,
        at: Timestamp,
        quantity: Decimal,
    ) -> Result<(), Error> {
        self.fee_changes.entry(id).or_default().insert(at, quantity);
        let count = self.fee_changes.values().map(|of| of.len()).fold(0, usize::saturating_add);
        if count > limits::FEE_CHANGES {
            let most = limits::FEE_CHANGES;
            let detail = format!("the quantities of its fees have changed {most} times already");
            return Err(Error::constraint(detail));
        }
        Ok(())
    }
}
