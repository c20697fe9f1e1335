//! Types of messages, which endpoints name (wire 6.8).

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::Error;

/// Type of a webhook message, of the catalogue of the API.
///
/// ```
/// use accrue::webhook::EventType;
///
/// assert_eq!(EventType::parse("subscription.ended")?.as_str(), "subscription.ended");
/// assert!(EventType::parse("subscription.gone").is_err());
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EventType(&'static str);

impl EventType {
    /// Every type that there is, in order.
    pub const ALL: &[&str] = &[
        "backfill.reflected",
        "backfill.reverted",
        "billable_metric.edited",
        "credit_block.accounting_sync_failed",
        "credit_block.accounting_sync_succeeded",
        "credit_note.accounting_sync_failed",
        "credit_note.accounting_sync_succeeded",
        "credit_note.issued",
        "credit_note.marked_as_void",
        "customer.accounting_sync_failed",
        "customer.accounting_sync_succeeded",
        "customer.balance_transaction_created",
        "customer.created",
        "customer.credit_balance_depleted",
        "customer.credit_balance_dropped",
        "customer.credit_balance_recovered",
        "customer.credit_ledger_incremented",
        "customer.edited",
        "data_exports.transfer_error",
        "data_exports.transfer_success",
        "event.unmatched_event",
        "ingestion.unmatched_customer_ids",
        "invoice.accounting_sync_failed",
        "invoice.accounting_sync_succeeded",
        "invoice.automation_schedule_step_executed",
        "invoice.cost_data_exported",
        "invoice.dunning_schedule_created",
        "invoice.dunning_schedule_ended",
        "invoice.dunning_schedule_reset",
        "invoice.dunning_schedule_step_executed",
        "invoice.edited",
        "invoice.invoice_date_elapsed",
        "invoice.issue_failed",
        "invoice.issued",
        "invoice.issued_summary",
        "invoice.manually_marked_as_paid",
        "invoice.manually_marked_as_void",
        "invoice.payment_failed",
        "invoice.payment_processing",
        "invoice.payment_succeeded",
        "invoice.sync_failed",
        "invoice.sync_succeeded",
        "invoice.undo_mark_as_paid",
        "invoice_due_date_recalculation.canceled",
        "invoice_due_date_recalculation.completed",
        "invoice_due_date_recalculation.started",
        "metric.events_dropped_by_watermark",
        "payment_method.created",
        "payment_method.deleted",
        "plan.created",
        "plan.default_version_set",
        "plan.edited",
        "plan.version_created",
        "price.edited",
        "resource_event.test",
        "sales_order.accounting_sync_failed",
        "sales_order.accounting_sync_succeeded",
        "subscription.accounting_sync_failed",
        "subscription.accounting_sync_succeeded",
        "subscription.alert_disabled",
        "subscription.cancellation_scheduled",
        "subscription.cancellation_unscheduled",
        "subscription.cost_exceeded",
        "subscription.created",
        "subscription.edited",
        "subscription.ended",
        "subscription.fixed_fee_quantity_updated",
        "subscription.grouped_cost_exceeded",
        "subscription.invoicing_threshold_exceeded",
        "subscription.license_allocation_reset",
        "subscription.license_balance_threshold_reached",
        "subscription.plan_change_scheduled",
        "subscription.plan_changed",
        "subscription.plan_version_change_scheduled",
        "subscription.plan_version_changed",
        "subscription.spend_exceeded",
        "subscription.started",
        "subscription.trial_ended",
        "subscription.usage_exceeded",
        "transaction.accounting_sync_failed",
        "transaction.accounting_sync_succeeded",
    ];

    /// Parses a type.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there is no such type.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.binary_search(&text).ok().and_then(|at| Self::ALL.get(at));
        let unknown = || Error::invalid("", format!("there are no messages of the type {text:?}"));
        found.map(|text| Self(text)).ok_or_else(unknown)
    }

    /// Returns its text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Types of the messages that an endpoint is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventTypes {
    /// All of them, those that are yet to come too.
    #[default]
    All,
    /// These, one at least.
    Only(BTreeSet<EventType>),
}

impl EventTypes {
    /// Tells whether messages of a type are among them.
    #[must_use]
    pub fn contain(&self, message_type: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(types) => types.iter().any(|of| of.as_str() == message_type),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_6_8_the_catalogue_is_in_order_and_is_read_back() {
        assert!(EventType::ALL.is_sorted());
        assert_eq!(EventType::ALL.len(), 81);
        for text in EventType::ALL {
            let found = EventType::parse(text).unwrap();
            let written = serde_json::to_string(&found).unwrap();
            assert_eq!(serde_json::from_str::<EventType>(&written).unwrap(), found);
        }
        EventType::parse("invoice.gone").unwrap_err();
    }

    #[test]
    fn subscriptions_10_1_null_is_all_types() {
        let only = EventTypes::Only([EventType::parse("invoice.issued").unwrap()].into());
        for (types, text) in [(EventTypes::All, "null"), (only, "[\"invoice.issued\"]")] {
            assert_eq!(serde_json::to_string(&types).unwrap(), text);
            assert_eq!(serde_json::from_str::<EventTypes>(text).unwrap(), types);
        }
    }
}
