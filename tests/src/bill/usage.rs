//! What was used between two instants.

use std::collections::{BTreeMap, BTreeSet};

use bigdecimal::BigDecimal;

use super::{ActiveSubscriptions, At, Biller, Event, Span, prices::text};

/// Figures by metric and by group, each with its span.
pub(super) type Series = BTreeMap<(At, Option<Option<String>>), Vec<(Span, Option<BigDecimal>)>>;

impl Biller {
    /// The usage of a subscription in slots, each with the span that it is shown as, in all groups that any
    /// event of it is of.
    pub(super) fn series(
        &self,
        of: &ActiveSubscriptions,
        slots: &[(Span, Span)],
        by: Option<&'static str>,
    ) -> Series {
        let lived =
            |(from, until): Span| (from.max(of.start()), until.min(of.end().unwrap_or(i64::MAX)));
        let group = |event: &Event| by.map(|property| text(event, property));
        let groups: BTreeSet<_> = match by {
            Some(_) => {
                let events =
                    slots.iter().flat_map(|(slot, _)| self.events_of(of.customer, lived(*slot)));
                events.map(group).collect()
            }
            None => BTreeSet::from([None]),
        };
        let mut series = Series::new();
        for (metric, spec) in self.metrics.iter().enumerate() {
            for of_group in &groups {
                let figure = |(slot, shown): &(Span, Span)| {
                    let events = self.events_of(of.customer, lived(*slot));
                    let figure = spec.figure(events.filter(|event| group(event) == *of_group));
                    (*shown, figure.or_else(|| spec.figure_without_events()))
                };
                series.insert((metric, of_group.clone()), slots.iter().map(figure).collect());
            }
        }
        series
    }
}
