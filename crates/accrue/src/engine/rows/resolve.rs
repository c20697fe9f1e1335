//! Finds customers, plans and subscriptions by the names that callers give, transitions applied.

use crate::{
    CustomerId, Error, IdOr, PlanId, SubscriptionId,
    customer::Customer,
    engine::kernel::Transaction,
    plan::Plan,
    schema::{self},
    subscription::SubscriptionEntry,
};

impl Transaction<'_> {
    /// Returns a customer that exists and is not deleted.
    pub(in crate::engine) async fn customer(
        &mut self,
        id: &IdOr<CustomerId>,
    ) -> Result<Customer, Error> {
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
    pub(in crate::engine) async fn plan(&mut self, id: &IdOr<PlanId>) -> Result<Plan, Error> {
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
    pub(in crate::engine) async fn subscription_entry(
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

    /// Returns the alerts of a subscription's plan version.
    pub(in crate::engine) async fn plan_version_of(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<schema::PlanVersionEntry, Error> {
        let subscription = &entry.subscription;
        let (plan_id, version) = (subscription.plan_id, subscription.plan_version);
        let slot = schema::plan_version(self.account, plan_id, version);
        Ok(self.get(&slot).await?.unwrap_or_default())
    }

    /// Writes a customer's head, so that whoever read it has to read again.
    pub(in crate::engine) async fn touch(&mut self, id: CustomerId) -> Result<(), Error> {
        let slot = schema::customer_head(self.account, id);
        let head = self.get(&slot).await?.unwrap_or_default();
        self.put(&slot, &head)
    }
}
