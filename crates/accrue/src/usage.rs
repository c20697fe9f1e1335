//! Usage: events, and what they add up to.

mod aggregate;
mod event;
mod hour;
mod incoming;
mod ingestion;
mod meter;
mod meters;
mod property;
mod quarter;
mod query;
mod reading;
mod search;
mod sightings;
mod tally;
mod view;
mod volume;

pub(crate) use self::{
    aggregate::Aggregate,
    hour::{Hour, Hours},
    ingestion::{ContentHash, EventKeyEntry, StoredEvent},
    meter::{CellId, MeterId, Split, SplitId},
    meters::Meters,
    quarter::{Cut, Quarter},
    reading::{Amount, Digest, Reading},
    sightings::{Seen, Sightings, is_within_a_day},
    tally::{Membership, Tally, Total},
    view::cut,
};
pub use self::{
    event::Event,
    incoming::Incoming,
    ingestion::Ingestion,
    property::{Properties, PropertyValue},
    query::{MetricUsage, PropertyGroup, Usage, UsageQuery, UsageSeries, UsageSlot},
    search::{EventSearch, FoundEvent},
    view::View,
    volume::{EventVolume, EventVolumeQuery},
};
