//! Groups that are not known beforehand, followed while events move them (`docs/decisions/groups-move-alone.md`).

use std::collections::BTreeMap;

use super::{RateCard, interval::RatedInterval};
use crate::{
    Timeframe,
    meter::{InGroup, SumId, Values},
    price::{Combination, GroupRater, GroupSum},
    usage::{Figures, GroupFigures, Grouped, Total},
};

/// What a price makes of groups, and of each that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningGroups {
    known: BTreeMap<Values, GroupSum>,
    others: GroupSum,
    pub(super) sum: GroupSum,
}

impl RatedInterval {
    /// Returns the groups that its usage is in.
    pub(super) fn groups(&self) -> Option<&Grouped> {
        match &self.figures {
            Figures::Groups(of) => Some(of),
            Figures::Cells(_) => None,
        }
    }

    /// Returns them with what rates them in one of its periods.
    fn grouped(&self, period: Timeframe) -> Option<(&Grouped, GroupRater<'_>)> {
        Some((self.groups()?, self.group_rater(period)?))
    }

    /// Returns the id of what it makes of groups in one of its periods.
    fn sum_id(&self, of: &Grouped, period: Timeframe) -> SumId {
        let sum = of.sum.served(&self.share(period).name());
        match &self.pools {
            Some(pools) => sum.served(&pools.of(period).rules()),
            None => sum,
        }
    }

    /// Sums up the groups of one of its periods.
    fn sum(&self, period: Timeframe, groups: &GroupFigures) -> Option<(SumId, GroupSum)> {
        let (of, rater) = self.grouped(period)?;
        let id = self.sum_id(of, period);
        let others = groups.others.as_ref().and_then(|others| others.sums.get(&id));
        Some((id, rater.sum(others, &of.all_known(groups))))
    }
}

impl RateCard {
    /// Returns the intervals of groups that have a period which begins with a stretch, and that period.
    fn grouped_from(
        &self,
        stretch: Timeframe,
    ) -> impl Iterator<Item = (&RatedInterval, Timeframe)> {
        self.intervals.iter().filter_map(move |of| {
            of.groups()?;
            let period = of.periods.containing(stretch.start())?;
            (period.start() == stretch.start()).then_some((of, period))
        })
    }

    /// Sums up the groups of a stretch, price by price.
    pub(crate) fn group_sums(
        &self,
        stretch: Timeframe,
        groups: &GroupFigures,
    ) -> BTreeMap<SumId, GroupSum> {
        let grouped = self.grouped_from(stretch);
        grouped.filter_map(|(of, period)| of.sum(period, groups)).collect()
    }

    /// Tells whether some groups of a stretch are enough to follow those that move: what prices make of all is
    /// known, and no other one is looked at.
    pub(crate) fn follows_some(
        &self,
        stretch: Timeframe,
        sums: &BTreeMap<SumId, GroupSum>,
        only_rises: bool,
    ) -> bool {
        self.grouped_from(stretch).all(|(of, period)| {
            let Some((groups, rater)) = of.grouped(period) else { return true };
            let is_enough = match rater.combination() {
                Combination::Sum => true,
                Combination::Greatest => only_rises,
                Combination::InOrder => false,
            };
            is_enough && sums.contains_key(&of.sum_id(groups, period))
        })
    }

    /// Takes some groups of a stretch out of what prices make of all.
    pub(crate) fn others(
        &self,
        stretch: Timeframe,
        groups: &GroupFigures,
        sums: &BTreeMap<SumId, GroupSum>,
    ) -> BTreeMap<SumId, GroupSum> {
        let others = self.grouped_from(stretch).filter_map(|(interval, period)| {
            let (of, rater) = interval.grouped(period)?;
            let id = interval.sum_id(of, period);
            Some((id, rater.others(sums.get(&id)?.clone(), &of.all_known(groups))))
        });
        others.collect()
    }
}

impl RunningGroups {
    /// Sums up the groups of a period; none of a price that has no groups.
    pub(super) fn new(
        interval: &RatedInterval,
        period: Timeframe,
        total: Option<&Total>,
    ) -> Option<Self> {
        let (of, rater) = interval.grouped(period)?;
        let Some(total) = total else { return Some(Self::default()) };
        let id = interval.sum_id(of, period);
        let others = total.groups.others.as_ref().and_then(|others| others.sums.get(&id));
        let known = total.groups.known.get(&of.id).into_iter().flatten();
        let known =
            known.map(|(values, cells)| (values.clone(), rater.group(&of.group(values, cells))));
        let sum = rater.sum(others, &of.all_known(&total.groups));
        Some(Self { known: known.collect(), others: others.cloned().unwrap_or_default(), sum })
    }

    /// Rates the groups that have moved; all of them where their amounts depend on each other.
    pub(super) fn follow(
        &mut self,
        interval: &RatedInterval,
        period: Timeframe,
        moved: &[InGroup<'_>],
        total: &Total,
    ) {
        let Some((of, rater)) = interval.grouped(period) else { return };
        for (_, values) in moved.iter().filter_map(|of| of.group).filter(|(id, _)| *id == of.id) {
            let after = rater.group(&of.known(total, values));
            let before = self.known.insert(values.clone(), after.clone()).unwrap_or_default();
            self.sum = match rater.moved(&self.sum, &before, &after) {
                Some(sum) => sum,
                None if rater.combination() == Combination::Greatest => {
                    rater.greatest(self.others.clone(), self.known.values().cloned())
                }
                None => rater.sum(None, &of.all_known(&total.groups)),
            };
        }
    }
}
