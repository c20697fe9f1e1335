use super::{
    AdjustmentChanges, AgreedPrice, AgreedPrices, Cut, PriceInterval, Subscription,
    adjustment_changes::agreed,
};
use crate::{Currency, Error, PlanId, PriceIntervalId, plan::PlanVersion, price::ScopedAdjustment};

/// Version of a plan that a subscription is on from some instant on, with the prices that were agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) plan_id: PlanId,
    pub(crate) plan_version: PlanVersion,
    pub(crate) currency: Currency,
    pub(crate) prices: &'a AgreedPrices,
    /// Adjustments of the version.
    pub(crate) adjustments: &'a [ScopedAdjustment],
}

impl Subscription {
    /// Cuts all that it is charged by some terms, with changes to the adjustments (subscriptions 1.3).
    pub(super) fn begin(
        &mut self,
        cut: &Cut,
        terms: &Terms<'_>,
        changes: &AdjustmentChanges,
    ) -> Result<(), Error> {
        for (place, of) in (0_u32..).zip(&terms.prices.all) {
            let Some(at) = &of.given_in else {
                self.adjustment_intervals.extend(cut.adjustments(&of.price));
                self.price_intervals.push(cut.interval(&of.price));
                continue;
            };
            let interval = cut.agreed_interval(place, of);
            let start_date = interval.start_date;
            let added = self.add_priced(cut, interval, &of.price, &of.adjustments);
            added.map_err(|error| error.within(at))?;
            if start_date < cut.start_date {
                let first = cut.start_date;
                let detail = format!("the start {start_date} is before that of the plan, {first}");
                return Err(Error::constraint(detail));
            }
        }
        let prices = terms.prices.prices();
        let made = (prices.as_slice(), &terms.prices.references);
        let given = agreed(changes, cut, terms.adjustments, made, self.end_date)?;
        self.adjustment_intervals.extend(given);
        self.check_intervals()
    }
}

impl Cut {
    /// Cuts the interval of a price that is none of the plan version.
    fn agreed_interval(&self, place: u32, of: &AgreedPrice) -> PriceInterval {
        let names = [self.seed.as_bytes().as_slice(), of.price.id.as_bytes(), &place.to_be_bytes()];
        let start_date = of.start_date.unwrap_or(self.start_date);
        let mut interval = PriceInterval {
            id: PriceIntervalId::derived(self.created_at, &names),
            replaces_price_id: of.replaces,
            end_date: of.end_date,
            ..Self { start_date, ..*self }.interval(&of.price)
        };
        if let Some(quantity) = &of.quantity {
            interval.quantities = [(start_date, quantity.clone())].into();
        }
        interval
    }
}
