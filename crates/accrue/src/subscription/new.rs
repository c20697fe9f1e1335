use serde::{Deserialize, Serialize};

use super::{AdjustmentChanges, BillingAnchor, Cut, PriceChanges, Subscription, Terms};
use crate::{
    Carried, Currency, CustomerId, Error, IdOr, Metadata, Name, PlanId, RedemptionCode,
    SubscriptionId, Timestamp,
    customer::Customer,
    expression::Expression,
    metadata,
    meter::UsageCustomers,
    plan::{PhaseOrder, PlanVersion},
};

/// Subscription to create (wire 5.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSubscription {
    /// Customer that subscribes.
    pub customer: IdOr<CustomerId>,
    /// Plan that it is on; `None` for a [contract](Self::contract).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<IdOr<PlanId>>,
    /// Version of the plan that it is on; its default version where none is given.
    pub plan_version: Option<PlanVersion>,
    /// Currency that it is invoiced in: the plan's, where it is on one.
    pub currency: Option<Currency>,
    /// Its name.
    pub name: Option<Name>,
    /// Its first instant, also in the past; the start of the current day in the customer's zone where none is given.
    pub start_date: Option<Timestamp>,
    /// First instant after it.
    pub end_date: Option<Timestamp>,
    /// Day on which its billing cycles begin.
    pub anchor: BillingAnchor,
    /// Changes to the prices of the version, for it alone.
    #[serde(default, skip_serializing_if = "PriceChanges::is_empty")]
    pub prices: PriceChanges,
    /// Changes to the adjustments of the version, for it alone.
    #[serde(default, skip_serializing_if = "AdjustmentChanges::is_empty")]
    pub adjustments: AdjustmentChanges,
    /// Phase of the plan that it begins with: the first one where none is given (subscriptions 1.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_phase: Option<PhaseOrder>,
    /// Number of days of its trial: as the plan says where none is given, and no trial where it is 0 (subscriptions
    /// 1.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_days: Option<u32>,
    /// Condition on the events that count for its prices, beside those of their metrics (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts for its prices: the subscriber, where none are given (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// Code of a coupon that it redeems with its start (invoicing 11.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupon_redemption_code: Option<RedemptionCode>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    pub carried: Carried,
}

impl NewSubscription {
    /// Prepares a subscription that begins with the current day of the customer, and whose billing cycles begin on the first of a month.
    pub fn new(customer: impl Into<IdOr<CustomerId>>, plan: impl Into<IdOr<PlanId>>) -> Self {
        Self::on(customer.into(), Some(plan.into()))
    }

    /// Prepares a subscription to a plan, or a contract where there is none.
    #[must_use]
    pub fn on(customer: IdOr<CustomerId>, plan: Option<IdOr<PlanId>>) -> Self {
        Self {
            customer,
            plan,
            plan_version: None,
            currency: None,
            name: None,
            start_date: None,
            end_date: None,
            anchor: BillingAnchor::FirstOfMonth,
            prices: PriceChanges::default(),
            adjustments: AdjustmentChanges::default(),
            initial_phase: None,
            trial_days: None,
            filter: None,
            usage_customers: None,
            coupon_redemption_code: None,
            metadata: Metadata::new(),
            carried: Carried::NONE,
        }
    }

    /// Says everything that is wrong with it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        metadata::check(&self.metadata)?;
        self.anchor.check()?;
        self.check_contract()?;
        self.prices.check()
    }

    pub(crate) fn decide(
        self,
        id: SubscriptionId,
        customer: &Customer,
        terms: Terms<'_>,
        now: Timestamp,
    ) -> Result<Subscription, Error> {
        let today = || customer.timezone.begin_of_day_of(now);
        let start_date = self.start_date.unwrap_or_else(today);
        if let Some(end) = self.end_date.filter(|end| *end <= start_date) {
            let detail = format!("the end {end} is not after the start {start_date}");
            return Err(Error::constraint(detail));
        }
        let Terms { plan, plan_version, currency, .. } = terms;
        let what = if plan.is_some() { "plan" } else { "contract" };
        for (other, who) in [(customer.currency, "customer"), (self.currency, "subscription")] {
            if let Some(other) = other.filter(|other| *other != currency) {
                let (found, other) = (currency.code(), other.code());
                let detail = format!("the {what} is invoiced in {found}, the {who} in {other}");
                return Err(Error::constraint(detail));
            }
        }
        let cut = Cut { seed: id, plan_version, start_date, anchor: self.anchor, created_at: now };
        let mut subscription = Subscription {
            id,
            customer_id: customer.id,
            plan_id: plan.map(|plan| plan.id),
            plan_version,
            name: self.name,
            start_date,
            end_date: self.end_date,
            timezone: customer.timezone.clone(),
            anchor: self.anchor,
            currency,
            filter: self.filter,
            usage_customers: self.usage_customers,
            anchored_at: None,
            plan_intervals: Vec::new(),
            trial: None,
            price_intervals: Vec::new(),
            adjustment_intervals: Vec::new(),
            metadata: self.metadata,
            carried: self.carried,
            created_at: now,
            waiting: None,
            pending_change: None,
        };
        subscription.without_trial(|of| of.begin(&cut, &terms))?;
        subscription.check_intervals()?;
        if let Some(first) = subscription.plan_intervals.first().cloned() {
            subscription.follow_plan(&first);
        }
        subscription.check_overage_rate()?;
        subscription.check_threshold()?;
        subscription.check_size()?;
        Ok(subscription)
    }
}
