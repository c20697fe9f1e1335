//! The API over HTTP, by its clauses.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod adjustments;
mod alerts;
mod allocation_prices;
mod at_once;
mod auth;
mod backfill_states;
mod backfills;
mod bought_credits;
mod bounds;
mod changed_subscriptions;
mod clients;
mod contracts;
mod coupons;
mod credit_notes;
mod credits;
mod customer_costs;
mod customers;
mod described;
mod dimensional_price_groups;
mod documents;
mod dry_runs;
mod errors;
mod events;
mod failures;
mod faults;
mod fields_without_a_value;
mod grouped_alerts;
mod heads;
mod idempotency;
mod idempotency_keys;
mod idempotency_records;
mod idempotency_sequences;
mod invoice_documents;
mod invoice_lists;
mod invoice_shapes;
mod invoice_states;
mod invoices;
mod license_alerts;
mod licenses;
mod line_items;
mod messages;
mod metrics;
mod migrations;
mod one_off;
mod own;
mod own_adjustments;
mod own_prices;
mod pagination;
mod payloads;
mod payment_methods;
mod payments;
mod phases;
mod plans;
mod portal_sessions;
mod price_evaluations;
mod price_models;
mod prices;
mod pricing;
mod rates;
mod reflection;
mod scene;
mod stores;
mod subscription_answers;
mod subscription_changes;
mod subscription_figures;
mod subscriptions;
mod support;
mod taxes;
mod usage_customers;
mod violations;
mod webhooks;
