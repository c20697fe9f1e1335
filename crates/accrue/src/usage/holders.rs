//! Licenses that usage is of, told by the subscription that they are given out by
//! (`docs/decisions/pools-are-groups.md`).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::reading::{Amount, Reading};
use crate::{
    LicenseTypeId, Timeframe, Timestamp,
    license::License,
    meter::{CellId, InGroup, Meter, MeterId, Values},
};

/// Licenses of a subscription, by the meters whose groups they are.
///
/// A meter of licenses groups usage by the property that names one. To each of its groups a subscription adds which
/// license of that name was active when something was used, or that none was: so figures of a license are those of its
/// active usage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    meters: BTreeMap<MeterId, Arc<Windows>>,
}

/// Times at which licenses of a type are active, by external id, each with the id of the license.
#[derive(Debug, Default)]
struct Windows(BTreeMap<String, Vec<(Timeframe, String)>>);

/// Meters of licenses, and the types of these.
pub(crate) fn license_types(meters: &[Meter]) -> BTreeSet<LicenseTypeId> {
    meters.iter().filter_map(|meter| meter.licenses_of).collect()
}

impl Holders {
    /// Tells of the licenses that a subscription has, of some meters.
    pub(crate) fn new(meters: &[Meter], licenses: &[License]) -> Self {
        let mut of_types = BTreeMap::<LicenseTypeId, Arc<Windows>>::new();
        for license_type in license_types(meters) {
            let mut windows = Windows::default();
            for license in licenses.iter().filter(|of| of.license_type_id == license_type) {
                let Some(window) = license.window() else { continue };
                let name = license.external_license_id.to_string();
                windows.0.entry(name).or_default().push((window, license.id.to_string()));
            }
            of_types.insert(license_type, Arc::new(windows));
        }
        let meters = meters.iter().filter_map(|meter| Some((meter, meter.licenses_of?)));
        let meters = meters.flat_map(|(meter, license_type)| {
            let windows = of_types.get(&license_type).map(Arc::clone).unwrap_or_default();
            meter.parts().into_iter().map(move |part| (part, Arc::clone(&windows)))
        });
        Self { meters: meters.collect() }
    }

    /// Returns the place of what was used at an instant, with the license that was active then.
    pub(crate) fn place(
        &self,
        InGroup { cell, group }: InGroup<'_>,
        at: Timestamp,
    ) -> Option<(CellId, MeterId, Values)> {
        let (meter, values) = group?;
        let license = self.meters.get(&meter)?.active(values.last()?.as_deref(), at);
        let cell = cell.of_license(license);
        let mut values = values.clone();
        values.push(license.map(str::to_owned));
        Some((cell, meter, values))
    }

    /// Returns what an event at an instant contributes, with the licenses that were active then.
    pub(crate) fn told<'r>(&self, readings: &'r [Reading], at: Timestamp) -> Cow<'r, [Reading]> {
        let is_own = |of: &Reading| of.meter.is_some_and(|meter| self.meters.contains_key(&meter));
        if !readings.iter().any(is_own) {
            return Cow::Borrowed(readings);
        }
        let told = readings.iter().map(|reading| {
            let mut told = reading.clone();
            if let Some((cell, _, values)) = self.place(reading.place(), at) {
                told.cell = cell;
                told.group.iter_mut().for_each(|group| group.values.clone_from(&values));
            }
            told
        });
        Cow::Owned(told.collect())
    }

    /// Tells whether one of some readings is a distinct value of a license: no index knows when those were seen.
    pub(crate) fn have_distinct(&self, readings: &[Reading]) -> bool {
        let is_own = |of: &&Reading| of.meter.is_some_and(|meter| self.meters.contains_key(&meter));
        let mut own = readings.iter().filter(is_own);
        own.any(|of| matches!(of.amount, Amount::Distinct(_)))
    }
}

impl Windows {
    fn active(&self, name: Option<&str>, at: Timestamp) -> Option<&str> {
        let mut own = self.0.get(name?)?.iter();
        own.find(|(window, _)| window.contains(at)).map(|(_, id)| id.as_str())
    }
}
