//! Subscriptions on the wire (wire 5.3).

mod changes;
mod intervals;
mod lists;
mod new;
mod usage;

use accrue::{
    Metadata, Timestamp,
    related::Related,
    subscription::{self, BillingAnchor, SubscriptionStatus},
};
use serde::Serialize;

use self::intervals::{PriceInterval, QuantityEntry, intervals, schedule};
pub(crate) use self::{
    changes::{Cancel, UpdateFixedFeeQuantity, UpdateSubscription},
    lists::{SubscriptionListQuery, SubscriptionSummary},
    new::NewSubscription,
    usage::{UsageOverTime, UsageQueryIn},
};
use super::{carried::Stored, customers::Customer, plans::Plan, prices::Nothing};
use crate::shape::{Describe, Moment, Object, Property, Schema, choices, response};

response! {
    /// A subscription, with its customer, its plan and the prices that it has.
    pub(crate) struct Subscription {
        /// Its id.
        id: String,
        /// What people call it: as its plan, where it has no name of its own.
        name: String,
        /// Where it stands.
        status: SubscriptionStatus,
        /// When it was created.
        created_at: Moment,
        /// Its first instant.
        start_date: Moment,
        /// The first instant after it; null where no end is known.
        end_date: Option<Moment>,
        /// When its current billing period began; null where it has none.
        current_billing_period_start_date: Option<Moment>,
        /// When its current billing period ends; null where it has none.
        current_billing_period_end_date: Option<Moment>,
        /// On which day of a month its billing periods begin.
        billing_cycle_day: u32,
        /// On which day its billing periods begin.
        billing_cycle_anchor_configuration: Anchor,
        /// Who subscribed.
        customer: Option<Customer>,
        /// To what, with the prices of its version.
        plan: Option<Plan>,
        /// Its prices.
        price_intervals: Vec<PriceInterval>,
        /// How many of its fees it has, and from when until when.
        fixed_fee_quantity_schedule: Vec<QuantityEntry>,
        /// None: prices have adjustments of their own.
        adjustment_intervals: Vec<String>,
        /// None: prices have discounts of their own.
        discount_intervals: Vec<String>,
        /// None: prices have minima of their own.
        minimum_intervals: Vec<String>,
        /// None: prices have maxima of their own.
        maximum_intervals: Vec<String>,
        /// Whether its invoices are collected without being asked for.
        auto_collection: Stored,
        /// Whether its invoices are issued without being approved.
        auto_issuance: Stored,
        /// What its invoices say: as its plan, where nothing was said.
        default_invoice_memo: Stored,
        /// How much may be used before an invoice is issued.
        invoicing_threshold: Stored,
        /// How many days after its issue an invoice is due: as its plan, where nothing was said.
        net_terms: Stored,
        /// Always null: plans have no phases.
        active_plan_phase_order: Nothing,
        /// Always null: changes take effect at once.
        pending_subscription_change: Nothing,
        /// Always null: there are no coupons.
        redeemed_coupon: Nothing,
        /// Whether it begins with a trial: none does.
        trial_info: TrialInfo,
        /// Texts of the caller's own.
        metadata: Metadata,
    }

    /// On which day billing periods begin.
    pub(crate) struct Anchor {
        /// The day of a month.
        day: u32,
        /// The month of a longer period.
        month: Option<u32>,
        /// The year of a longer period.
        year: Option<u32>,
    }

    /// Whether a subscription begins with a trial.
    pub(crate) struct TrialInfo {
        /// When it ends: null, since there is none.
        end_date: Nothing,
    }
}

/// A subscription that was changed, with what else that changed: nothing, since there are no
/// invoices.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MutatedSubscription {
    #[serde(flatten)]
    subscription: Subscription,
    changed_resources: Nothing,
}

impl Describe for MutatedSubscription {
    fn schema() -> Schema {
        let Schema::Object(mut object) = Subscription::schema() else { return Schema::Any };
        object.properties.push(Property {
            name: "changed_resources",
            description: "Always null: there are no invoices.".to_owned(),
            schema: Nothing::schema(),
            is_required: true,
        });
        Schema::Object(Object { name: "MutatedSubscription", ..object })
    }
}

choices! {
    SubscriptionStatus {
        "active" => SubscriptionStatus::Active,
        "ended" => SubscriptionStatus::Ended,
        "upcoming" => SubscriptionStatus::Upcoming,
    }
}

impl MutatedSubscription {
    /// Writes a subscription that was changed, as it stands at `now`.
    pub(crate) fn of(
        subscription: &subscription::Subscription,
        related: &Related,
        now: Timestamp,
    ) -> Self {
        let subscription = Subscription::of(subscription, related, now);
        Self { subscription, changed_resources: Nothing }
    }
}

impl Subscription {
    /// Writes a subscription with what it names, as it stands at `now`.
    pub(crate) fn of(
        subscription: &subscription::Subscription,
        related: &Related,
        now: Timestamp,
    ) -> Self {
        let plan = related.plan(subscription.plan_id);
        let customer = related.customer(subscription.customer_id);
        let period = subscription.periods().containing(now);
        let own = |name: &str| Stored::of(&subscription.carried, name);
        let or_the_plans = |name: &str| match plan {
            Some(plan) => own(name).or(Stored::of(&plan.carried, name)),
            None => own(name),
        };
        Self {
            id: subscription.id.to_string(),
            name: name(subscription, related),
            status: subscription.status(now),
            created_at: subscription.created_at.into(),
            start_date: subscription.start_date.into(),
            end_date: subscription.end_date.map(Moment::from),
            current_billing_period_start_date: period.map(|period| period.start().into()),
            current_billing_period_end_date: period.map(|period| period.end().into()),
            billing_cycle_day: subscription.billing_cycle_day().into(),
            billing_cycle_anchor_configuration: Anchor::of(subscription),
            customer: customer.map(Customer::from),
            plan: plan.map(|plan| Plan::with_version(plan, subscription.plan_version, related)),
            price_intervals: intervals(subscription, related, now),
            fixed_fee_quantity_schedule: schedule(subscription),
            adjustment_intervals: Vec::new(),
            discount_intervals: Vec::new(),
            minimum_intervals: Vec::new(),
            maximum_intervals: Vec::new(),
            auto_collection: own("auto_collection"),
            auto_issuance: own("auto_issuance"),
            default_invoice_memo: or_the_plans("default_invoice_memo"),
            invoicing_threshold: own("invoicing_threshold"),
            net_terms: or_the_plans("net_terms").or(Stored::zero()),
            active_plan_phase_order: Nothing,
            pending_subscription_change: Nothing,
            redeemed_coupon: Nothing,
            trial_info: TrialInfo { end_date: Nothing },
            metadata: subscription.metadata.clone(),
        }
    }
}

/// Returns what people call it: as its plan, where it has no name of its own.
fn name(subscription: &subscription::Subscription, related: &Related) -> String {
    let plan = related.plan(subscription.plan_id).map(|plan| &plan.name);
    subscription.name.as_ref().or(plan).map(ToString::to_string).unwrap_or_default()
}

impl Anchor {
    fn of(subscription: &subscription::Subscription) -> Self {
        let (month, year) = match subscription.anchor {
            BillingAnchor::Day { month, year, .. } => (month.map(u32::from), year.map(u32::from)),
            _ => (None, None),
        };
        Self { day: subscription.billing_cycle_day().into(), month, year }
    }
}
