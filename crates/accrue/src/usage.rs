//! Usage: events, and what they add up to.

mod aggregate;
mod event;
mod incoming;
mod ingestion;
mod property;
mod quarter;
mod search;
mod sightings;
mod tally;

pub(crate) use self::{
    aggregate::Aggregate,
    ingestion::{ContentHash, EventKeyEntry, StoredEvent},
    quarter::{Cut, Quarter},
    sightings::Sightings,
    tally::{Amount, Digest, Membership, Reading, Standing, Tally, Total, Watched},
};
pub use self::{
    event::Event,
    incoming::Incoming,
    ingestion::Ingestion,
    property::{Properties, PropertyValue},
    search::{EventSearch, FoundEvent, MetricUsage, Usage},
};
