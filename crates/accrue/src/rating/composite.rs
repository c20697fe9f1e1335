//! Prices of what other prices come to (`docs/decisions/composites-see-what-falls-due.md`).

use std::collections::BTreeMap;

use super::{
    RateCard, Used,
    interval::RatedInterval,
    line::{Charged, Member},
    until::Until,
};
use crate::{Decimal, Timeframe, price::Quantity, subscription::PeriodKey};

impl RateCard {
    /// Returns the prices that a composite one sees, each with its place.
    fn seen_by<'c>(
        &'c self,
        composite: &'c RatedInterval,
    ) -> impl Iterator<Item = (usize, &'c RatedInterval)> {
        let others = self.intervals.iter().enumerate();
        others.filter(|(_, of)| !of.is_composite() && of.price.currency == composite.price.currency)
    }

    /// Returns the usage that a composite price sees in one of its periods: what falls due within it.
    pub(super) fn usage_seen_by<'c>(
        &'c self,
        composite: &'c RatedInterval,
        period: Timeframe,
    ) -> impl Iterator<Item = (&'c RatedInterval, Member)> {
        let usage = self.seen_by(composite).filter(|(_, of)| of.is_usage());
        usage.flat_map(move |(interval, of)| {
            let own =
                of.periods_in(period).into_iter().filter(move |own| own.end() <= period.end());
            own.map(move |period| (of, Member { interval, period, units_off: None }))
        })
    }

    /// Returns what of fees falls due within a period of a composite price, up to an instant.
    pub(super) fn fees_seen_by(
        &self,
        composite: &RatedInterval,
        period: Timeframe,
        until: Until,
    ) -> Decimal {
        let fees = self.seen_by(composite).filter(|(_, of)| of.is_fee());
        let [before, after] = [period.start(), period.end()].map(|at| until.no_later_than(at));
        let charged = fees.flat_map(|(_, fee)| {
            let own = fee.periods_in(period).into_iter();
            own.map(|own| {
                let [before, after] = [before, after].map(|until| fee.fee(own, until));
                after.line.subtotal - before.line.subtotal
            })
        });
        charged.sum()
    }

    /// Returns the periods of usage that a timeframe is rated by: those that it touches, and those that composite
    /// prices see in it.
    pub(crate) fn rated_periods(&self, timeframe: Timeframe) -> BTreeMap<Timeframe, PeriodKey> {
        let composites = self.intervals.iter().filter(|of| of.is_composite());
        let seen = composites.flat_map(|composite| {
            let own = composite.periods_in(timeframe).into_iter();
            own.flat_map(|period| self.usage_seen_by(composite, period))
        });
        let seen = seen.map(|(of, Member { period, .. })| (period, of.periods.key(period)));
        self.usage_periods(timeframe).into_iter().chain(seen).collect()
    }
}

impl RatedInterval {
    /// Returns the charge of a composite price in one of its periods.
    pub(super) fn composite(
        &self,
        card: &RateCard,
        period: Timeframe,
        used: &Used<'_>,
        until: Until,
    ) -> Charged {
        if until.used <= period.start() {
            return Charged::default();
        }
        let usage = card.usage_seen_by(self, period);
        let usage = usage.map(|(of, member)| of.usage(&member, used, until).line.subtotal);
        let seen = card.fees_seen_by(self, period, until) + usage.sum::<Decimal>();
        let seen = Quantity::One(seen);
        Charged::at_end(self.line(&seen, period, until), None, period)
    }
}
