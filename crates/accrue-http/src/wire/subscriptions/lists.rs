use accrue::{
    CustomerId, ExternalId, IdOr, Metadata, PlanId, Timestamp,
    related::Related,
    subscription::{Subscription, SubscriptionFilter, SubscriptionStatus},
};

use super::name;
use crate::{
    problem::{Problem, Violations},
    shape::{Moment, Whole, request, response},
    wire::{
        customers::CustomerMinified,
        pages::{Sought, range},
    },
};

request! {
    /// Which page of the subscriptions, and which of them.
    pub(crate) struct SubscriptionListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Of a customer.
        customer_id: Option<Sought<CustomerId>>,
        /// Of one of several customers.
        "customer_id[]" customer_ids: Option<Vec<Sought<CustomerId>>>,
        /// Of a customer, by the caller's alias.
        external_customer_id: Option<ExternalId>,
        /// Of one of several customers, by the caller's aliases.
        "external_customer_id[]" external_customer_ids: Option<Vec<ExternalId>>,
        /// Of a plan.
        plan_id: Option<Sought<PlanId>>,
        /// Of a plan, by the caller's alias.
        external_plan_id: Option<ExternalId>,
        /// Where they stand now.
        status: Option<SubscriptionStatus>,
        /// Where they stand now: one of several.
        "status[]" statuses: Option<Vec<SubscriptionStatus>>,
        /// Created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Moment>,
        /// Created later.
        "created_at[gt]" created_at_gt: Option<Moment>,
        /// Created earlier.
        "created_at[lt]" created_at_lt: Option<Moment>,
        /// Created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Moment>,
    }
}

response! {
    /// A subscription without its prices and its billing periods.
    pub(crate) struct SubscriptionSummary {
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
        /// Who subscribed.
        customer: CustomerMinified,
        /// To what.
        plan: PlanMinified,
        /// Texts of the caller's own.
        metadata: Metadata,
    }

    /// A plan by its names.
    pub(crate) struct PlanMinified {
        /// Its id.
        id: String,
        /// The caller's alias for the id.
        external_plan_id: Option<ExternalId>,
        /// What people call it.
        name: Option<String>,
    }
}

impl SubscriptionListQuery {
    /// Returns what is asked for; `None` where there can be no such subscription.
    pub(crate) fn filter(&self) -> Result<Option<SubscriptionFilter>, Problem> {
        let plan = match (self.plan_id, self.external_plan_id.clone()) {
            (Some(_), Some(_)) => {
                let message = "is there beside plan_id, expected one of the two";
                return Err(Violations::one("/external_plan_id", message).into());
            }
            (Some(Sought(None)), None) => return Ok(None),
            (Some(Sought(Some(id))), None) => Some(IdOr::Id(id)),
            (None, external) => external.map(IdOr::External),
        };
        let ids = self.customer_id.iter().chain(self.customer_ids.iter().flatten());
        let is_by_customer = ids.clone().next().is_some();
        let ids = ids.filter_map(|Sought(id)| id.map(IdOr::Id));
        let external = self.external_customer_id.iter();
        let external = external.chain(self.external_customer_ids.iter().flatten());
        let external = external.cloned().map(IdOr::External);
        let customers: Vec<_> = ids.chain(external).collect();
        if is_by_customer && customers.is_empty() {
            return Ok(None);
        }
        let statuses = self.status.iter().chain(self.statuses.iter().flatten());
        Ok(Some(SubscriptionFilter {
            created: range(
                self.created_at_gte,
                self.created_at_gt,
                self.created_at_lt,
                self.created_at_lte,
            ),
            customers,
            plan,
            statuses: statuses.copied().collect(),
        }))
    }
}

impl SubscriptionSummary {
    pub(crate) fn of(subscription: &Subscription, related: &Related, now: Timestamp) -> Self {
        let plan = related.plan(subscription.plan_id);
        let customer_id = subscription.customer_id;
        Self {
            id: subscription.id.to_string(),
            name: name(subscription, related),
            status: subscription.status(now),
            created_at: subscription.created_at.into(),
            start_date: subscription.start_date.into(),
            end_date: subscription.end_date.map(Moment::from),
            customer: CustomerMinified::of(customer_id, related.customer(customer_id)),
            plan: PlanMinified {
                id: subscription.plan_id.to_string(),
                external_plan_id: plan.and_then(|plan| plan.external_plan_id.clone()),
                name: plan.map(|plan| plan.name.to_string()),
            },
            metadata: subscription.metadata.clone(),
        }
    }
}
