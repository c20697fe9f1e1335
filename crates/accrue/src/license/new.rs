use serde::Serialize;

use super::{License, LicenseType};
use crate::{
    CivilDate, Error, ExternalId, LicenseId, LicenseTypeId, Name, PropertyName, SubscriptionId,
    Timestamp, Zone, subscription::Subscription,
};

/// License type to create (subscriptions 7.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewLicenseType {
    /// Its name.
    pub name: Name,
    /// Property of the events that has the external id of a license.
    pub grouping_key: PropertyName,
}

/// License to create (subscriptions 7.2, 7.3).
///
/// ```
/// use accrue::{CivilDate, ExternalId, LicenseTypeId, SubscriptionId, license::NewLicense};
///
/// # fn new(pro: SubscriptionId, seat: LicenseTypeId) -> Result<(), Box<dyn std::error::Error>> {
/// let mut alice = NewLicense::new(pro, seat, ExternalId::parse("alice")?);
/// alice.start_date = Some(CivilDate::parse("2026-03-16")?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NewLicense {
    /// Subscription that it is of.
    pub subscription_id: SubscriptionId,
    /// Its type: one that a price of the subscription has.
    pub license_type_id: LicenseTypeId,
    /// Alias of the caller's own: no other license of the subscription and the type has it at the same time.
    pub external_license_id: ExternalId,
    /// Its first day in the customer's zone, which may have passed; today where none is given.
    pub start_date: Option<CivilDate>,
    /// First day after it in the customer's zone; no end is known where none is given.
    pub end_date: Option<CivilDate>,
}

/// End to give to a license (subscriptions 7.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deactivation {
    /// First day after it in the customer's zone; tomorrow where none is given.
    pub end_date: Option<CivilDate>,
}

impl NewLicenseType {
    pub(crate) fn decide(self, id: LicenseTypeId, now: Timestamp) -> LicenseType {
        LicenseType { id, name: self.name, grouping_key: self.grouping_key, created_at: now }
    }
}

impl NewLicense {
    /// Prepares a license from today on, without an end.
    #[must_use]
    pub const fn new(
        subscription_id: SubscriptionId,
        license_type_id: LicenseTypeId,
        external_license_id: ExternalId,
    ) -> Self {
        let (start_date, end_date) = (None, None);
        Self { subscription_id, license_type_id, external_license_id, start_date, end_date }
    }

    /// Decides what it will be, of its subscription.
    pub(crate) fn decide(
        self,
        id: LicenseId,
        subscription: &Subscription,
        now: Timestamp,
    ) -> Result<License, Error> {
        let zone = &subscription.timezone;
        let start = self.start_date.map(|date| midnight(date, zone, "start_date")).transpose()?;
        let start_date = start.unwrap_or_else(|| zone.begin_of_day_of(now));
        let end_date = self.end_date.map(|date| midnight(date, zone, "end_date")).transpose()?;
        subscription.check_not_ended(now)?;
        if let Some(end) = subscription.end_date.filter(|end| *end <= start_date) {
            let detail = format!(
                "the license would start at {start_date}, and its subscription ends at {end}"
            );
            return Err(Error::constraint(detail));
        }
        check_order(start_date, end_date)?;
        Ok(License {
            id,
            subscription_id: subscription.id,
            license_type_id: self.license_type_id,
            external_license_id: self.external_license_id,
            start_date,
            end_date,
            created_at: now,
        })
    }
}

impl Deactivation {
    /// Decides the end of a license, which has none or is still to come.
    pub(crate) fn decide(
        self,
        license: License,
        subscription: &Subscription,
        now: Timestamp,
    ) -> Result<License, Error> {
        let zone = &subscription.timezone;
        let end = self.end_date.map(|date| midnight(date, zone, "end_date")).transpose()?;
        let end = end.unwrap_or_else(|| zone.midnight_after(now, 1));
        let current = license.clone().within(subscription).end_date;
        if let Some(ended) = current.filter(|ended| *ended <= now) {
            let detail = format!("the license {} is inactive since {ended}", license.id);
            return Err(Error::constraint(detail));
        }
        check_order(license.start_date, Some(end))?;
        Ok(License { end_date: Some(end), ..license })
    }
}

fn midnight(date: CivilDate, zone: &Zone, field: &str) -> Result<Timestamp, Error> {
    let day = date.in_zone(zone).map_err(|error| Error::invalid(field, error.to_string()))?;
    Ok(day.start())
}

fn check_order(start: Timestamp, end: Option<Timestamp>) -> Result<(), Error> {
    match end.filter(|end| *end < start) {
        Some(end) => {
            let detail = format!("the license would end at {end}, before its start at {start}");
            Err(Error::constraint(detail))
        }
        None => Ok(()),
    }
}
