//! Usage: events, and their aggregates.

mod aggregate;
mod amendment;
mod bucket_slot;
mod cut;
mod distinct_index;
mod event_block;
mod event_key;
mod figures;
mod group_figures;
mod holders;
mod hour;
mod identity;
mod incoming;
mod ingestion;
mod meters;
mod query;
mod reading;
mod search;
mod stretch;
mod sums;
mod tally;
mod view;
mod volume;

pub(crate) use self::{
    aggregate::Aggregate,
    amendment::count_amendment,
    bucket_slot::BucketSlot,
    cut::Cut,
    distinct_index::{DistinctIndex, Seen, is_within_a_day},
    event_block::{BlockEvent, EventBlock},
    event_key::{EventKeyEntry, EventSlot},
    figures::{Figures, Grouped},
    group_figures::{GroupCells, GroupFigures, KnownGroups, OtherGroups},
    holders::{Holders, license_types},
    hour::Hours,
    identity::identity,
    ingestion::{Content, StoredEvent},
    meters::Meters,
    reading::{Amount, Digest, Reading, readings_of},
    stretch::{Day, FourWeeks, Hour, Minute, Stretch, Window},
    sums::Sums,
    tally::{DistinctValue, Groups, Membership, Tally, Total},
    view::Slots,
};
pub use self::{
    amendment::Amendment,
    incoming::Incoming,
    ingestion::Ingestion,
    query::{MetricUsage, PropertyGroup, Usage, UsageMetrics, UsageQuery, UsageSeries, UsageSlot},
    search::{EventSearch, FoundEvent},
    view::{QueryTimeframe, View},
    volume::{EventVolume, EventVolumeQuery},
};
pub(crate) use crate::event::EventPlace;
pub use crate::event::{Event, PreviewEvent, Properties, PropertyValue};
