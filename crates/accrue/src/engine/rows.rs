//! Rows: what is stored of each aggregate, loaded and saved.

pub(super) mod account;
pub(super) mod active;
pub(super) mod alerts;
pub(super) mod backfills;
pub(super) mod balance_alerts;
pub(super) mod comparisons;
pub(super) mod corrections;
pub(super) mod credits;
pub(super) mod customers;
pub(super) mod event_blocks;
pub(super) mod figures;
pub(super) mod groups;
pub(super) mod ledgers;
pub(super) mod lists;
pub(super) mod metrics;
pub(super) mod outbox;
pub(super) mod periods;
pub(super) mod places;
pub(super) mod plans;
pub(super) mod prices;
pub(super) mod subscriptions;
pub(super) mod tallies;
pub(super) mod terms;
pub(super) mod visible;
pub(super) mod windows;
