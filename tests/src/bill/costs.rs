//! What is owed between two instants.

use bigdecimal::{BigDecimal, Zero as _};

use super::{
    ActiveSubscriptions, Amounts, At, Biller, Charge, Event, Instant, Price, Span, fees::share,
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
        let until = within.1.min(self.now + AHEAD + 1);
        if within.0 < until && matches!(price.charge, Charge::Usage { .. }) {
            sum += self.used_between(of, price, (within.0, until));
            let top_ups = self.top_ups(of, price, within).into_iter();
            let top_ups = top_ups.filter(|(at, _)| *at <= self.now);
            sum.total += top_ups.map(|(_, top_up)| top_up).sum::<BigDecimal>();
        }
        sum
    }

    /// What a price makes of the usage in a span; none where there is none.
    pub(crate) fn used(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        within: Span,
    ) -> Option<Amounts> {
        self.used_until(of, price, within, within.1)?;
        Some(self.used_between(of, price, within))
    }

    /// What a price has come to at the end of a span, less what at its start, period by period of the price.
    fn used_between(&self, of: &ActiveSubscriptions, price: &Price, within: Span) -> Amounts {
        let mut sum = Amounts::default();
        for period in of.periods_of(price, within) {
            let so_far = |at: Instant| self.used_until(of, price, period, at).unwrap_or_default();
            sum += so_far(period.1.min(within.1)) - so_far(period.0.max(within.0));
        }
        sum
    }

    /// What a price makes of the usage of one of its periods up to an instant.
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

    /// What the minimum of a usage price adds at the ends of its periods in a span, and when.
    pub(super) fn top_ups(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        (from, until): Span,
    ) -> Vec<(Instant, BigDecimal)> {
        if matches!(price.charge, Charge::Fee { .. }) {
            return Vec::new();
        }
        let periods = of.periods_of(price, (from, until)).into_iter();
        let ended = periods.filter(|period| period.1 <= until);
        let top_ups = ended.map(|period| (period.1, self.top_up(of, price, period)));
        top_ups.filter(|(_, top_up)| !top_up.is_zero()).collect()
    }

    fn top_up(&self, of: &ActiveSubscriptions, price: &Price, period: Span) -> BigDecimal {
        match &price.charge {
            Charge::Usage { metric, model } => {
                let events: Vec<_> = self.events_of(of.customer, period).collect();
                let quantities = (0..model.cells()).map(|cell| {
                    let events = events.iter().copied().filter(|event| model.cell(event) == cell);
                    self.metrics[*metric].figure(events).unwrap_or_default()
                });
                let quantities: Vec<_> = quantities.collect();
                let rated = price.adjustments.rated(model, &quantities);
                let left = price.adjustments.discounted(rated);
                price.adjustments.top_up(left, share(of, price, period))
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
