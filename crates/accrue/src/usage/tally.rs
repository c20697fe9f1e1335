use std::collections::{BTreeMap, btree_map::Entry};

use serde::{Deserialize, Serialize};

use super::{
    aggregate::{Aggregate, Latest},
    meter::{MeterId, SplitId},
    quarter::Quarter,
    sightings::Seen,
};
use crate::{
    Decimal, EventKey, MetricId, Timestamp,
    metric::{Contribution, Function},
};

/// What one event adds to one meter.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) meter: MeterId,
    /// The split that the meter is a cell of.
    pub(crate) split: Option<SplitId>,
    pub(crate) amount: Amount,
}

/// What an event adds, ready to be added.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// To an aggregate that only needs to be added to.
    Plain(Aggregate),
    /// One value, of which it must be known whether it is new.
    Distinct(Digest),
}

/// What a distinct value is recognized by.
pub(crate) type Digest = [u8; 32];

impl Reading {
    /// Reads what an event contributes to a metric.
    pub(crate) fn new(
        metric_id: MetricId,
        function: &Function,
        contribution: Contribution,
        at: Timestamp,
        key: &EventKey,
    ) -> Self {
        let amount = match contribution {
            Contribution::Occurrence => Amount::Plain(Aggregate::Count(1)),
            Contribution::Distinct(value) => Amount::Distinct(value.digest()),
            Contribution::Number(value) => Amount::Plain(match function {
                Function::Min(_) => Aggregate::Min(value),
                Function::Max(_) => Aggregate::Max(value),
                Function::Latest(_) => Aggregate::Latest(Latest { at, key: key.clone(), value }),
                _ => Aggregate::Sum(value),
            }),
        };
        Self { meter: metric_id.into(), split: None, amount }
    }
}

/// What a billing period of a subscription, or any timeframe, adds up to: of all meters that have
/// anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Total(pub(crate) BTreeMap<MeterId, Aggregate>);

impl Total {
    pub(crate) fn add(&mut self, meter: MeterId, amount: Aggregate) {
        match self.0.entry(meter) {
            Entry::Occupied(mut total) => total.get_mut().add(amount),
            Entry::Vacant(vacant) => {
                vacant.insert(amount);
            }
        }
    }

    pub(crate) fn figure(&self, meter: impl Into<MeterId>) -> Option<Decimal> {
        self.0.get(&meter.into()).map(Aggregate::figure)
    }
}

/// One customer's usage while events are added to it, one by one: buckets and distinct values.
///
/// The engine loads it, adds events and saves it. What comes out does not depend on how events are
/// cut into batches.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Everything before this instant is too old to be taken.
    pub(crate) oldest_taken: Timestamp,
    pub(crate) buckets: BTreeMap<(MeterId, Quarter), Aggregate>,
    pub(crate) members: BTreeMap<Member, Membership>,
    pub(crate) sightings: Seen,
}

/// A distinct value of a bucket.
pub(crate) type Member = (MeterId, Quarter, Digest);

/// Since when a distinct value is one of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Membership {
    /// Since before.
    Stored,
    /// Since an event that was added here.
    Added,
}

impl Tally {
    pub(crate) fn new(oldest_taken: Timestamp) -> Self {
        Self {
            oldest_taken,
            buckets: BTreeMap::new(),
            members: BTreeMap::new(),
            sightings: BTreeMap::new(),
        }
    }

    /// Adds what an event contributes.
    pub(crate) fn add(&mut self, at: Timestamp, readings: &[Reading]) {
        for reading in readings {
            self.add_to_bucket(at, reading);
        }
        for reading in readings {
            if let Amount::Distinct(digest) = reading.amount {
                let sightings = self.sightings.entry((reading.meter, digest)).or_default();
                sightings.add(at, self.oldest_taken);
            }
        }
    }

    fn add_to_bucket(&mut self, at: Timestamp, reading: &Reading) {
        let quarter = Quarter::of(at);
        let amount = match &reading.amount {
            Amount::Plain(amount) => amount.clone(),
            Amount::Distinct(digest) => {
                match self.members.entry((reading.meter, quarter, *digest)) {
                    Entry::Occupied(_) => return,
                    Entry::Vacant(vacant) => vacant.insert(Membership::Added),
                };
                Aggregate::Distinct(1)
            }
        };
        match self.buckets.entry((reading.meter, quarter)) {
            Entry::Occupied(mut bucket) => bucket.get_mut().add(amount),
            Entry::Vacant(vacant) => {
                vacant.insert(amount);
            }
        }
    }
}
