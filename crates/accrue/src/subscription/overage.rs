//! What a unit of credits is invoiced as, for one subscription (subscriptions 1.12).

use std::sync::Arc;

use super::{PriceInterval, Subscription};
use crate::{Carried, Decimal, Error, JsonNumber, price::Price};

/// The carried fields that say so: they mean the same.
const FIELDS: [&str; 2] = ["per_credit_overage_amount", "credits_overage_rate"];

impl Subscription {
    /// Returns a price as it is in force for an interval: one in a pricing unit with the conversion rate that the
    /// plan of then was agreed on with, in place of its own, where there is one.
    pub(crate) fn priced(&self, interval: &PriceInterval, price: Arc<Price>) -> Arc<Price> {
        let has_any = |carried: &Carried| FIELDS.iter().any(|field| carried.get(field).is_some());
        let plans = self.plan_intervals.iter().map(|of| &of.carried);
        if price.currency.currency().is_some() || !plans.chain([&self.carried]).any(has_any) {
            return price;
        }
        match rate(&self.plan_at(interval.start_date).carried) {
            Ok(Some(rate)) => {
                let conversion_rate = Some(rate.into());
                Arc::new(Price { conversion_rate, ..Arc::unwrap_or_clone(price) })
            }
            _ => price,
        }
    }

    /// Refuses another rate than before: what was billed by that stays.
    pub(super) fn check_same_overage_rate(&self, before: &Self) -> Result<(), Error> {
        let differs = |field: &&&str| self.carried.get(field) != before.carried.get(field);
        match FIELDS.iter().find(differs) {
            Some(field) => Err(Error::invalid(*field, "cannot change but with the plan")),
            None => Ok(()),
        }
    }

    /// Refuses a rate that is no number above zero, and two of them.
    pub(super) fn check_overage_rate(&self) -> Result<(), Error> {
        rate(&self.carried).map(|_| ())
    }
}

fn rate(carried: &Carried) -> Result<Option<Decimal>, Error> {
    let mut given = FIELDS.iter().filter_map(|field| Some((*field, carried.get(field)?)));
    let Some((field, text)) = given.next() else { return Ok(None) };
    if let Some((other, _)) = given.next() {
        return Err(Error::invalid(
            other,
            format!("is there beside {field}, which means the same"),
        ));
    }
    let wrong = || Error::invalid(field, format!("found {text}, expected a number above 0"));
    let JsonNumber(rate) = serde_json::from_str(text).map_err(|_| wrong())?;
    rate.check_bounds().map_err(|error| Error::invalid(field, error.to_string()))?;
    if rate <= Decimal::zero() { Err(wrong()) } else { Ok(Some(rate)) }
}
