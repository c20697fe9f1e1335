use serde::{Deserialize, Serialize};

use super::{Subscription, SubscriptionStatus};
use crate::{Decimal, Error, IdOr, PriceId, Timeframe, Timestamp, limits};

/// Change of the quantity of a fixed fee of an active subscription, from an instant on (subscriptions 3.6).
///
/// It holds until the next change of that fee that is scheduled: a change leaves later ones as they
/// are, and replaces one at its own instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeeQuantityChange {
    /// Fee: a fixed price of the plan version.
    pub price: IdOr<PriceId>,
    /// Quantity from then on, zero or more.
    pub quantity: Decimal,
    /// Timing: when it takes effect.
    pub when: ChangeTiming,
}

/// Timing of a change: when it takes effect (wire 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeTiming {
    /// Now.
    Immediate,
    /// Start of the next billing period of the fee.
    UpcomingInvoice,
    /// Instant within any billing period of the fee, also one that has passed.
    EffectiveDate(Timestamp),
}

/// Stretch of time in which a fixed fee of a subscription has one quantity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FeeStretch {
    /// Start: that of the subscription, or a change.
    pub start_date: Timestamp,
    /// End: the next change, or the end of the subscription; `None` where none is known.
    pub end_date: Option<Timestamp>,
    /// Quantity in the stretch.
    pub quantity: Decimal,
}

impl FeeQuantityChange {
    /// Changes the quantity from now on.
    pub fn immediate(price: impl Into<IdOr<PriceId>>, quantity: Decimal) -> Self {
        Self { price: price.into(), quantity, when: ChangeTiming::Immediate }
    }

    /// Says everything that is wrong with it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_quantity("quantity", &self.quantity)
    }
}

/// Refuses a quantity that is negative, or could not come in.
pub(super) fn check_quantity(field: impl Into<String>, quantity: &Decimal) -> Result<(), Error> {
    if quantity.is_negative() || !quantity.could_come_in() {
        let message = format!("found {quantity}, expected a number from zero on");
        return Err(Error::invalid(field, message));
    }
    Ok(())
}

impl ChangeTiming {
    /// Decides the instant at which a fee of a subscription changes.
    pub(crate) fn decide(
        self,
        subscription: &Subscription,
        price: PriceId,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        match subscription.status(now) {
            SubscriptionStatus::Upcoming => {
                return Err(Error::constraint("the subscription has not begun yet"));
            }
            SubscriptionStatus::Ended => {
                return Err(Error::constraint("the subscription has ended already"));
            }
            SubscriptionStatus::Active => {}
        }
        let period = |at: Timestamp| {
            let interval = subscription.fee_interval(price, at)?;
            subscription.period_of(interval, at)
        };
        if let Self::EffectiveDate(date) = self {
            let wrong = |why: &str| Error::constraint(format!("the effective date {date} {why}"));
            return match subscription.end_date {
                Some(end) if end <= date => {
                    Err(wrong(&format!("is not before the end of the subscription, {end}")))
                }
                _ if period(date).is_none() => Err(wrong("is within no billing period of the fee")),
                _ => Ok(date),
            };
        }
        let current = period(now);
        if self == Self::Immediate {
            let is_charged = current.map(|_| now);
            return is_charged.ok_or_else(|| Error::constraint("the fee is not charged now"));
        }
        let next = match current {
            Some(current) => period(current.end()).map(Timeframe::start),
            // It may be to come, with a phase or with the end of a trial.
            None => {
                let own = subscription.price_intervals.iter();
                let own = own.filter(|own| own.price_id == price && own.is_fee());
                let starts = own.map(|own| own.start_date).filter(|start| now < *start);
                starts.min().filter(|start| subscription.covers(*start))
            }
        };
        next.ok_or_else(|| Error::constraint("the fee has no next billing period"))
    }
}

impl Subscription {
    /// Returns the next instant behind another one at which the quantity of a fee changes, while the
    /// subscription lives.
    pub(super) fn next_fee_change(&self, after: Timestamp) -> Option<Timestamp> {
        let changes = self.price_intervals.iter().flat_map(|of| of.quantities.keys());
        changes.copied().filter(|at| after < *at && self.covers(*at)).min()
    }

    /// Drops the changes of the quantity of a fee behind an instant, and tells whether there was one.
    pub(crate) fn drop_fee_changes(&mut self, id: PriceId, after: Timestamp) -> bool {
        let mut is_changed = false;
        for interval in self.price_intervals.iter_mut().filter(|of| of.price_id == id) {
            let (start, count) = (interval.start_date, interval.quantities.len());
            interval.quantities.retain(|at, _| *at <= after.max(start));
            is_changed |= interval.quantities.len() < count;
        }
        is_changed
    }

    /// Changes the quantity of a fee from an instant on.
    pub(crate) fn change_fee(
        &mut self,
        id: PriceId,
        at: Timestamp,
        quantity: Decimal,
    ) -> Result<(), Error> {
        let index = self.fee_interval_index(id, at);
        let interval = index.and_then(|index| self.price_intervals.get_mut(index));
        let missing = || Error::corrupt("a fixed fee has no interval");
        interval.ok_or_else(missing)?.quantities.insert(at, quantity);
        self.check_fee_changes()
    }

    /// Refuses more changes of the quantities of its fees than there may be.
    pub(super) fn check_fee_changes(&self) -> Result<(), Error> {
        let changes = self.price_intervals.iter().map(|of| of.quantities.len().saturating_sub(1));
        let count = changes.fold(0, usize::saturating_add);
        if count > limits::FEE_CHANGES {
            let most = limits::FEE_CHANGES;
            let detail = format!("the quantities of its fees have changed {most} times already");
            return Err(Error::constraint(detail));
        }
        Ok(())
    }
}
