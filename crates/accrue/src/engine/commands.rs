//! Commands: one file for the operations of each resource, which load, decide and save.

pub(super) mod account;
pub(super) mod alerts;
pub(super) mod amendments;
pub(super) mod api_keys;
pub(super) mod backfills;
pub(super) mod costs;
pub(super) mod credit_blocks;
pub(super) mod credits;
pub(super) mod customers;
pub(super) mod event_volume;
pub(super) mod events;
pub(super) mod garbage;
pub(super) mod items;
pub(super) mod messages;
pub(super) mod metrics;
pub(super) mod plan_versions;
pub(super) mod plans;
pub(super) mod preview;
pub(super) mod price_evaluation;
pub(super) mod prices;
pub(super) mod related;
pub(super) mod subscription_changes;
pub(super) mod subscriptions;
pub(super) mod usage;
pub(super) mod usage_series;
