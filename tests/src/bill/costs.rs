//! What is owed between two instants.

use bigdecimal::{BigDecimal, Zero as _};

use super::{
    ActiveSubscriptions, Amounts, At, Biller, Charge, Event, Instant, Price, Span, fees::share,
    instant, span,
};
use crate::model::AHEAD;

impl Biller {
    /// What each price of a subscription comes to in a span.
    pub(super) fn cost(&self, of: &ActiveSubscriptions, within: Span) -> Vec<Amounts> {
        (0..self.plans[of.plan].len()).map(|index| self.cost_of(of, index, within)).collect()
    }

    fn cost_of(&self, of: &ActiveSubscriptions, index: At, within: Span) -> Amounts {
        let price = &self.plans[of.plan][index];
        let mut sum = Amounts::default();
        for due in self.fees(of, index, within) {
            if due.at <= self.now {
                sum += due.amounts;
            }
        }
        let until = within.1.min(self.now + AHEAD + 1).max(within.0);
        let timeframe = accrue::Timeframe::new(instant(within.0), instant(until)).unwrap();
        for period in of.core.periods().overlapping(timeframe).map(span) {
            let (from, until) = (period.0.max(within.0), period.1.min(within.1));
            let so_far = |at: Instant| self.used_until(of, price, period, at).unwrap_or_default();
            sum += so_far(until) - so_far(from);
            if until == period.1 && period.1 <= self.now {
                sum.total += self.top_up(of, price, period);
            }
        }
        sum
    }

    /// What a price makes of the usage of a billing period.
    pub(crate) fn used(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        period: Span,
    ) -> Option<Amounts> {
        self.used_until(of, price, period, period.1)
    }

    /// What a price makes of the usage of a billing period up to an instant.
    fn used_until(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        period: Span,
        until: Instant,
    ) -> Option<Amounts> {
        let Charge::Usage { metric, model } = &price.charge else { return None };
        let events: Vec<_> = self.events_of(of.customer, (period.0, until)).collect();
        let figure = |cell: usize| {
            let events = events.iter().copied().filter(|event| model.cell(event) == cell);
            self.metrics[*metric].figure(events)
        };
        let figures: Vec<Option<BigDecimal>> = (0..model.cells()).map(figure).collect();
        if figures.iter().all(Option::is_none) {
            return None;
        }
        let quantities: Vec<BigDecimal> =
            figures.into_iter().map(Option::unwrap_or_default).collect();
        Some(Amounts {
            quantity: quantities.iter().sum(),
            subtotal: model.rate(&quantities),
            total: price
                .adjustments
                .cut(price.adjustments.rated(model, &quantities), share(of, price, period)),
        })
    }

    /// What the minimum of a usage price adds to a billing period.
    pub(super) fn top_up(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        period: Span,
    ) -> BigDecimal {
        match &price.charge {
            Charge::Usage { metric, model } => {
                let events: Vec<_> = self.events_of(of.customer, period).collect();
                let quantities = (0..model.cells()).map(|cell| {
                    let events = events.iter().copied().filter(|event| model.cell(event) == cell);
                    self.metrics[*metric].figure(events).unwrap_or_default()
                });
                let quantities: Vec<_> = quantities.collect();
                let rated = price.adjustments.rated(model, &quantities);
                price.adjustments.top_up(rated, share(of, price, period))
            }
            Charge::Fee { .. } => BigDecimal::zero(),
        }
    }

    pub(super) fn events_of(
        &self,
        customer: usize,
        (from, until): Span,
    ) -> impl Iterator<Item = &Event> {
        let of_customer = self.events.iter().filter(move |event| event.customer == customer);
        of_customer.filter(move |event| from <= event.at && event.at < until)
    }
}
