//! One subscription that tests begin with, and what is cut for it.

use std::collections::BTreeSet;

use super::{BillingAnchor, Cut, Notified, Subscription, SubscriptionEntry};
use crate::{
    Carried, Currency, CustomerId, Metadata, PlanId, SubscriptionId, Timestamp, Zone,
    plan::PlanVersion,
};

/// From the tenth of March 2026 on in USD, by months from their first in UTC, with nothing to pay.
pub(crate) fn subscription() -> Subscription {
    let start_date = Timestamp::parse("2026-03-10T00:00:00Z").unwrap();
    Subscription {
        id: SubscriptionId::from_bytes([1; 16]),
        customer_id: CustomerId::from_bytes([1; 16]),
        plan_id: Some(PlanId::from_bytes([1; 16])),
        plan_version: PlanVersion::FIRST,
        name: None,
        start_date,
        end_date: None,
        timezone: Zone::parse("UTC").unwrap(),
        anchor: BillingAnchor::FirstOfMonth,
        currency: Currency::parse("USD").unwrap(),
        anchored_at: None,
        filter: None,
        usage_customers: None,
        plan_intervals: Vec::new(),
        trial: None,
        price_intervals: Vec::new(),
        adjustment_intervals: Vec::new(),
        metadata: Metadata::new(),
        carried: Carried::NONE,
        created_at: start_date,
        waiting: None,
        pending_change: None,
    }
}

/// What cuts intervals for it from its start on.
pub(crate) fn cut(of: &Subscription) -> Cut {
    Cut {
        seed: of.id,
        plan_version: of.plan_version,
        start_date: of.start_date,
        anchor: of.anchor,
        created_at: of.created_at,
    }
}

/// It has begun, without alerts, and been rated up to its start.
pub(crate) fn entry(subscription: Subscription) -> SubscriptionEntry {
    SubscriptionEntry {
        alerts: Vec::new(),
        muted: BTreeSet::new(),
        revision: 0,
        account_revision: 0,
        notified: Notified::Started,
        trial_told: None,
        rated_until: Some(subscription.start_date),
        closed_until: None,
        parts_until: None,
        invoicing: None,
        priced: None,
        plan_since: None,
        terms_parts: 0,
        subscription,
    }
}
