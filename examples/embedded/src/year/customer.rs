use accrue::{CustomerId, ExternalId, Timeframe, Timestamp, subscription::Subscription};

use super::{calendar::instant, profile::Profile};
use crate::setup::DAY;

/// A customer that was created, with its subscription.
#[derive(Debug)]
pub(super) struct Customer {
    pub(super) profile: &'static Profile,
    pub(super) id: CustomerId,
    pub(super) external: ExternalId,
    pub(super) subscription: Subscription,
}

impl Customer {
    /// Returns its year, from its own New Year to the next.
    pub(super) fn year(&self) -> Timeframe {
        let [start, end] = self.profile.year.map(instant);
        Timeframe::new(start, end).expect("a year ends after it starts")
    }

    /// Returns when it complains.
    pub(super) fn complains(&self) -> Option<Timestamp> {
        self.profile.complains.map(instant)
    }

    /// Returns when it says that it leaves, and when it does.
    pub(super) fn leaves(&self) -> Option<[Timestamp; 2]> {
        self.profile.leaves.map(|leaves| leaves.map(instant))
    }

    /// Returns when it pays an invoice: not at all once it has said that it leaves.
    pub(super) fn pays_at(&self, issued: Timestamp) -> Option<Timestamp> {
        let pays = issued.saturating_add(DAY.saturating_mul(self.profile.pays_after_days));
        self.leaves().is_none_or(|[says_so, _]| pays < says_so).then_some(pays)
    }

    /// Returns its months, in its own time zone.
    pub(super) fn months(&self) -> Vec<Timeframe> {
        self.subscription.periods().overlapping(self.year()).collect()
    }
}
