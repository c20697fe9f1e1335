//! License types, licenses and their usage on the wire (subscriptions 7).

use accrue::{
    ExternalId, JsonNumber, LicenseId, LicenseTypeId, Name, PricingUnit, PropertyName,
    SubscriptionId, Timestamp,
    license::{
        self, LicenseFilter, LicenseGrouping, LicenseName, LicenseStatus, LicenseUsageQuery,
    },
};

use super::{
    dates::Day,
    pages::{Limit, Sought},
};
use crate::{
    json::Json,
    shape::{Describe, Moment, Read, Reader, Schema, choices, request, response},
};

request! {
    /// A license type to create.
    pub(crate) struct NewLicenseType {
        /// Its name.
        name: Name,
        /// Property of the events that has the external id of a license.
        grouping_key: PropertyName,
    }

    /// A license to create.
    pub(crate) struct NewLicense {
        /// Id of the subscription that it is of.
        subscription_id: SubscriptionId,
        /// Id of its type: one that a price of the subscription has.
        license_type_id: LicenseTypeId,
        /// External id: the caller's own alias, which no other license of the subscription and the type has at the
        /// same time.
        external_license_id: ExternalId,
        /// First day in the customer's time zone, which may have passed; today where none is given.
        start_date: Option<Day>,
        /// First day after it in the customer's time zone.
        end_date: Option<Day>,
    }

    /// The end of a license.
    pub(crate) struct DeactivateLicense {
        /// First day after it in the customer's time zone; tomorrow where none is given.
        end_date: Option<Day>,
    }

    /// Filters and page of a list of licenses.
    pub(crate) struct LicenseListQuery {
        /// Id of the subscription of the licenses.
        subscription_id: SubscriptionId,
        /// Id of the type of the licenses.
        license_type_id: Option<Sought<LicenseTypeId>>,
        /// External id of the licenses.
        external_license_id: Option<Sought<ExternalId>>,
        /// Status of the licenses.
        status: Option<LicenseStatus>,
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
    }

    /// The subscription and the type of a license that is found by its external id.
    pub(crate) struct LicenseByExternalIdQuery {
        /// Id of the subscription of the license.
        subscription_id: SubscriptionId,
        /// Id of the type of the license.
        license_type_id: LicenseTypeId,
    }

    /// Range, rows and page of the usage of licenses of a subscription and a type.
    pub(crate) struct LicensesUsageQuery {
        /// Id of the subscription of the licenses.
        subscription_id: SubscriptionId,
        /// Id of the type of the licenses.
        license_type_id: LicenseTypeId,
        /// First day in the customer's time zone: that of the current billing period where none is given.
        start_date: Option<Day>,
        /// First day behind the range: behind that of the current billing period where none is given.
        end_date: Option<Day>,
        /// Rows of the answer: `license`, where nothing is said, `day`, or both with a comma between them.
        group_by: Option<GroupBy>,
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
    }

    /// Range, rows and page of the usage of one license.
    pub(crate) struct OneLicenseUsageQuery {
        /// First day in the customer's time zone: that of the current billing period where none is given.
        start_date: Option<Day>,
        /// First day behind the range: behind that of the current billing period where none is given.
        end_date: Option<Day>,
        /// Rows of the answer: `license`, where nothing is said, `day`, or both with a comma between them.
        group_by: Option<GroupBy>,
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
    }
}

response! {
    /// A license type: a kind of licenses, whose usage is told apart by a property of the events.
    pub(crate) struct LicenseType {
        /// Its id.
        id: String,
        /// Its name.
        name: Name,
        /// Property of the events that has the external id of a license.
        grouping_key: String,
    }

    /// A license: a seat of a subscription that is given to somebody.
    pub(crate) struct License {
        /// Its id.
        id: String,
        /// Id of the subscription that it is of.
        subscription_id: String,
        /// Id of its type.
        license_type_id: String,
        /// External id: the caller's own alias.
        external_license_id: ExternalId,
        /// Its status now.
        status: LicenseStatus,
        /// Its first instant: midnight of a day in the customer's time zone.
        start_date: Moment,
        /// First instant after it; null where no end is known.
        end_date: Option<Moment>,
    }

    /// The usage of a license, or of all licenses of a day.
    pub(crate) struct LicenseUsage {
        /// Id of the license; null where rows are of days alone.
        license_id: Option<String>,
        /// External id of the license; null where rows are of days alone.
        external_license_id: Option<ExternalId>,
        /// Id of the subscription.
        subscription_id: String,
        /// Id of the type of the licenses.
        license_type_id: String,
        /// First day.
        start_date: Day,
        /// First day behind the last one.
        end_date: Day,
        /// Allocation of the period.
        allocated_credits: JsonNumber,
        /// Cost of all usage.
        consumed_credits: JsonNumber,
        /// Rest of the allocation.
        remaining_credits: JsonNumber,
        /// Currency or pricing unit of the figures.
        pricing_unit: PricingUnit,
        /// Cost of the usage while the license was active.
        allocation_eligible_credits: JsonNumber,
        /// Cost of the usage while it was not.
        shared_pool_credits: JsonNumber,
    }
}

choices! {
    LicenseStatus {
        "active" => LicenseStatus::Active,
        "inactive" => LicenseStatus::Inactive,
    }
}

/// The rows of the usage of licenses: words with a comma between them, in any order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupBy(LicenseGrouping);

impl Read for GroupBy {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        let mut words: Vec<_> = text.split(',').collect();
        words.sort_unstable();
        match *words {
            ["license"] => Some(Self(LicenseGrouping::License)),
            ["day"] => Some(Self(LicenseGrouping::Day)),
            ["day", "license"] => Some(Self(LicenseGrouping::LicenseAndDay)),
            _ => reader.wrong(at, "expected license, day, or both with a comma between them"),
        }
    }
}

impl Describe for GroupBy {
    fn schema() -> Schema {
        String::schema()
    }
}

impl From<NewLicenseType> for license::NewLicenseType {
    fn from(new: NewLicenseType) -> Self {
        Self { name: new.name, grouping_key: new.grouping_key }
    }
}

impl From<NewLicense> for license::NewLicense {
    fn from(new: NewLicense) -> Self {
        let mut license =
            Self::new(new.subscription_id, new.license_type_id, new.external_license_id);
        license.start_date = new.start_date.map(|Day(date)| date);
        license.end_date = new.end_date.map(|Day(date)| date);
        license
    }
}

impl From<DeactivateLicense> for license::Deactivation {
    fn from(of: DeactivateLicense) -> Self {
        Self { end_date: of.end_date.map(|Day(date)| date) }
    }
}

impl LicenseListQuery {
    /// Returns the filter; none where the type or the external id is looked for in vain.
    pub(crate) fn filter(&self) -> Option<LicenseFilter> {
        let license_type_id = match self.license_type_id {
            Some(Sought(found)) => Some(found?),
            None => None,
        };
        let external_license_id = match &self.external_license_id {
            Some(Sought(found)) => Some(found.clone()?),
            None => None,
        };
        Some(LicenseFilter { license_type_id, external_license_id, status: self.status })
    }
}

impl LicenseByExternalIdQuery {
    pub(crate) const fn name(&self, external_license_id: ExternalId) -> LicenseName {
        let Self { subscription_id, license_type_id } = *self;
        LicenseName { subscription_id, license_type_id, external_license_id }
    }
}

impl LicensesUsageQuery {
    pub(crate) const fn name(&self, external_license_id: ExternalId) -> LicenseName {
        let Self { subscription_id, license_type_id, .. } = *self;
        LicenseName { subscription_id, license_type_id, external_license_id }
    }

    pub(crate) fn query(&self) -> LicenseUsageQuery {
        usage_query((self.start_date, self.end_date), self.group_by)
    }
}

impl OneLicenseUsageQuery {
    pub(crate) fn query(&self) -> LicenseUsageQuery {
        usage_query((self.start_date, self.end_date), self.group_by)
    }
}

fn usage_query(
    (start, end): (Option<Day>, Option<Day>),
    group_by: Option<GroupBy>,
) -> LicenseUsageQuery {
    LicenseUsageQuery {
        start_date: start.map(|Day(date)| date),
        end_date: end.map(|Day(date)| date),
        grouping: group_by.map(|GroupBy(grouping)| grouping).unwrap_or_default(),
    }
}

impl From<&license::LicenseType> for LicenseType {
    fn from(of: &license::LicenseType) -> Self {
        Self {
            id: of.id.to_string(),
            name: of.name.clone(),
            grouping_key: of.grouping_key.to_string(),
        }
    }
}

impl License {
    /// Writes a license, with its status at an instant.
    pub(crate) fn at(license: &license::License, now: Timestamp) -> Self {
        Self {
            id: license.id.to_string(),
            subscription_id: license.subscription_id.to_string(),
            license_type_id: license.license_type_id.to_string(),
            external_license_id: license.external_license_id.clone(),
            status: license.status(now),
            start_date: license.start_date.into(),
            end_date: license.end_date.map(Moment::from),
        }
    }
}

impl From<license::LicenseUsage> for LicenseUsage {
    fn from(of: license::LicenseUsage) -> Self {
        Self {
            license_id: of.license_id.map(|id: LicenseId| id.to_string()),
            external_license_id: of.external_license_id,
            subscription_id: of.subscription_id.to_string(),
            license_type_id: of.license_type_id.to_string(),
            start_date: Day(of.start_date),
            end_date: Day(of.end_date),
            allocated_credits: JsonNumber(of.allocated_credits),
            consumed_credits: JsonNumber(of.consumed_credits),
            remaining_credits: JsonNumber(of.remaining_credits),
            pricing_unit: of.pricing_unit,
            allocation_eligible_credits: JsonNumber(of.allocation_eligible_credits),
            shared_pool_credits: JsonNumber(of.shared_pool_credits),
        }
    }
}
