//! Subscriptions on the wire (wire 5.3).

mod adjustments;
mod changed;
mod changes;
mod interval_changes;
mod intervals;
mod lists;
mod new;
mod plan_changes;
mod price_changes;
mod usage;

use accrue::{
    Decimal, Metadata, SubscriptionChangeId, Timestamp,
    related::Related,
    subscription::{self, BillingAnchor, SubscriptionStatus},
};
use serde::Serialize;

use self::{
    adjustments::{
        Adjusted, AdjustmentInterval, DiscountInterval, MaximumInterval, MinimumInterval,
        RedeemedCoupon,
    },
    intervals::{PriceInterval, QuantityEntry, intervals, schedule},
};
pub(crate) use self::{
    changed::{ChangedResources, ChangedWanted},
    changes::{
        Cancel, UnscheduleFixedFeeQuantityUpdates, UpdateFixedFeeQuantity, UpdateSubscription,
    },
    interval_changes::{ChangeIntervals, IntervalDiscountIn},
    lists::{PlanMinified, SubscriptionListQuery, SubscriptionSummary},
    new::{NewSubscription, one_of},
    plan_changes::{
        Alignment, PlanChangeOption, SchedulePlanChange, ScheduleQuery, SubscriptionScheduleItem,
    },
    usage::{SubscriptionUsage, UsageQueryIn},
};
use super::{
    carried::{Stored, flag, text, whole},
    customers::{Customer, auto_collection},
    plans::Plan,
};
use crate::shape::{Describe, Moment, Object, Property, Schema, choices, response};

response! {
    /// A subscription, with its customer, its plan and the prices that it has.
    pub(crate) struct Subscription {
        /// Its id.
        id: String,
        /// Its name: that of its plan where it has none of its own.
        name: String,
        /// Its status.
        status: SubscriptionStatus,
        /// Instant of its creation.
        created_at: Moment,
        /// Its first instant.
        start_date: Moment,
        /// First instant after it; null where no end is known.
        end_date: Option<Moment>,
        /// Start of its current billing period; null where it has none.
        current_billing_period_start_date: Option<Moment>,
        /// End of its current billing period; null where it has none.
        current_billing_period_end_date: Option<Moment>,
        /// Day of the month on which its billing periods begin.
        billing_cycle_day: u32,
        /// Day on which its billing periods begin.
        billing_cycle_anchor_configuration: Anchor,
        /// Customer of the subscription.
        customer: Option<Customer>,
        /// Plan of the subscription, with the prices of its version; null for a contract.
        plan: Option<Plan>,
        /// Its prices.
        price_intervals: Vec<PriceInterval>,
        /// Quantities of its fees, each with its start and its end.
        fixed_fee_quantity_schedule: Vec<QuantityEntry>,
        /// Adjustments of its prices: those of its plan and its own, those of single prices, and coupons.
        adjustment_intervals: Vec<AdjustmentInterval>,
        /// The discounts among them.
        discount_intervals: Vec<DiscountInterval>,
        /// The minimums among them.
        minimum_intervals: Vec<MinimumInterval>,
        /// The maximums among them.
        maximum_intervals: Vec<MaximumInterval>,
        /// True if its invoices are collected without a request: as its customer's where nothing was
        /// said.
        auto_collection: bool,
        /// True if its invoices are issued without approval: as its customer's where nothing was said.
        auto_issuance: Option<bool>,
        /// Memo of its invoices: that of its plan where nothing was said, and empty without one.
        default_invoice_memo: String,
        /// Amount that usage may come to in a billing period before it is invoiced.
        invoicing_threshold: Stored<Decimal>,
        /// Number of days between issue and due date of an invoice: that of its plan where nothing
        /// was said, and 0 without one.
        net_terms: u32,
        /// Number of the phase that it is in; null where it is not active, or its plan has no phases.
        active_plan_phase_order: Option<u32>,
        /// Change of it that waits to be applied: until then every other change is refused.
        pending_subscription_change: Option<PendingSubscriptionChange>,
        /// Coupon that it has redeemed, the last one of several.
        redeemed_coupon: Option<RedeemedCoupon>,
        /// Trial that it, or one of its plans, begins with.
        trial_info: TrialInfo,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// The day on which billing periods begin.
    pub(crate) struct Anchor {
        /// Day of a month.
        day: u32,
        /// Month of a longer period.
        month: Option<u32>,
        /// Year of a longer period.
        year: Option<u32>,
    }

    /// A change of a subscription that waits to be applied.
    pub(crate) struct PendingSubscriptionChange {
        /// Its id.
        id: String,
    }

    /// The trial of a subscription.
    pub(crate) struct TrialInfo {
        /// End of the trial, also where that has passed; null where there was none.
        end_date: Option<Moment>,
    }
}

/// A subscription that was changed, with the other resources that changed where they were asked for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MutatedSubscription {
    #[serde(flatten)]
    subscription: Subscription,
    changed_resources: Option<ChangedResources>,
}

impl Describe for MutatedSubscription {
    fn schema() -> Schema {
        let Schema::Object(mut object) = Subscription::schema() else { return Schema::Any };
        object.properties.push(Property {
            name: "changed_resources",
            description:
                "Invoices and credit notes that were made, or made void: null without the header \
                          `Include-Changed-Resources`, unless the change waits."
                    .to_owned(),
            schema: Option::<ChangedResources>::schema(),
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
        Self { subscription, changed_resources: None }
    }

    /// Writes it with the invoices and credit notes that the change made, or made void.
    pub(crate) fn with_changed(
        subscription: &subscription::Subscription,
        changed: ChangedResources,
        related: &Related,
        now: Timestamp,
    ) -> Self {
        let subscription = Subscription::of(subscription, related, now);
        Self { subscription, changed_resources: Some(changed) }
    }

    /// Shows that it is the subscription as a change would leave it that waits.
    pub(crate) fn pending(mut self, id: SubscriptionChangeId) -> Self {
        self.subscription.pending_subscription_change = Some(id.into());
        self
    }
}

impl From<SubscriptionChangeId> for PendingSubscriptionChange {
    fn from(id: SubscriptionChangeId) -> Self {
        Self { id: id.to_string() }
    }
}

impl Subscription {
    /// Writes a subscription, with the resources that it names, as it stands at `now`.
    pub(crate) fn of(
        subscription: &subscription::Subscription,
        related: &Related,
        now: Timestamp,
    ) -> Self {
        let subscription = &subscription.as_of(now);
        let plan = subscription.plan_id.and_then(|id| related.plan(id));
        let customer = related.customer(subscription.customer_id);
        let period = subscription.periods().containing(now);
        let own = &subscription.carried;
        let the_plans = plan.map(|plan| &plan.carried);
        let phase = subscription.active_phase(now);
        let adjusted = Adjusted::of(subscription, related);
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
            customer: customer.map(|of| Customer::of(of, related)),
            plan: plan.map(|plan| Plan::with_version(plan, subscription.plan_version, related)),
            price_intervals: intervals(subscription, related, now),
            fixed_fee_quantity_schedule: schedule(subscription),
            adjustment_intervals: adjusted.all,
            discount_intervals: adjusted.discounts,
            minimum_intervals: adjusted.minimums,
            maximum_intervals: adjusted.maximums,
            auto_collection: flag(own, "auto_collection")
                .unwrap_or_else(|| customer.is_some_and(auto_collection)),
            auto_issuance: flag(own, "auto_issuance")
                .or_else(|| flag(&customer?.carried, "auto_issuance")),
            default_invoice_memo: text(own, "default_invoice_memo")
                .or_else(|| text(the_plans?, "default_invoice_memo"))
                .unwrap_or_default(),
            invoicing_threshold: Stored::of(own, "invoicing_threshold"),
            net_terms: whole(own, "net_terms")
                .or_else(|| whole(the_plans?, "net_terms"))
                .unwrap_or_default(),
            active_plan_phase_order: phase.map(|phase| phase.order.number()),
            pending_subscription_change: subscription.pending_change(now).map(Into::into),
            redeemed_coupon: subscription.redeemed_coupon().map(RedeemedCoupon::from),
            trial_info: TrialInfo { end_date: subscription.trial_end().map(Into::into) },
            metadata: subscription.metadata.clone(),
        }
    }
}

/// Returns its name: that of its plan where it has none of its own.
fn name(subscription: &subscription::Subscription, related: &Related) -> String {
    let plan = subscription.plan_id.and_then(|id| related.plan(id));
    subscription
        .name
        .as_ref()
        .or(plan.map(|plan| &plan.name))
        .map(ToString::to_string)
        .unwrap_or_default()
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
