use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    BillingCycleAlignment, FeeQuantityChange, IntervalChanges, NewSubscription, PlanChange,
    PlanChangeTiming, Subscription, TrialUpdate,
};
use crate::{
    CreditNoteId, Currency, CustomerId, Error, IdOr, InvoiceId, PlanId, SubscriptionChangeId,
    SubscriptionId, Timestamp, page::InstantRange,
};

/// Change of a subscription that waits until it is applied, or has waited (subscriptions 4).
///
/// What is kept is the request and not what it comes to: that is decided anew when it is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionChange {
    /// Its id.
    pub id: SubscriptionChangeId,
    /// Type: what it does.
    pub change_type: ChangeType,
    /// Subscription that it changes; of one that it creates, the id that this will have.
    pub subscription_id: SubscriptionId,
    /// Customer of the subscription.
    pub customer_id: CustomerId,
    /// Instant at which it was staged.
    pub created_at: Timestamp,
    /// First instant at which it can be applied no longer.
    pub expiration_time: Timestamp,
    /// Instant from which the subscription is another: as it was staged, and once it is applied, as it was applied.
    pub effective_date: Timestamp,
    /// Currency that the subscription is invoiced in.
    pub currency: Currency,
    /// Plan of a subscription that it creates, or that it changes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// When a plan is to change, and where billing periods begin then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_change: Option<(PlanChangeTiming, BillingCycleAlignment)>,
    /// What became of it; none while it waits, also where it has expired and nobody has written that yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<ChangeEnd>,
    /// Number of rows that its request is in, while it waits.
    pub(crate) parts: u16,
}

/// Type of a change of a subscription (subscriptions 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeType {
    /// A subscription is created.
    CreateSubscription,
    /// The quantity of a fee changes.
    UpdateFixedFeeQuantity,
    /// Price or adjustment intervals are added, or edited.
    AddEditPriceIntervals,
    /// The plan changes.
    SchedulePlanChange,
    /// The next phase of the plan begins.
    TriggerPhase,
    /// The end of the trial moves.
    UpdateTrial,
}

/// Status of a change of a subscription (subscriptions 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStatus {
    /// Waiting to be applied.
    Pending,
    /// Applied.
    Applied,
    /// Cancelled, or expired.
    Cancelled,
}

/// Filter of a list of changes of subscriptions (subscriptions 4.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionChangeFilter {
    /// Instants of their staging.
    pub created: InstantRange,
    /// Customer, by all names that are given: nobody where these are several customers'.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Status that they have now.
    pub status: Option<ChangeStatus>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeEnd {
    Applied { at: Timestamp, made: MadeByChange },
    Cancelled { at: Timestamp },
}

/// Invoices and credit notes that a change made, or made void.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeByChange {
    pub(crate) created_invoices: Vec<InvoiceId>,
    pub(crate) voided_invoices: Vec<InvoiceId>,
    pub(crate) created_credit_notes: Vec<CreditNoteId>,
    pub(crate) voided_credit_notes: Vec<CreditNoteId>,
}

/// Mark of a subscription that a change of it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingChange {
    pub(crate) id: SubscriptionChangeId,
    pub(crate) expiration_time: Timestamp,
}

/// Operation that can wait, with what it is given: by its name, as requests are written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeRequest {
    CreateSubscription(Box<NewSubscription>),
    UpdateFixedFeeQuantity(SubscriptionId, FeeQuantityChange),
    ChangeIntervals(SubscriptionId, IntervalChanges),
    SchedulePlanChange(SubscriptionId, Box<PlanChange>),
    TriggerPhase(SubscriptionId, Option<Timestamp>),
    UpdateTrial(SubscriptionId, TrialUpdate),
    /// Refused where it would make issued invoices void, or credit them.
    LeavingInvoices(Box<Self>),
}

impl ChangeRequest {
    /// Returns the subscription that it changes; none where it creates one.
    pub(crate) fn subscription_id(&self) -> Option<SubscriptionId> {
        match self {
            Self::CreateSubscription(_) => None,
            Self::UpdateFixedFeeQuantity(id, _)
            | Self::ChangeIntervals(id, _)
            | Self::SchedulePlanChange(id, _)
            | Self::TriggerPhase(id, _)
            | Self::UpdateTrial(id, _) => Some(*id),
            Self::LeavingInvoices(of) => of.subscription_id(),
        }
    }

    /// Returns the change of plan that it is.
    fn plan_change(&self) -> Option<&PlanChange> {
        match self {
            Self::SchedulePlanChange(_, change) => Some(change),
            Self::LeavingInvoices(of) => of.plan_change(),
            Self::CreateSubscription(_)
            | Self::UpdateFixedFeeQuantity(..)
            | Self::ChangeIntervals(..)
            | Self::TriggerPhase(..)
            | Self::UpdateTrial(..) => None,
        }
    }

    fn change_type(&self) -> ChangeType {
        match self {
            Self::CreateSubscription(_) => ChangeType::CreateSubscription,
            Self::UpdateFixedFeeQuantity(..) => ChangeType::UpdateFixedFeeQuantity,
            Self::ChangeIntervals(..) => ChangeType::AddEditPriceIntervals,
            Self::SchedulePlanChange(..) => ChangeType::SchedulePlanChange,
            Self::TriggerPhase(..) => ChangeType::TriggerPhase,
            Self::UpdateTrial(..) => ChangeType::UpdateTrial,
            Self::LeavingInvoices(of) => of.change_type(),
        }
    }
}

/// Returns the instant from which a change makes a subscription another: where nothing changes, the present one.
pub(crate) fn effective_date(
    before: Option<&Subscription>,
    after: &Subscription,
    now: Timestamp,
) -> Timestamp {
    match before {
        None => after.start_date,
        Some(before) => after.terms_differ_since(before).unwrap_or(now),
    }
}

impl SubscriptionChange {
    /// Makes one that waits, of a subscription as it was and as it would be.
    pub(crate) fn stage(
        id: SubscriptionChangeId,
        request: &ChangeRequest,
        (before, after): (Option<&Subscription>, &Subscription),
        hours: u32,
        now: Timestamp,
    ) -> Self {
        let next_plan = request.plan_change().and(after.plans().last().and_then(|of| of.plan_id));
        let lifetime = Duration::from_secs(u64::from(hours).saturating_mul(60 * 60));
        Self {
            id,
            change_type: request.change_type(),
            subscription_id: after.id,
            customer_id: after.customer_id,
            created_at: now,
            expiration_time: now.saturating_add(lifetime),
            effective_date: effective_date(before, after, now),
            currency: after.currency,
            plan_id: after.plan_id.filter(|_| before.is_none()).or(next_plan),
            plan_change: request.plan_change().map(|of| (of.when, of.alignment)),
            end: None,
            parts: 0,
        }
    }

    /// Returns its status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> ChangeStatus {
        match &self.end {
            Some(ChangeEnd::Applied { .. }) => ChangeStatus::Applied,
            Some(ChangeEnd::Cancelled { .. }) => ChangeStatus::Cancelled,
            None if self.expiration_time <= now => ChangeStatus::Cancelled,
            None => ChangeStatus::Pending,
        }
    }

    /// Returns the instant at which it was applied.
    #[must_use]
    pub const fn applied_at(&self) -> Option<Timestamp> {
        match &self.end {
            Some(ChangeEnd::Applied { at, .. }) => Some(*at),
            Some(ChangeEnd::Cancelled { .. }) | None => None,
        }
    }

    /// Returns the instant at which it was cancelled, or has expired by `now`.
    #[must_use]
    pub fn cancelled_at(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.end {
            Some(ChangeEnd::Cancelled { at }) => Some(*at),
            Some(ChangeEnd::Applied { .. }) => None,
            None => Some(self.expiration_time).filter(|at| *at <= now),
        }
    }

    /// Tells whether its subscription exists by it alone: it is yet to create it, or did.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.change_type == ChangeType::CreateSubscription
    }

    /// Returns the status that was written last.
    pub(crate) fn status_written(&self) -> ChangeStatus {
        self.status(Timestamp::MIN)
    }

    /// Refuses to end what has ended (subscriptions 4.2).
    pub(crate) fn check_pending(&self, now: Timestamp) -> Result<(), Error> {
        let detail = match (self.applied_at(), self.cancelled_at(now)) {
            (Some(at), _) => format!("the change was applied at {at}"),
            (_, Some(at)) => format!("the change was cancelled at {at}"),
            (None, None) => return Ok(()),
        };
        Err(Error::constraint(detail))
    }

    /// Returns the mark of its subscription.
    pub(crate) const fn mark(&self) -> PendingChange {
        PendingChange { id: self.id, expiration_time: self.expiration_time }
    }
}

impl ChangeStatus {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Applied => "applied",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Subscription {
    /// Returns the change of it that waits to be applied, where there is one (subscriptions 4.3): until it is applied
    /// or cancelled, or has expired, every other change is refused.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, Timestamp, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::NewSubscription};
    /// use accrue::subscription::FeeQuantityChange;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let seats = account.fetch_plan_version(plan.id, plan.version).await?.prices[0].id;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
    /// let three = FeeQuantityChange::immediate(seats, Decimal::from(3));
    /// let (_, change) = account.update_fixed_fee_quantity(pro.id, three).staged().await?;
    /// let pro = account.fetch_subscription(pro.id).await?;
    /// assert_eq!(pro.pending_change(account.billing().now()), Some(change.id));
    /// assert_eq!(pro.pending_change(change.expiration_time), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn pending_change(&self, now: Timestamp) -> Option<SubscriptionChangeId> {
        let pending = self.pending_change.filter(|of| now < of.expiration_time);
        pending.map(|of| of.id)
    }

    /// Refuses another change while one waits (subscriptions 4.3).
    pub(crate) fn check_no_pending_change(&self, now: Timestamp) -> Result<(), Error> {
        match self.pending_change(now) {
            Some(id) => {
                Err(Error::constraint(format!("the change {id} of the subscription is pending")))
            }
            None => Ok(()),
        }
    }
}
