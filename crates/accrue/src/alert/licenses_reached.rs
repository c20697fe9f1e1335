use serde::{Deserialize, Serialize};

use super::{Alert, Cause, GroupExceeded, GroupsExceeded};
use crate::{
    Decimal, ExternalId, LicenseId, LicenseTypeId, SubscriptionId, Timeframe, rating::LicenseGroup,
};

/// Firing of an alert on the pools of licenses (subscriptions 7.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LicensesReached {
    /// The subscription that gives out the licenses.
    pub subscription_id: SubscriptionId,
    /// The alert as it was when it fired.
    pub alert: Alert,
    /// The licenses that reached a threshold, by type and external id: the one of an event, or all where they are judged at
    /// once.
    pub licenses: Vec<LicenseReached>,
    /// The period of the pools.
    pub timeframe: Timeframe,
    /// Cause that made it fire.
    pub cause: Cause,
}

/// License that has reached a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LicenseReached {
    /// The license.
    pub license_id: LicenseId,
    /// Its external id.
    pub external_license_id: ExternalId,
    /// Its type.
    pub license_type_id: LicenseTypeId,
    /// What it had drawn right before, in percent of its pool; `None` where it had no usage yet. Of several pools that of
    /// which most was drawn counts.
    pub value_before: Option<Decimal>,
    /// What it has drawn right after, in percent of its pool: above 100 where usage goes beyond it.
    pub value_after: Decimal,
    /// The most advanced of the thresholds crossed.
    pub threshold: Decimal,
    /// All thresholds crossed, smallest first.
    pub thresholds: Vec<Decimal>,
}

impl LicensesReached {
    /// Tells of groups each of which is what a license has used.
    pub(crate) fn of(exceeded: GroupsExceeded) -> Self {
        let GroupsExceeded { subscription_id, alert, groups, timeframe, cause } = exceeded;
        let licenses = groups.into_iter().filter_map(LicenseReached::of).collect();
        Self { subscription_id, alert, licenses, timeframe, cause }
    }
}

impl LicenseReached {
    /// Tells of a group; none where that is of no license.
    fn of(group: GroupExceeded) -> Option<Self> {
        let (license_type_id, external_license_id, license_id) =
            LicenseGroup::read(&group.group_values)?;
        let GroupExceeded { value_before, value_after, threshold, thresholds, .. } = group;
        Some(Self {
            license_id,
            external_license_id,
            license_type_id,
            value_before,
            value_after,
            threshold,
            thresholds,
        })
    }
}
