//! Subscriptions: a customer on a version of a plan, or on prices of a contract, from an instant on, in billing periods.

mod adjustment;
mod adjustment_changes;
mod anchor;
mod cancel;
mod contract;
mod differences;
mod entry;
mod fee_quantity;
mod filter;
mod given;
mod in_force;
mod interval;
mod interval_changes;
mod interval_edits;
mod invoicing;
mod migration;
mod moves_back;
mod new;
mod overage;
mod pending;
mod period;
mod phases;
mod plan_change;
mod plan_interval;
mod price_changes;
mod price_override;
mod refilled;
#[cfg(test)]
pub(crate) mod sample;
mod sources;
mod terms;
#[cfg(test)]
mod tests;
mod threshold;
mod trial;
mod trial_update;
mod update;

use serde::{Deserialize, Serialize};

use self::trial::Tried;

pub use self::{
    adjustment::{AdjustmentInterval, RedeemedCoupon},
    adjustment_changes::{AddedAdjustment, AdjustmentChanges},
    anchor::BillingAnchor,
    cancel::Cancellation,
    fee_quantity::{ChangeTiming, FeeQuantityChange, FeeStretch},
    filter::SubscriptionFilter,
    interval::PriceInterval,
    interval_changes::{
        AdjustmentIntervalEdit, IntervalAdjustment, IntervalChanges, IntervalDate,
        NewAdjustmentInterval, NewPriceInterval, PriceIntervalEdit,
    },
    migration::VersionMoved,
    new::NewSubscription,
    pending::{ChangeStatus, ChangeType, SubscriptionChange, SubscriptionChangeFilter},
    period::{BillingPeriods, Days},
    plan_change::{BillingCycleAlignment, PlanChange, PlanChangeTiming},
    plan_interval::{PlanInterval, PlanStretch},
    price_changes::{AddedPrice, PriceChanges, ReplacedPrice, Replacement},
    price_override::PriceOverride,
    trial::Trial,
    trial_update::{TrialEnd, TrialUpdate},
    update::SubscriptionUpdate,
};
pub(crate) use self::{
    cancel::unscheduled_end,
    entry::{Notified, SubscriptionEntry},
    given::Given,
    in_force::{InForce, Lane},
    interval::Cut,
    invoicing::{Draft, Invoicing, InvoicingStep},
    migration::{Replaced, VersionMove},
    pending::{ChangeEnd, ChangeRequest, MadeByChange, PendingChange, effective_date},
    period::PeriodKey,
    plan_change::NextPlan,
    price_changes::{AgreedPrice, AgreedPrices},
    refilled::Refilled,
    terms::Terms,
    threshold::{Reached, Threshold},
    trial::Waiting,
    update::previous_attributes,
};
pub use crate::meter::UsageCustomers;
use crate::{
    Carried, Currency, CustomerId, Error, Metadata, Name, PlanId, SubscriptionId, Timeframe,
    Timestamp, Zone, expression::Expression, limits, plan::PlanVersion, price::Cycle,
    time::INSTANT,
};

/// Subscription: a customer on a version of a plan, from an instant on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Customer that subscribed.
    pub customer_id: CustomerId,
    /// Plan that it is on; `None` for a contract, which has prices of its own alone (subscriptions 1.9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// Version of the plan that it is on: the first one of a contract.
    pub plan_version: PlanVersion,
    /// Its name.
    pub name: Option<Name>,
    /// Its first instant.
    pub start_date: Timestamp,
    /// First instant after it; `None` where no end is known.
    pub end_date: Option<Timestamp>,
    /// Time zone of its customer, which never changes.
    pub timezone: Zone,
    /// Day on which its billing cycles begin.
    pub anchor: BillingAnchor,
    /// Instant that this day is counted from, where it is not the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchored_at: Option<Timestamp>,
    /// Currency that it is invoiced in: its plan's, where it is on one.
    pub currency: Currency,
    /// Condition on the events that count for its prices, where these have no other (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts for its prices, where these have no others: the subscriber where there are none
    /// (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// Plans that it is on, one after the other; none where it has always been on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_intervals: Vec<PlanInterval>,
    /// Trial that it begins with, or that one of its plans does: one in its life (subscriptions 1.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// Prices that it is charged, each while it is in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub price_intervals: Vec<PriceInterval>,
    /// Adjustments of those amounts, each while it is in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustment_intervals: Vec<AdjustmentInterval>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// What would begin and end within the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<Box<Waiting>>,
    /// Change that waits to be applied, also where it has expired since and nobody has written that yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending_change: Option<PendingChange>,
}

impl Subscription {
    /// Tells whether usage at `instant` is its own: start <= instant < end.
    #[must_use]
    pub fn covers(&self, instant: Timestamp) -> bool {
        self.start_date <= instant && self.end_date.is_none_or(|end| instant < end)
    }

    /// Returns its status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> SubscriptionStatus {
        if self.end_date.is_some_and(|end| end <= now) {
            SubscriptionStatus::Ended
        } else if now < self.start_date {
            SubscriptionStatus::Upcoming
        } else {
            SubscriptionStatus::Active
        }
    }

    /// Returns its billing periods.
    #[must_use]
    pub fn periods(&self) -> BillingPeriods {
        self.periods_by_plan(|cadences| Cycle::shortest(cadences))
    }

    /// Returns its terms: the periods of the longest cadence of its prices (subscriptions 0.2).
    #[must_use]
    pub fn terms(&self) -> BillingPeriods {
        self.periods_by_plan(|cadences| Cycle::longest(cadences))
    }

    /// Returns the periods of a price of another cycle than its own.
    #[must_use]
    pub fn periods_of(&self, cycle: Cycle) -> BillingPeriods {
        self.periods_by_plan(|_| cycle)
    }

    /// Returns the periods of one of its intervals: those of its cadence while it is in force, and the
    /// billing periods where it is charged once.
    #[must_use]
    pub fn periods_of_interval(&self, interval: &PriceInterval) -> BillingPeriods {
        self.grid_of(interval).within(interval.start_date, interval.end_date)
    }

    /// Returns the last period of one of its intervals where that ends within a cycle and its billing waits, and the
    /// end of the cycle: the subscription's own, where that comes first (subscriptions 2.6).
    pub(crate) fn deferred(&self, interval: &PriceInterval) -> Option<(Timeframe, Timestamp)> {
        let end = interval.end_date.filter(|_| interval.can_defer_billing)?;
        let last = end.saturating_sub(INSTANT);
        let due = self.grid_of(interval).containing(last)?.end();
        let period = self.periods_of_interval(interval).containing(last)?;
        (end < due).then_some((period, due))
    }

    /// Returns the periods of one of its intervals over the whole life of the subscription.
    fn grid_of(&self, interval: &PriceInterval) -> BillingPeriods {
        let (cycle, anchor) = match interval.cadence.cycle() {
            _ if interval.is_trial() => {
                let start = self.tried().map_or(interval.start_date, |of| of.start);
                (Tried::CYCLE, (Tried::ANCHOR, start))
            }
            Some(cycle) => (cycle, (interval.anchor, self.plan_anchored_at(interval.start_date))),
            None => return self.periods(),
        };
        let (zone, life) = (self.timezone.clone(), (self.start_date, self.end_date));
        BillingPeriods::anchored(cycle, anchor, zone, life)
    }

    /// Returns the day of a month on which its billing cycles begin, in its zone, 1 to 31: the last
    /// one of a month that is shorter.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, Timestamp, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan};
    /// use accrue::subscription::{BillingAnchor, NewSubscription};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let mut pro = NewSubscription::new(ada.id, plan.id);
    /// pro.start_date = Some(Timestamp::parse("2026-03-31T09:00:00Z")?);
    /// pro.anchor = BillingAnchor::SubscriptionStart;
    /// let pro = account.create_subscription(pro).await?;
    /// assert_eq!(pro.billing_cycle_day(), 31);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn billing_cycle_day(&self) -> u8 {
        self.day_of(self.anchor, self.anchored_at.unwrap_or(self.start_date))
    }

    /// Returns the day of a month on which the periods of an interval begin, from 1 to 31.
    #[must_use]
    pub fn billing_cycle_day_of(&self, interval: &PriceInterval) -> u8 {
        self.day_of(interval.anchor, self.plan_anchored_at(interval.start_date))
    }

    /// Returns the day of an anchor that is counted from an instant.
    fn day_of(&self, anchor: BillingAnchor, from: Timestamp) -> u8 {
        match anchor {
            BillingAnchor::FirstOfMonth => 1,
            BillingAnchor::Day { day, .. } => day,
            BillingAnchor::SubscriptionStart => {
                let day = self.timezone.civil(from.to_jiff()).day();
                u8::try_from(day).unwrap_or(1)
            }
        }
    }

    /// Refuses one that is too large, its intervals aside: its alerts lie in the same row, and must
    /// find room.
    pub(crate) fn check_size(&self) -> Result<(), Error> {
        let (price_intervals, adjustment_intervals) = (Vec::new(), Vec::new());
        let alone = Self { price_intervals, adjustment_intervals, ..self.clone() };
        let text =
            serde_json::to_string(&alone).map_err(|error| Error::corrupt(error.to_string()))?;
        if text.len() > limits::SUBSCRIPTION_BYTES {
            let (bytes, most) = (text.len(), limits::SUBSCRIPTION_BYTES);
            let detail =
                format!("the subscription would have {bytes} bytes, expected at most {most}");
            return Err(Error::too_large(detail));
        }
        Ok(())
    }
}

/// Status of a subscription (wire 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SubscriptionStatus {
    /// Subscription that has begun and has not ended.
    Active,
    /// Subscription that has ended.
    Ended,
    /// Subscription that has not begun.
    Upcoming,
}
