//! Finds customers, plans and subscriptions by the names that callers give, transitions applied.

use super::kernel::{Stop, Transaction};
use crate::{
    CustomerId, Error, IdOr, PlanId, SubscriptionId,
    customer::Customer,
    plan::Plan,
    schema::{self, CustomerHead, Owner},
    subscription::{Subscription, SubscriptionEntry},
};

impl Transaction<'_> {
    /// Returns a customer that exists and is not deleted.
    pub(super) async fn customer(&mut self, id: &IdOr<CustomerId>) -> Result<Customer, Error> {
        let unknown = || Error::not_found("customer", id);
        let customer_id = match id {
            IdOr::Id(id) => *id,
            IdOr::External(external) => {
                let alias = self.get(&schema::customer_external(self.account, external)).await?;
                alias.filter(|alias| !alias.reserved).ok_or_else(unknown)?.customer_id
            }
        };
        let entry = self.get(&schema::customer(self.account, customer_id)).await?;
        let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
        Ok(entry.customer)
    }

    /// Returns a plan that exists.
    pub(super) async fn plan(&mut self, id: &IdOr<PlanId>) -> Result<Plan, Error> {
        let unknown = || Error::not_found("plan", id);
        let plan_id = match id {
            IdOr::Id(id) => *id,
            IdOr::External(external) => {
                let alias = self.get(&schema::plan_external(self.account, external)).await?;
                alias.ok_or_else(unknown)?.plan_id
            }
        };
        self.get(&schema::plan(self.account, plan_id)).await?.ok_or_else(unknown)
    }

    /// Returns a subscription that exists, and whose customer is not deleted.
    pub(super) async fn subscription_entry(
        &mut self,
        id: SubscriptionId,
    ) -> Result<SubscriptionEntry, Error> {
        let unknown = || Error::not_found("subscription", id);
        let found = self.subscription(id).await?;
        let entry = found.ok_or_else(unknown)?;
        let customer = IdOr::Id(entry.subscription.customer_id);
        match self.customer(&customer).await {
            Ok(_) => Ok(entry),
            Err(error) if error.is_not_found() => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    /// Takes the lock of a customer and reads the head that guards what is its own. Its
    /// transitions come first.
    pub(super) async fn current_head(&mut self, id: CustomerId) -> Result<CustomerHead, Stop> {
        self.lock(&[id.into()]).await?;
        let head = self.get(&schema::customer_head(self.account, id)).await?.unwrap_or_default();
        if self.has_transitions(id, &head).await? {
            Err(Stop::First(vec![Owner::Customer(id)]))
        } else {
            Ok(head)
        }
    }

    /// Reads the heads of customers whose locks are held. Their transitions come first.
    pub(super) async fn current_heads(&mut self, ids: &[CustomerId]) -> Result<(), Stop> {
        let slots: Vec<_> = ids.iter().map(|id| schema::customer_head(self.account, *id)).collect();
        let heads = self.get_all(&slots).await?;
        let mut behind = Vec::new();
        for (id, head) in ids.iter().zip(heads) {
            if self.has_transitions(*id, &head.unwrap_or_default()).await? {
                behind.push(Owner::Customer(*id));
            }
        }
        if behind.is_empty() { Ok(()) } else { Err(Stop::First(behind)) }
    }

    /// Returns a subscription whose customer is applied. The changes to its plan's alerts come first
    /// too.
    pub(super) async fn current_subscription(
        &mut self,
        id: SubscriptionId,
    ) -> Result<SubscriptionEntry, Stop> {
        let entry = self.subscription_entry(id).await?;
        let customer_id = entry.subscription.customer_id;
        self.current_head(customer_id).await?;
        if self.is_behind(&entry).await? {
            return Err(Stop::First(vec![Owner::Customer(customer_id)]));
        }
        Ok(entry)
    }

    /// Tells whether a subscription has changes to its plan's alerts to apply. One that ended so
    /// long ago that no event counts for it has none.
    pub(super) async fn is_behind(&mut self, entry: &SubscriptionEntry) -> Result<bool, Error> {
        let Subscription { id, customer_id, .. } = entry.subscription;
        let alerts = self.plan_version_of(entry).await?;
        if entry.revision >= alerts.revision {
            return Ok(false);
        }
        let active = self.get(&schema::active_subscriptions(self.account, customer_id)).await?;
        Ok(active.unwrap_or_default().subscriptions.contains(&id))
    }

    /// Returns the alerts of a subscription's plan version.
    pub(super) async fn plan_version_of(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<schema::PlanVersionEntry, Error> {
        let subscription = &entry.subscription;
        let (plan_id, version) = (subscription.plan_id, subscription.plan_version);
        let slot = schema::plan_version(self.account, plan_id, version);
        Ok(self.get(&slot).await?.unwrap_or_default())
    }

    /// Writes a customer's head, so that whoever read it has to read again.
    pub(super) async fn touch(&mut self, id: CustomerId) -> Result<(), Error> {
        let slot = schema::customer_head(self.account, id);
        let head = self.get(&slot).await?.unwrap_or_default();
        self.put(&slot, &head)
    }
}
