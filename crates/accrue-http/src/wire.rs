//! The words of the wire, apart from the types of the engine: what requests bring and answers have.

pub(crate) mod alerts;
mod amounts;
pub(crate) mod backfills;
pub(crate) mod balance_transactions;
pub(crate) mod carried;
pub(crate) mod costs;
pub(crate) mod coupons;
pub(crate) mod credit_notes;
pub(crate) mod credits;
mod customer_fields;
pub(crate) mod customers;
pub(crate) mod dates;
pub(crate) mod events;
pub(crate) mod invoices;
pub(crate) mod items;
pub(crate) mod ledger;
pub(crate) mod metrics;
pub(crate) mod new_entries;
pub(crate) mod not_built;
pub(crate) mod pages;
pub(crate) mod plans;
pub(crate) mod portal_sessions;
mod price_filters;
pub(crate) mod prices;
pub(crate) mod subscriptions;
mod tax_ids;
