use super::{License, LicenseStatus};
use crate::{ExternalId, LicenseTypeId, SubscriptionId, Timestamp};

/// Filter of a list of licenses of a subscription (subscriptions 7.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LicenseFilter {
    /// Type that they have; any where none is given.
    pub license_type_id: Option<LicenseTypeId>,
    /// External id that they have; any where none is given.
    pub external_license_id: Option<ExternalId>,
    /// Status that they have now; any where none is given.
    pub status: Option<LicenseStatus>,
}

/// Name of a license: its external id, within a subscription and a type (subscriptions 7.3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LicenseName {
    /// Subscription.
    pub subscription_id: SubscriptionId,
    /// Type.
    pub license_type_id: LicenseTypeId,
    /// External id.
    pub external_license_id: ExternalId,
}

impl LicenseFilter {
    pub(crate) fn passes(&self, license: &License, now: Timestamp) -> bool {
        let Self { license_type_id, external_license_id, status } = self;
        license_type_id.is_none_or(|id| id == license.license_type_id)
            && external_license_id.as_ref().is_none_or(|id| *id == license.external_license_id)
            && status.is_none_or(|status| status == license.status(now))
    }
}
