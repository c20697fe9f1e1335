//! Effects of what happens to billing periods: tells of the alerts that fire, and notes those that are disabled.

use crate::{
    CustomerId, Error, SubscriptionId, Timestamp,
    alert::{Alert, Scope},
    credit::DrawDown,
    engine::{
        kernel::Transaction,
        rows::{alerts, outbox, shared_alerts::Sharer, subscriptions},
    },
    period::Effects,
    schema::{AlertEntry, CustomerHead},
    subscription::SubscriptionEntry,
};

/// Tells of the alerts that fire, and of those that are disabled. Returns what is left to do.
pub(in crate::engine) async fn tell(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    effects: Effects,
    at: Timestamp,
) -> Result<Told, Error> {
    for exceeded in effects.exceeded {
        outbox::tell(tx, customer_id, at, exceeded.into()).await?;
    }
    for exceeded in effects.groups_exceeded {
        outbox::tell(tx, customer_id, at, exceeded.into()).await?;
    }
    let mut disabled = Vec::with_capacity(effects.disabled.len());
    for of in effects.disabled {
        if let (Scope::Subscription { .. }, Some(before)) =
            (of.alert.scope, alerts::entry(tx, &of.alert).await?)
        {
            alerts::put(tx, &AlertEntry { alert: of.alert.clone(), ..before }).await?;
        }
        disabled.push(of.alert.clone());
        outbox::tell(tx, customer_id, at, of.into()).await?;
    }
    Ok(Told { draw_downs: effects.draw_downs, disabled })
}

/// What is left to do once it is told which alerts fire.
#[derive(Debug, Default)]
pub(in crate::engine) struct Told {
    /// Changes of the cost of usage that credits pay for.
    pub(in crate::engine) draw_downs: Vec<DrawDown>,
    /// Alerts that are disabled for the subscription.
    pub(in crate::engine) disabled: Vec<Alert>,
}

impl Told {
    /// Notes with a subscription which alerts that it shares are disabled for it.
    pub(in crate::engine) fn note(&self, entry: &mut SubscriptionEntry) {
        let shared = self.disabled.iter().filter(|of| Sharer::of(of).is_some());
        entry.muted.extend(shared.map(|alert| alert.id));
    }
}

/// Writes which alerts that it shares an event has disabled for a subscription.
pub(in crate::engine) async fn save_disabled(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    id: SubscriptionId,
    told: &Told,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    // Whose terms were recalled did not read it.
    let found = subscriptions::subscriptions_under(tx, &[(&guard, id)]).await?;
    for mut entry in found.into_iter().flatten() {
        told.note(&mut entry);
        subscriptions::save_subscription(tx, &entry).await?;
    }
    Ok(())
}
