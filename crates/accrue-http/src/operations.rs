//! The table of operations, one file per resource: it feeds the router, the OpenAPI document and the
//! list of what is served.
//!
//! A handler reads the request, makes a call of the engine, and writes what it came to in the words
//! of the wire.

mod alerts;
mod backfills;
mod balance_transactions;
mod coupons;
mod credit_notes;
mod credits;
mod customers;
mod dimensional_price_groups;
mod events;
mod invoices;
mod issuing;
mod items;
mod license_types;
mod licenses;
mod metrics;
mod migrations;
mod payment_methods;
mod payments;
mod ping;
mod plans;
mod portal_sessions;
mod prices;
mod subscription_changes;
mod subscriptions;
mod top_ups;
mod webhook_endpoints;
mod webhook_events;
mod zones;

#[cfg(test)]
mod tests;

use crate::operation::Operation;

/// Every operation that is served.
const SERVED: &[&[Operation]] = &[
    ping::OPERATIONS,
    alerts::OPERATIONS,
    items::OPERATIONS,
    customers::OPERATIONS,
    payment_methods::OPERATIONS,
    portal_sessions::OPERATIONS,
    credits::OPERATIONS,
    top_ups::OPERATIONS,
    metrics::OPERATIONS,
    prices::OPERATIONS,
    dimensional_price_groups::OPERATIONS,
    plans::OPERATIONS,
    migrations::OPERATIONS,
    subscriptions::OPERATIONS,
    license_types::OPERATIONS,
    licenses::OPERATIONS,
    subscription_changes::OPERATIONS,
    coupons::OPERATIONS,
    events::OPERATIONS,
    backfills::OPERATIONS,
    invoices::OPERATIONS,
    balance_transactions::OPERATIONS,
    credit_notes::OPERATIONS,
    webhook_endpoints::OPERATIONS,
    webhook_events::OPERATIONS,
];

pub(crate) fn all() -> impl Iterator<Item = &'static Operation> {
    SERVED.iter().copied().flatten()
}
