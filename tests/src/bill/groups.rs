//! What groups of usage cost, each by itself.

use std::collections::{BTreeMap, BTreeSet};

use bigdecimal::BigDecimal;

use super::{
    ActiveSubscriptions, At, Biller, Charge, Condition, Event, Filter, Group, Instant, Price, Span,
    prices::text,
};

/// Texts of the properties that usage is grouped by.
pub(super) type Values = Vec<String>;

/// What there is of an alert in a billing period: of each group, or of none.
pub(super) type Figures = BTreeMap<Values, BigDecimal>;

fn values(event: &Event, keys: &[&'static str]) -> Values {
    keys.iter().map(|key| text(event, key).unwrap_or_default()).collect()
}

impl Biller {
    /// What each group of an alert costs in a billing period: those alone that have usage.
    pub(super) fn groups(
        &self,
        of: &ActiveSubscriptions,
        period: Span,
        (keys, unit, filters): (&[&'static str], &str, &BTreeSet<Filter>),
    ) -> Figures {
        let events = self.events_of(of.customer, period);
        let all: BTreeSet<Values> = events.map(|event| values(event, keys)).collect();
        let cost = |group: Values| {
            let mut cost = None;
            for (index, price) in self.plans[of.plan].iter().enumerate() {
                let passes = filters.iter().all(|filter| filter.passes(index, price));
                let Some(worth) = price.worth_in(unit).filter(|_| passes) else { continue };
                let is_of = |event: &Event| values(event, keys) == group;
                if let Some(part) = self.group_cost(of, price, period, &is_of) {
                    cost = Some(cost.unwrap_or_default() + part * worth);
                }
            }
            Some((group, cost?))
        };
        all.into_iter().filter_map(cost).collect()
    }

    /// What a price makes of some events of a span, period by period of the price; none where it counts none.
    fn group_cost(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        within: Span,
        is_of: &dyn Fn(&Event) -> bool,
    ) -> Option<BigDecimal> {
        self.rated(of, price, within, is_of)?;
        let mut sum = BigDecimal::default();
        for (start, end) in of.periods_of(price, within) {
            let so_far =
                |at: Instant| self.rated(of, price, (start, at), is_of).unwrap_or_default();
            sum += so_far(end.min(within.1)) - so_far(start.max(within.0));
        }
        Some(sum)
    }

    fn rated(
        &self,
        of: &ActiveSubscriptions,
        price: &Price,
        span: Span,
        is_of: &dyn Fn(&Event) -> bool,
    ) -> Option<BigDecimal> {
        let Charge::Usage { metric, model } = &price.charge else { return None };
        let events: Vec<_> = self.events_of(of.customer, span).filter(|of| is_of(of)).collect();
        let figure = |cell: usize| {
            let events = events.iter().copied().filter(|event| model.cell(event) == cell);
            self.metrics[*metric].figure(events)
        };
        let figures: Vec<_> = (0..model.cells()).map(figure).collect();
        if figures.iter().all(Option::is_none) {
            return None;
        }
        let quantities: Vec<_> = figures.into_iter().map(Option::unwrap_or_default).collect();
        Some(model.rate(&quantities))
    }

    /// Fires what changes of groups cross and has not fired in the period.
    pub(super) fn cross_groups(
        &mut self,
        alert: At,
        life: At,
        period: Span,
        (before, after): (&Figures, Figures),
    ) -> Vec<Group> {
        let of = self.alerts[alert].clone();
        let Condition::Groups(keys, ..) = &of.condition else { return Vec::new() };
        let group = |(values, after): (Values, BigDecimal)| {
            let before = before.get(&values).cloned();
            let fired = self.fired_groups.entry(values.clone()).or_default();
            let place = (alert, life, period.0);
            let known = of.thresholds_of(keys, &values);
            let thresholds = fired.cross(place, known, before.as_ref(), &after);
            (!thresholds.is_empty()).then_some(Group { values, before, after, thresholds })
        };
        after.into_iter().filter_map(group).collect()
    }
}
