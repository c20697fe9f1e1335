//! Changes of subscriptions that nobody has applied in time (subscriptions 4.2).

use async_trait::async_trait;

use crate::{
    Error, SubscriptionChangeId,
    engine::{
        Account,
        kernel::{Command, Stop, Transaction, apply_step},
        rows::pending_changes,
    },
    schema,
    subscription::ChangeEnd,
};

/// Writes that a change has expired. Whoever meets it before finds that by its expiration time.
pub(in crate::engine) async fn expire(
    account: &Account,
    id: SubscriptionChangeId,
) -> Result<(), Error> {
    apply_step(account.shared(), account.id(), &Expire { id }).await
}

struct Expire {
    id: SubscriptionChangeId,
}

#[async_trait]
impl Command for Expire {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "expire_subscription_change"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let found = tx.find(&schema::subscription_change(tx.account, self.id)).await?;
        let Some(change) = found else { return Ok(()) };
        tx.lock(&[change.customer_id.into()]).await?;
        let at = change.expiration_time;
        if change.end.is_none() && at <= tx.now {
            pending_changes::unmark(tx, &change).await?;
            pending_changes::end(tx, change, ChangeEnd::Cancelled { at }).await?;
        }
        Ok(())
    }
}
