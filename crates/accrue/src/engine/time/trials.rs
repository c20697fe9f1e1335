//! Trials that end (subscriptions 1.7).

use crate::{
    Error, Timestamp,
    engine::{kernel::Transaction, rows::outbox},
    subscription::SubscriptionEntry,
    webhook::Body,
};

/// Tells that the trial of a subscription has ended by an instant, once for each end that it has.
pub(in crate::engine) async fn tell_end(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let Some(end) = entry.next_trial_end().filter(|end| *end <= at) else { return Ok(()) };
    entry.trial_told = Some(end);
    let of = &entry.subscription;
    let body = Body::SubscriptionTrialEnded { subscription_id: of.id };
    outbox::tell(tx, of.customer_id, at, body).await
}
