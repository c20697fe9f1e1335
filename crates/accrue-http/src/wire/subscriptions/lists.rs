use accrue::{
    CustomerId, ExternalId, IdOr, Metadata, PlanId, Timestamp, Zone,
    related::Related,
    subscription::{Subscription, SubscriptionFilter, SubscriptionStatus},
};

use super::name;
use crate::{
    problem::{Problem, Violations},
    shape::{Moment, request, response},
    wire::{
        customers::CustomerMinified,
        dates::{Date, created},
        pages::{Limit, Sought},
    },
};

request! {
    /// Filters and page of a list of subscriptions.
    pub(crate) struct SubscriptionListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Customer of the subscriptions.
        customer_id: Option<Sought<CustomerId>>,
        /// Customers of the subscriptions: any of them.
        "customer_id[]" customer_ids: Option<Vec<Sought<CustomerId>>>,
        /// External id of the customer.
        external_customer_id: Option<ExternalId>,
        /// External ids of the customers: any of them.
        "external_customer_id[]" external_customer_ids: Option<Vec<ExternalId>>,
        /// Plan of the subscriptions.
        plan_id: Option<Sought<PlanId>>,
        /// External id of the plan.
        external_plan_id: Option<ExternalId>,
        /// Status of the subscriptions now.
        status: Option<SubscriptionStatus>,
        /// Statuses of the subscriptions now: any of them.
        "status[]" statuses: Option<Vec<SubscriptionStatus>>,
        /// Subscriptions created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Subscriptions created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Subscriptions created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Subscriptions created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

response! {
    /// A subscription without its prices and its billing periods.
    pub(crate) struct SubscriptionSummary {
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
        /// Customer of the subscription.
        customer: CustomerMinified,
        /// Plan of the subscription; null for a contract.
        plan: Option<PlanMinified>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// A plan by its names.
    pub(crate) struct PlanMinified {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_plan_id: Option<ExternalId>,
        /// Its name.
        name: Option<String>,
    }
}

created!(SubscriptionListQuery);

impl SubscriptionListQuery {
    /// Returns the customer whose zone its dates are in, where they need one and there is one.
    pub(crate) fn customer_of_dates(&self) -> Option<IdOr<CustomerId>> {
        let mut customers = self.customers();
        let first = customers.next().filter(|_| self.created().are_local())?;
        customers.next().is_none().then_some(first)
    }

    fn customers(&self) -> impl Iterator<Item = IdOr<CustomerId>> {
        let ids = self.customer_id.iter().chain(self.customer_ids.iter().flatten());
        let ids = ids.filter_map(|Sought(id)| id.map(IdOr::Id));
        let external = self.external_customer_id.iter();
        let external = external.chain(self.external_customer_ids.iter().flatten());
        ids.chain(external.cloned().map(IdOr::External))
    }

    /// Returns the filter of the list, where dates are those of a zone; `None` where there can be no such
    /// subscription.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<Option<SubscriptionFilter>, Problem> {
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
        let customers: Vec<_> = self.customers().collect();
        if ids.into_iter().next().is_some() && customers.is_empty() {
            return Ok(None);
        }
        let statuses = self.status.iter().chain(self.statuses.iter().flatten());
        Ok(Some(SubscriptionFilter {
            created: self.created().range(zone)?,
            customers,
            plan,
            statuses: statuses.copied().collect(),
        }))
    }
}

impl PlanMinified {
    pub(crate) fn of(id: PlanId, related: &Related) -> Self {
        let plan = related.plan(id);
        Self {
            id: id.to_string(),
            external_plan_id: plan.and_then(|plan| plan.external_plan_id.clone()),
            name: plan.map(|plan| plan.name.to_string()),
        }
    }
}

impl SubscriptionSummary {
    pub(crate) fn of(subscription: &Subscription, related: &Related, now: Timestamp) -> Self {
        let subscription = &subscription.as_of(now);
        let customer_id = subscription.customer_id;
        Self {
            id: subscription.id.to_string(),
            name: name(subscription, related),
            status: subscription.status(now),
            created_at: subscription.created_at.into(),
            start_date: subscription.start_date.into(),
            end_date: subscription.end_date.map(Moment::from),
            customer: CustomerMinified::of(customer_id, related.customer(customer_id)),
            plan: subscription.plan_id.map(|id| PlanMinified::of(id, related)),
            metadata: subscription.metadata.clone(),
        }
    }
}
