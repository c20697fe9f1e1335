//! The engine through its public handles, one fact a test.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod absences;
mod adjustments;
mod alerts;
mod amendments;
mod api_keys;
mod at_once;
mod backfill_keys;
mod backfills;
mod backfills_apart;
mod bad_credits;
mod bad_input;
mod balance_alert_changes;
mod balance_alerts;
mod bought_credits;
mod cadences;
mod carried;
mod corrected;
mod corrected_alerts;
mod corrected_credits;
mod corrections;
mod cost_alerts;
mod costs;
mod coupon_money;
mod coupons;
mod credit_blocks;
mod credit_lists;
mod credit_notes;
mod credit_previews;
mod customer_alerts;
mod customer_costs;
mod customers;
mod deliveries;
mod delivery_stories;
mod deprecations;
mod drafts;
mod draw_down;
mod draw_down_days;
mod due_dates;
mod dunning;
mod event_volume;
mod events;
mod expiry;
mod expiry_stories;
mod fee_quantities;
mod fee_quantity_changes;
mod fees;
mod given_back;
mod golden;
mod idempotency;
mod instants;
mod invoice_lives;
mod invoice_money;
mod invoices;
mod invoicing_cycles;
mod ledger_entries;
mod ledger_stories;
mod ledgers;
mod line_groups;
mod lines_by_hand;
mod lists;
mod long_invoices;
mod lost_races;
mod matrix;
mod messages;
mod one_off;
mod open_usage;
mod packs;
mod past_ends;
mod payment_methods;
mod payments;
mod plan_alerts;
mod plan_changes;
mod plan_versions;
mod previews;
mod price_evaluation;
mod prices;
mod proration;
mod races;
mod refused_taxes;
mod residents;
mod resources;
#[cfg(feature = "tracing")]
mod spans;
mod spend_alerts;
mod squared_credits;
mod subscription_changes;
mod subscription_lists;
mod subscription_terms;
mod subscriptions;
mod support;
mod syncing;
mod taxes;
mod thresholds;
mod tick;
mod top_up_stories;
mod top_ups;
mod turns;
mod turns_of_others;
mod usage_series;
