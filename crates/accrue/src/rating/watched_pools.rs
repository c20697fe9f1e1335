//! Pools of licenses that alerts watch: how much of each its license has drawn (`docs/decisions/pools-are-groups.md`).

use std::collections::BTreeSet;

use super::{GroupValues, RateCard, Used, interval::RatedInterval};
use crate::{
    Decimal, ExternalId, LicenseId, LicenseTypeId, Timeframe,
    meter::{InGroup, MeterId, Values},
    usage::{Grouped, Total},
};

/// Usage that draws from pools which an alert watches.
#[derive(Clone, Debug)]
pub(crate) struct WatchedPools {
    drawing: Vec<RatedInterval>,
}

impl RateCard {
    /// Returns the pools that an alert watches: those of the licenses of a type, or of all types.
    pub(crate) fn watched_pools(&self, license_type: Option<LicenseTypeId>) -> WatchedPools {
        let drawing = self.intervals.iter().filter(|of| {
            let own = of.license_type();
            own.is_some() && (license_type.is_none() || own == license_type)
        });
        WatchedPools { drawing: drawing.cloned().collect() }
    }
}

impl WatchedPools {
    /// Returns the periods of the pools that share an instant with a billing period.
    pub(crate) fn periods_in(&self, billing: Timeframe) -> impl Iterator<Item = Timeframe> {
        self.drawing.iter().flat_map(move |of| of.periods_in(billing))
    }

    /// Returns the license whose usage something is added to; none where that draws from no pool.
    pub(crate) fn group_of(&self, place: InGroup<'_>) -> Option<GroupValues> {
        let (id, values) = place.group?;
        let mut drawing = self.drawing.iter();
        let of = drawing.find(|of| of.groups().is_some_and(|own| own.id == id))?;
        of.license_of(values)
    }

    /// Returns the groups of meters in which the usage of a license is.
    pub(super) fn parts_of(&self, group: &GroupValues) -> Vec<(MeterId, Values)> {
        self.of_license(group).map(|(_, of, values)| (of.id, values)).collect()
    }

    /// Returns the usage of a license that draws, with the groups that it is in and the values of its own one.
    fn of_license(
        &self,
        group: &GroupValues,
    ) -> impl Iterator<Item = (&RatedInterval, &Grouped, Values)> {
        let license = LicenseGroup::read(group);
        self.drawing.iter().filter_map(move |of| {
            let (license_type, name, id) = license.as_ref()?;
            let own = of.groups().filter(|_| of.license_type() == Some(*license_type))?;
            let values = [name.to_string(), id.to_string()].map(Some);
            Some((of, own, own.values(&values)))
        })
    }

    /// Returns the licenses that have usage, of those that were read.
    pub(crate) fn groups_in(&self, total: &Total) -> BTreeSet<GroupValues> {
        let known = self.drawing.iter().flat_map(|of| {
            let groups = of.groups().and_then(|own| total.groups.known.get(&own.id));
            groups.into_iter().flatten().filter_map(|(values, _)| of.license_of(values))
        });
        known.collect()
    }

    /// Returns how much a license has drawn from its pool of a period, in percent: of several pools the greatest part;
    /// none where it has no usage there.
    pub(crate) fn drawn(
        &self,
        period: Timeframe,
        group: &GroupValues,
        used: &Used<'_>,
    ) -> Option<Decimal> {
        let total = used(period, period.end())?;
        let drawing =
            self.of_license(group).filter(|(of, ..)| of.periods_in(period).contains(&period));
        let drawn = drawing.filter_map(|(of, own, values)| {
            let cells = total.groups.known.get(&own.id)?.get(&values)?;
            of.pools.as_ref()?.of(period).drawn(&own.group(&values, cells))
        });
        drawn.max()
    }
}

impl RatedInterval {
    /// Returns the type of the licenses whose pools its usage draws from.
    fn license_type(&self) -> Option<LicenseTypeId> {
        Some(self.pools.as_ref()?.key().license_type)
    }

    /// Returns the license whose usage is in a group, as alerts tell it; none of usage while no license was active.
    fn license_of(&self, values: &[Option<String>]) -> Option<GroupValues> {
        let [.., Some(name), Some(license)] = values else { return None };
        Some(LicenseGroup::values(self.license_type()?, name, license))
    }
}

/// Group of what a license uses while it is active, as an alert watches it.
pub(crate) struct LicenseGroup;

impl LicenseGroup {
    /// Returns the values that tell it apart.
    pub(crate) fn values(license_type: LicenseTypeId, name: &str, license: &str) -> Vec<String> {
        vec![license_type.to_string(), name.to_owned(), license.to_owned()]
    }

    /// Reads them.
    pub(crate) fn read(values: &[String]) -> Option<(LicenseTypeId, ExternalId, LicenseId)> {
        let [license_type, name, license] = values else { return None };
        Some((
            license_type.parse().ok()?,
            ExternalId::parse(name.as_str()).ok()?,
            license.parse().ok()?,
        ))
    }
}
