//! Customers for whom all is done that time has brought: whoever writes for one finds it so, or does that
//! first.

use crate::{
    CustomerId, Error, SubscriptionId,
    engine::kernel::{Stop, Transaction},
    schema::{self, CustomerHead, Owner},
    subscription::{Subscription, SubscriptionEntry},
};

impl Transaction<'_> {
    /// Takes the lock of a customer and reads the head that guards what is its own. Its
    /// transitions come first.
    pub(in crate::engine) async fn current_head(
        &mut self,
        id: CustomerId,
    ) -> Result<CustomerHead, Stop> {
        self.lock(&[id.into()]).await?;
        let head = self.get(&schema::customer_head(self.account, id)).await?.unwrap_or_default();
        if self.has_transitions(id, &head).await? {
            Err(Stop::First(vec![Owner::Customer(id)]))
        } else {
            Ok(head)
        }
    }

    /// Reads the heads of customers whose locks are held. Their transitions come first.
    pub(in crate::engine) async fn current_heads(
        &mut self,
        ids: &[CustomerId],
    ) -> Result<(), Stop> {
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
    pub(in crate::engine) async fn current_subscription(
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
    pub(in crate::engine) async fn is_behind(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<bool, Error> {
        let Subscription { id, customer_id, .. } = entry.subscription;
        let alerts = self.plan_version_of(entry).await?;
        if entry.revision >= alerts.revision {
            return Ok(false);
        }
        let active = self.get(&schema::active_subscriptions(self.account, customer_id)).await?;
        Ok(active.unwrap_or_default().subscriptions.contains(&id))
    }
}
