//! Active subscriptions: those that a customer's events may still count for, and when time brings them the

use crate::{
    AlertId, CustomerId, Error, Timestamp,
    alert::Alert,
    engine::kernel::Transaction,
    schema::{self, ActiveIds, CustomerHead, Deadline, Owner, Slot},
    subscription::SubscriptionEntry,
};

/// A customer, and its subscriptions that events may still count for.
pub(in crate::engine) struct ActiveSubscriptions {
    pub(in crate::engine) customer_id: CustomerId,
    pub(in crate::engine) head: CustomerHead,
    pub(in crate::engine) entries: Vec<SubscriptionEntry>,
}

impl Transaction<'_> {
    /// Reads the subscriptions of customers whose locks are held.
    pub(in crate::engine) async fn active_subscriptions(
        &mut self,
        customers: &[CustomerId],
    ) -> Result<Vec<ActiveSubscriptions>, Error> {
        let account = self.account;
        let heads: Vec<_> =
            customers.iter().map(|id| schema::customer_head(account, *id)).collect();
        let ids: Vec<_> =
            customers.iter().map(|id| schema::active_subscriptions(account, *id)).collect();
        let credits: Vec<_> = customers.iter().map(|id| schema::credits(account, *id)).collect();
        let keys = heads.iter().map(Slot::key).chain(ids.iter().map(Slot::key));
        let keys = keys.chain(credits.iter().map(Slot::key));
        self.fetch(keys.collect::<Vec<_>>()).await?;
        let mut found = Vec::with_capacity(customers.len());
        let mut named = Vec::new();
        for (customer_id, (head, ids)) in customers.iter().zip(heads.iter().zip(&ids)) {
            let head = self.row(head)?.unwrap_or_default();
            let ActiveIds { subscriptions, .. } = self.row(ids)?.unwrap_or_default();
            named.extend(subscriptions.iter().copied());
            found.push((*customer_id, head, subscriptions));
        }
        let mut rows = self.subscriptions(&named).await?.into_iter();
        let mut active = Vec::with_capacity(found.len());
        for (customer_id, head, subscriptions) in found {
            let mut entries = Vec::with_capacity(subscriptions.len());
            for row in rows.by_ref().take(subscriptions.len()) {
                entries.push(row.ok_or_else(|| {
                    Error::corrupt("a customer has a subscription that is not there")
                })?);
            }
            active.push(ActiveSubscriptions { customer_id, head, entries });
        }
        Ok(active)
    }

    /// Reads the alerts of the plan versions of some subscriptions.
    pub(in crate::engine) async fn fetch_plan_versions(
        &mut self,
        active: &[ActiveSubscriptions],
    ) -> Result<(), Error> {
        let entries = active.iter().flat_map(|active| &active.entries);
        let slots: Vec<_> = entries
            .map(|entry| &entry.subscription)
            .map(|of| schema::plan_version(self.account, of.plan_id, of.plan_version))
            .collect();
        self.fetch(slots.iter().map(Slot::key).collect::<Vec<_>>()).await
    }

    /// Returns the enabled alerts that watch a subscription: its own and its plan version's.
    pub(in crate::engine) async fn watching(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<Vec<Alert>, Error> {
        let plan = self.plan_version_of(entry).await?;
        let shared = self.alerts(&plan.alerts).await?;
        if !self.had_alerts(self.now).await? {
            return Ok(Vec::new());
        }
        self.watching_with(entry, shared).await
    }

    /// Returns the enabled alerts that watch a subscription: its own, and some of its plan version;
    /// those on usage first.
    pub(in crate::engine) async fn watching_with(
        &mut self,
        entry: &SubscriptionEntry,
        shared: Vec<Alert>,
    ) -> Result<Vec<Alert>, Error> {
        let mut alerts = self.alerts(&entry.alerts).await?;
        alerts.extend(shared.into_iter().filter(|alert| !entry.muted.contains(&alert.id)));
        alerts.retain(|alert| alert.enabled);
        alerts.sort_by_key(|alert| alert.condition.is_on_cost());
        Ok(alerts)
    }

    /// Reads some alerts.
    pub(in crate::engine) async fn alerts(&mut self, ids: &[AlertId]) -> Result<Vec<Alert>, Error> {
        let slots: Vec<_> = ids.iter().map(|id| schema::alert(self.account, *id)).collect();
        let entries = self.get_all(&slots).await?;
        Ok(entries.into_iter().flatten().map(|entry| entry.alert).collect())
    }

    /// Writes which subscriptions of a customer events may still count for, and when time brings
    /// the next thing for one of them.
    pub(in crate::engine) async fn save_active(
        &mut self,
        customer_id: CustomerId,
        entries: &[SubscriptionEntry],
    ) -> Result<(), Error> {
        let oldest_open = self.oldest_open();
        let live = entries.iter().filter(|entry| !entry.is_past(oldest_open));
        let subscriptions = live.map(|entry| entry.subscription.id).collect();
        let grace = self.configuration().await?.grace_period;
        let deadline = entries.iter().filter_map(|entry| entry.deadline(grace)).min();
        let slot = schema::active_subscriptions(self.account, customer_id);
        self.get(&slot).await?;
        self.put(&slot, &ActiveIds { subscriptions, deadline })?;
        self.reschedule(customer_id).await
    }

    /// Moves the deadline of a customer to when time brings the next thing: for one of its
    /// subscriptions, for one of its ledgers, or a correction. One that is under way is due, whatever
    /// the time is where somebody looks.
    pub(in crate::engine) async fn reschedule(
        &mut self,
        customer_id: CustomerId,
    ) -> Result<(), Error> {
        let active = self.get(&schema::active_subscriptions(self.account, customer_id)).await?;
        let credits = self.get(&schema::credits(self.account, customer_id)).await?;
        let expiries = credits.unwrap_or_default().units.into_values().map(|of| of.next_expiry);
        let corrections = self.get(&schema::corrections(self.account, customer_id)).await?;
        let corrections = corrections.unwrap_or_default();
        let under_way = corrections.progress.map(|_| Timestamp::MIN);
        let correction = corrections.scheduled.first().map(|of| of.at);
        let active = active.unwrap_or_default().deadline;
        let next = expiries.chain([active, correction, under_way]).flatten().min();
        let slot = schema::customer_head(self.account, customer_id);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        let owner = Owner::Customer(customer_id);
        if head.deadline != next {
            if let Some(at) = head.deadline {
                self.delete(&schema::deadline(at, self.account, owner));
            }
            if let Some(at) = next {
                let deadline = Deadline { at, account: self.account.clone(), owner, cursor: None };
                self.put(&schema::deadline(at, self.account, owner), &deadline)?;
            }
        }
        head.deadline = next;
        self.put(&slot, &head)
    }
}
