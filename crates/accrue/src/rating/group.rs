//! Intervals whose amounts are adjusted together.

use super::interval::RatedInterval;
use crate::{
    AdjustmentIntervalId, Decimal, Timestamp,
    price::{Adjustment, BillingMode, Discount},
    subscription::AdjustmentInterval,
};

/// Intervals of a card that adjustments join: one, or those that share what is spread over them.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Places of its intervals on the card.
    pub(super) members: Vec<usize>,
    pub(super) billing_mode: BillingMode,
    /// Adjustments, in the order in which they apply.
    pub(super) adjustments: Vec<Reaching>,
}

/// Adjustment of some members of a group.
#[derive(Clone, Debug)]
pub(super) struct Reaching {
    pub(super) id: AdjustmentIntervalId,
    pub(super) adjustment: Adjustment,
    pub(super) force: Force,
    /// Whether fees alone are not adjusted: a minimum that a plan or a subscription has, and not a price by itself.
    pub(super) needs_usage: bool,
    /// Places of the members that it reaches.
    pub(super) reaches: Vec<usize>,
}

/// Time while an adjustment is in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Force {
    start: Timestamp,
    end: Option<Timestamp>,
}

impl Group {
    /// Joins intervals by the adjustments that are spread over several of them, which have one cadence,
    /// billing mode and currency (subscriptions 2.4).
    pub(super) fn all(
        intervals: &[RatedInterval],
        adjustments: &[AdjustmentInterval],
    ) -> Vec<Self> {
        let adjustments = in_order(adjustments);
        let mut groups: Vec<Vec<usize>> = (0..intervals.len()).map(|place| vec![place]).collect();
        for adjustment in adjustments.iter().filter(|of| of.adjustment.is_spread()) {
            for group in joined(intervals, adjustment) {
                let touches = |of: &Vec<usize>| of.iter().any(|place| group.contains(place));
                let mut members = Vec::new();
                groups.retain_mut(|of| {
                    let is_apart = !touches(of);
                    if !is_apart {
                        members.append(of);
                    }
                    is_apart
                });
                members.sort_unstable();
                groups.push(members);
            }
        }
        let groups = groups.into_iter().filter_map(|members| {
            let first = intervals.get(*members.first()?)?;
            let reaching =
                adjustments.iter().filter_map(|of| Reaching::new(of, &members, intervals));
            Some(Self {
                billing_mode: first.billing_mode(),
                adjustments: reaching.collect(),
                members,
            })
        });
        groups.collect()
    }

    /// Returns the units that are taken off before the usage that falls due at an instant is rated.
    pub(super) fn units_off(&self, member: usize, due: Timestamp) -> Option<Decimal> {
        let off = self.adjustments.iter().filter_map(|of| match &of.adjustment {
            Adjustment::Discount(Discount::Usage(units)) => {
                let reaches = of.reaches.contains(&member);
                (reaches && of.force.holds(due, self.billing_mode)).then_some(units)
            }
            _ => None,
        });
        off.cloned().reduce(|sum, units| sum + units)
    }
}

/// Returns adjustments in the order in which they apply (invoicing 7.1): by kind; what one price has by
/// itself before what several share.
pub(super) fn in_order(adjustments: &[AdjustmentInterval]) -> Vec<&AdjustmentInterval> {
    let mut adjustments: Vec<_> = adjustments.iter().collect();
    adjustments
        .sort_by_key(|of| (of.adjustment.rank(), of.is_invoice_level(), of.start_date, of.id));
    adjustments
}

/// Returns the intervals that an adjustment reaches, those that it is shared by together.
fn joined(intervals: &[RatedInterval], adjustment: &AdjustmentInterval) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, interval) in intervals.iter().enumerate() {
        if !adjustment.reaches_in_force(interval.in_force) {
            continue;
        }
        let is_alike = |group: &&mut Vec<usize>| {
            let first = group.first().and_then(|first| intervals.get(*first));
            first.is_some_and(|first| first.is_billed_with(interval))
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

impl Reaching {
    fn new(
        of: &AdjustmentInterval,
        members: &[usize],
        intervals: &[RatedInterval],
    ) -> Option<Self> {
        let is_reached = |place: &usize| {
            intervals.get(*place).is_some_and(|own| of.reaches_in_force(own.in_force))
        };
        let reached = members.iter().enumerate().filter(|(_, place)| is_reached(place));
        let reaches: Vec<_> = reached.map(|(member, _)| member).collect();
        let force = Force { start: of.start_date, end: of.end_date };
        let adjustment = of.adjustment.clone();
        let needs_usage = matches!(adjustment, Adjustment::Minimum(_)) && of.scope.is_some();
        (!reaches.is_empty()).then_some(Self { id: of.id, adjustment, force, needs_usage, reaches })
    }
}

impl Force {
    /// Tells whether it applies to charges that fall due at an instant: in advance from its start on
    /// and before its end, in arrears behind its start and up to its end (subscriptions 2.4).
    pub(super) fn holds(self, due: Timestamp, mode: BillingMode) -> bool {
        match mode {
            BillingMode::InAdvance => self.start <= due && self.end.is_none_or(|end| due < end),
            BillingMode::InArrear => self.start < due && self.end.is_none_or(|end| due <= end),
        }
    }
}
