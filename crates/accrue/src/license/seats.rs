use std::collections::BTreeSet;

use super::License;
use crate::{
    Decimal, Error, LicenseTypeId, Timestamp,
    price::{Price, check_draws_alone},
    subscription::{FeeStretch, PriceInterval, Subscription},
};

/// License fees of a subscription, each while it is in force: their quantities are how many licenses there are
/// (subscriptions 7.4.1).
pub(crate) struct LicenseFees<'a> {
    subscription: &'a Subscription,
    fees: Vec<(&'a PriceInterval, LicenseTypeId)>,
}

impl<'a> LicenseFees<'a> {
    /// Finds them, where all prices of the subscription are given.
    pub(crate) fn of(subscription: &'a Subscription, prices: &[Price]) -> Self {
        let fees = subscription.price_intervals.iter().filter_map(|interval| {
            let price = prices.iter().find(|price| price.id == interval.price_id)?;
            price.license_fee().map(|license_type| (interval, license_type))
        });
        Self { subscription, fees: fees.collect() }
    }

    /// Returns the types that they are of.
    pub(crate) fn types(&self) -> BTreeSet<LicenseTypeId> {
        self.fees.iter().map(|(_, license_type)| *license_type).collect()
    }

    /// Refuses two of them at one instant (subscriptions 7.4.2).
    pub(crate) fn check_one(&self) -> Result<(), Error> {
        for (place, (one, _)) in self.fees.iter().enumerate() {
            for (other, _) in self.fees.iter().take(place) {
                if are_together(self.subscription, one, other) {
                    let detail = format!(
                        "the prices {} and {} are both of licenses, and a subscription has one at a time",
                        other.price_id, one.price_id
                    );
                    return Err(Error::constraint(detail));
                }
            }
        }
        Ok(())
    }

    /// Refuses usage that cannot draw from the allocations of the fees, and prices that would draw from one of them at
    /// the same time (subscriptions 7.4).
    pub(crate) fn check_draws(&self, prices: &[Price]) -> Result<(), Error> {
        let of = self.subscription;
        let intervals = of.price_intervals.iter();
        let usage = intervals.filter_map(|interval| {
            let price = prices.iter().find(|price| price.id == interval.price_id)?;
            price.charge.is_usage().then_some((interval, price))
        });
        let usage: Vec<_> = usage.collect();
        for (interval, _) in &self.fees {
            let Some(fee) = prices.iter().find(|of| of.id == interval.price_id) else { continue };
            let together = usage.iter().filter(|(own, _)| are_together(of, own, interval));
            let together: Vec<_> = together.collect();
            for (place, (own, price)) in together.iter().enumerate() {
                price.check_draws_from(fee)?;
                of.check_no_units_off(price, fee)?;
                let others = together.iter().take(place);
                let mut beside = others.filter(|(other, _)| are_together(of, other, own));
                beside.try_for_each(|(_, other)| check_draws_alone(other, price, fee))?;
            }
        }
        Ok(())
    }

    /// Returns the quantities of a type.
    pub(crate) fn quantities(&self, license_type: LicenseTypeId) -> Vec<FeeStretch> {
        let own = self.fees.iter().filter(|(_, of)| *of == license_type);
        own.flat_map(|(interval, _)| self.subscription.fee_schedule(interval)).collect()
    }
}

/// Tells whether two intervals of a subscription share an instant.
fn are_together(of: &Subscription, one: &PriceInterval, other: &PriceInterval) -> bool {
    let ends_before = |first: &PriceInterval, second: &PriceInterval| {
        of.end_of(first).is_some_and(|end| end <= second.start_date)
    };
    !ends_before(one, other) && !ends_before(other, one)
}

/// Refuses more licenses of a type at once than the license fee has quantity, from an instant on (subscriptions
/// 7.3.8, 7.3.9). Where no such fee is in force there may be any number.
pub(crate) fn check_seats(
    quantities: &[FeeStretch],
    licenses: &[License],
    since: Timestamp,
) -> Result<(), Error> {
    let windows = licenses.iter().filter_map(License::window);
    let starts: BTreeSet<_> = windows
        .map(|window| window.start())
        .chain(quantities.iter().map(|of| of.start_date))
        .filter(|at| since < *at)
        .chain([since])
        .collect();
    for at in starts {
        let holds =
            |of: &&FeeStretch| of.start_date <= at && of.end_date.is_none_or(|end| at < end);
        let Some(FeeStretch { quantity, .. }) = quantities.iter().find(holds) else { continue };
        let active = licenses.iter().filter(|of| of.is_active(at)).count();
        if Decimal::from(active) > *quantity {
            let detail = format!(
                "{active} licenses would be active at {at}, and the license fee has a quantity of \
                 {quantity}"
            );
            return Err(Error::constraint(detail));
        }
    }
    Ok(())
}
