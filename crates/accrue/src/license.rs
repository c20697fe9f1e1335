//! Licenses: seats of a subscription that are given out, each under an external id for a part of its life
//! (subscriptions 7).

mod filter;
mod new;
mod seats;
mod usage;

use serde::{Deserialize, Serialize};

pub use self::{
    filter::{LicenseFilter, LicenseName},
    new::{Deactivation, NewLicense, NewLicenseType},
    usage::{LicenseGrouping, LicenseUsage, LicenseUsageQuery},
};
pub(crate) use self::{
    seats::{LicenseFees, check_seats},
    usage::{Costs, LicenseRows, LicenseSlot, Pool, Reached},
};
use crate::{
    Error, ExternalId, LicenseId, LicenseTypeId, Name, PropertyName, SubscriptionId, Timeframe,
    Timestamp, subscription::Subscription, time::INSTANT,
};

/// License type: a kind of licenses, whose usage is told apart by a property of the events (subscriptions 7.2).
/// It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LicenseType {
    /// Its id.
    pub id: LicenseTypeId,
    /// Its name.
    pub name: Name,
    /// Property of the events that has the external id of a license.
    pub grouping_key: PropertyName,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// License: a seat of a subscription that is given to somebody, from a midnight of the customer's zone on
/// (subscriptions 7.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct License {
    /// Its id.
    pub id: LicenseId,
    /// Subscription that it is of.
    pub subscription_id: SubscriptionId,
    /// Its type.
    pub license_type_id: LicenseTypeId,
    /// Alias of the caller's own. Another license of the subscription and the type may have it at another time.
    pub external_license_id: ExternalId,
    /// Its first instant.
    pub start_date: Timestamp,
    /// First instant after it, that of the subscription where that ends before; `None` where no end is known.
    pub end_date: Option<Timestamp>,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// Status of a license (subscriptions 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LicenseStatus {
    /// License that has started and has not ended.
    Active,
    /// License that has ended, or is yet to start.
    Inactive,
}

impl License {
    /// Returns its status at an instant: active where start <= instant < end.
    #[must_use]
    pub fn status(&self, at: Timestamp) -> LicenseStatus {
        match self.is_active(at) {
            true => LicenseStatus::Active,
            false => LicenseStatus::Inactive,
        }
    }

    /// Tells whether it is active at an instant.
    pub(crate) fn is_active(&self, at: Timestamp) -> bool {
        self.start_date <= at && self.end_date.is_none_or(|end| at < end)
    }

    /// Returns the instants at which it is active; none where it never is.
    pub(crate) fn window(&self) -> Option<Timeframe> {
        let window = Timeframe::new(self.start_date, self.ends_at()).ok();
        window.filter(|window| window.start() < window.end())
    }

    /// Tells whether it is active at an instant of a timeframe.
    pub(crate) fn is_active_within(&self, timeframe: Timeframe) -> bool {
        self.window().is_some_and(|window| window.overlaps(timeframe))
    }

    /// Returns its end, and behind all others where none is known.
    pub(crate) fn ends_at(&self) -> Timestamp {
        self.end_date.unwrap_or(Timestamp::MAX.saturating_sub(INSTANT))
    }

    /// Returns it with the end of its subscription, where that comes before its own (subscriptions 7.3.10).
    pub(crate) fn within(mut self, subscription: &Subscription) -> Self {
        self.end_date = self.end_date.into_iter().chain(subscription.end_date).min();
        self
    }

    /// Returns what stands for an external id in a key.
    pub(crate) fn digest(external: &ExternalId) -> [u8; 32] {
        crate::id::digest(&[external.as_bytes()])
    }

    /// Chooses, of licenses of one external id, that which an instant belongs to (subscriptions 7.3.6): the
    /// active one, else that which ended last, else that which starts next.
    pub(crate) fn at<'a>(
        licenses: impl Iterator<Item = &'a Self> + Clone,
        at: Timestamp,
    ) -> Option<&'a Self> {
        let ended = || licenses.clone().filter(|of| of.ends_at() <= at);
        let active = licenses.clone().find(|of| of.is_active(at));
        let last = || ended().max_by_key(|of| of.ends_at());
        let next = || licenses.clone().min_by_key(|of| of.start_date);
        active.or_else(last).or_else(next)
    }

    /// Refuses it where another one of its external id is active at one of its instants (subscriptions 7.3.5).
    pub(crate) fn check_alone(&self, others: &[Self]) -> Result<(), Error> {
        let Some(window) = self.window() else { return Ok(()) };
        let mut others = others.iter().filter(|of| of.id != self.id);
        match others.find(|of| of.is_active_within(window)) {
            Some(other) => Err(Error::duplicate(format!(
                "the license {} has the external id {} from {} on",
                other.id, other.external_license_id, other.start_date
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
