//! Changes of subscriptions that wait to be applied, on the wire (subscriptions 4.5, 4.6).

use accrue::{
    ChangedSubscription, CustomerId, Decimal, Description, ExternalId, IdOr, Timestamp, Zone,
    invoice::{PaidElsewhere, Payment},
    related::Related,
    subscription::{self, ChangeStatus, ChangeType, SubscriptionChangeFilter},
};

use crate::{
    links::Links,
    problem::{Problem, Violations},
    shape::{Maybe, Moment, choices, request, response},
    wire::{
        dates::Day,
        pages::{Limit, Sought},
        subscriptions::{
            Alignment, ChangedResources, ChangedWanted, MutatedSubscription, PlanChangeOption,
        },
    },
};

request! {
    /// Filters and page of a list of changes of subscriptions.
    pub(crate) struct SubscriptionChangeListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Customer of the subscriptions.
        customer_id: Option<Sought<CustomerId>>,
        /// External id of the customer: nothing is found where it is another customer's.
        external_customer_id: Option<ExternalId>,
        /// Status of the changes now.
        status: Option<ChangeStatus>,
    }

    /// What was paid elsewhere for a change that is applied.
    pub(crate) struct ApplyChange {
        /// Amount that was collected, zero or more: it goes to the balance of the customer, less what is marked as paid by it.
        previously_collected_amount: Option<Decimal>,
        /// True if the invoices of fees in advance that the change makes are paid: the balance of the customer does not pay
        /// for them.
        mark_as_paid: Option<bool>,
        /// Description of the transaction of the balance.
        description: Option<Description>,
        /// Day on which the money came, today unless given: with `mark_as_paid`.
        payment_received_date: Option<Day>,
        /// The caller's own id for the payment: with `mark_as_paid`.
        payment_external_id: Option<String>,
        /// Notes in the caller's own words: with `mark_as_paid`.
        payment_notes: Option<String>,
    }
}

response! {
    /// A change of a subscription, with the subscription as it leaves that.
    pub(crate) struct SubscriptionChange {
        /// Its id.
        id: String,
        /// Its status.
        status: ChangeStatus,
        /// Type: what it does.
        change_type: ChangeType,
        /// First instant at which it can be applied no longer.
        expiration_time: Moment,
        /// Instant at which it was applied.
        applied_at: Option<Moment>,
        /// Instant at which it was cancelled, or has expired.
        cancelled_at: Option<Moment>,
        /// Instant from which the subscription is another: as it was staged, and once it is applied, as it was applied.
        effective_date: Option<Moment>,
        /// Subscription: as the change would leave it while that waits, and else as it is; null where there is none.
        subscription: Option<MutatedSubscription>,
        /// Plan of a subscription that it creates, or that it changes to.
        plan_id: Option<String>,
        /// Option that decides when a plan changes; null for other changes.
        change_option: Option<PlanChangeOption>,
        /// Option that decides where billing periods begin after a change of plan; null for other changes, and where
        /// they begin on a day that was given.
        billing_cycle_alignment: Option<Alignment>,
    }

    /// A change of a subscription without the subscription.
    pub(crate) struct SubscriptionChangeSummary {
        /// Its id.
        id: String,
        /// Its status.
        status: ChangeStatus,
        /// First instant at which it can be applied no longer.
        expiration_time: Moment,
        /// Instant at which it was applied.
        applied_at: Option<Moment>,
        /// Instant at which it was cancelled, or has expired.
        cancelled_at: Option<Moment>,
        /// Subscription that it changes, or has created; null where it has created none.
        subscription_id: Option<String>,
    }
}

choices! {
    ChangeStatus {
        "pending" => ChangeStatus::Pending,
        "applied" => ChangeStatus::Applied,
        "cancelled" => ChangeStatus::Cancelled,
    }
    ChangeType {
        "create_subscription" => ChangeType::CreateSubscription,
        "update_fixed_fee_quantity" => ChangeType::UpdateFixedFeeQuantity,
        "add_edit_price_intervals" => ChangeType::AddEditPriceIntervals,
        "schedule_plan_change" => ChangeType::SchedulePlanChange,
        "trigger_phase" => ChangeType::TriggerPhase,
        "update_trial" => ChangeType::UpdateTrial,
    }
}

impl SubscriptionChangeListQuery {
    /// Makes the filter; none where nothing can pass it.
    pub(crate) fn filter(&self) -> Option<SubscriptionChangeFilter> {
        let mut filter = SubscriptionChangeFilter { status: self.status, ..Default::default() };
        match self.customer_id {
            Some(Sought(Some(id))) => filter.customers.push(IdOr::Id(id)),
            Some(Sought(None)) => return None,
            None => {}
        }
        filter.customers.extend(self.external_customer_id.clone().map(IdOr::External));
        Some(filter)
    }
}

impl ApplyChange {
    /// Reads the body: an empty one says nothing. What belongs to a payment that is not marked would be lost.
    pub(crate) fn of(body: Maybe<Self>) -> Result<Self, Problem> {
        let body = match body {
            Maybe::Value(body) => body,
            Maybe::Absent | Maybe::Null => Self {
                previously_collected_amount: None,
                mark_as_paid: None,
                description: None,
                payment_received_date: None,
                payment_external_id: None,
                payment_notes: None,
            },
        };
        let mut violations = Violations::default();
        let of_payment = [
            ("/payment_received_date", body.payment_received_date.is_some()),
            ("/payment_external_id", body.payment_external_id.is_some()),
            ("/payment_notes", body.payment_notes.is_some()),
        ];
        for (pointer, _) in of_payment.iter().filter(|(_, is_given)| *is_given && !body.is_paid()) {
            violations.push(*pointer, "belongs to mark_as_paid true");
        }
        if violations.is_empty() { Ok(body) } else { Err(violations.into()) }
    }

    pub(crate) fn is_paid(&self) -> bool {
        self.mark_as_paid == Some(true)
    }

    /// Says what was paid, on a day of a zone.
    pub(crate) fn into_payment(
        self,
        zone: &Zone,
        now: Timestamp,
    ) -> Result<PaidElsewhere, Problem> {
        let is_paid = self.is_paid();
        let received_at = match self.payment_received_date {
            Some(day) => day.in_zone(zone, "/payment_received_date")?.start(),
            None => zone.begin_of_day_of(now),
        };
        let mut payment = Payment::new(received_at);
        (payment.external_id, payment.notes) = (self.payment_external_id, self.payment_notes);
        Ok(PaidElsewhere {
            collected: self.previously_collected_amount,
            paid: is_paid.then_some(payment),
            description: self.description,
        })
    }
}

impl SubscriptionChange {
    pub(crate) fn of(
        of: &ChangedSubscription,
        related: &Related,
        links: &Links,
        now: Timestamp,
    ) -> Self {
        let change = &of.change;
        let status = change.status(now);
        let subscription = of.subscription.as_ref().map(|subscription| {
            let wanted = ChangedWanted::All;
            let changed = ChangedResources::of(&of.resources, wanted, related, links);
            let shown = MutatedSubscription::with_changed(subscription, changed, related, now);
            if status == ChangeStatus::Pending { shown.pending(change.id) } else { shown }
        });
        Self {
            id: change.id.to_string(),
            status,
            change_type: change.change_type,
            expiration_time: change.expiration_time.into(),
            applied_at: change.applied_at().map(Moment::from),
            cancelled_at: change.cancelled_at(now).map(Moment::from),
            effective_date: Some(change.effective_date.into()),
            subscription,
            plan_id: change.plan_id.map(|id| id.to_string()),
            change_option: change.plan_change.map(|(when, _)| PlanChangeOption::of(when)),
            billing_cycle_alignment: change.plan_change.and_then(|(_, of)| Alignment::of(of)),
        }
    }
}

impl SubscriptionChangeSummary {
    pub(crate) fn of(change: &subscription::SubscriptionChange, now: Timestamp) -> Self {
        let is_there = !change.creates() || change.applied_at().is_some();
        Self {
            id: change.id.to_string(),
            status: change.status(now),
            expiration_time: change.expiration_time.into(),
            applied_at: change.applied_at().map(Moment::from),
            cancelled_at: change.cancelled_at(now).map(Moment::from),
            subscription_id: is_there.then(|| change.subscription_id.to_string()),
        }
    }
}
