//! Changes of subscriptions that wait to be applied, where they are found, and the marks of their subscriptions.

use crate::{
    Error, IdOr, SubscriptionChangeId,
    engine::{
        kernel::Transaction,
        rows::{customers, subscriptions},
    },
    idempotency::StoredAnswer,
    schema::{self, CustomerHead, Deadline, Nothing, Owner, RequestPart, Slot},
    subscription::{ChangeEnd, ChangeRequest, PendingChange, SubscriptionChange},
};

/// Returns a change that exists, and whose customer is not deleted.
pub(in crate::engine) async fn change(
    tx: &mut Transaction<'_>,
    id: SubscriptionChangeId,
) -> Result<SubscriptionChange, Error> {
    let unknown = || Error::not_found("subscription change", id);
    let found = tx.find(&schema::subscription_change(tx.account, id)).await?;
    let change = found.ok_or_else(unknown)?;
    match customers::customer(tx, &IdOr::Id(change.customer_id)).await {
        Ok(_) => Ok(change),
        Err(error) if error.is_not_found() => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// Reads the request of a change that waits.
pub(in crate::engine) async fn request(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
) -> Result<ChangeRequest, Error> {
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let parts = guard.get_all(tx, &request_slots(tx, of)).await?;
    let parts: Option<Vec<_>> = parts.into_iter().collect();
    let parts = parts.ok_or_else(|| Error::corrupt("the request of a change is missing"))?;
    let text: String = parts.into_iter().map(|part| part.text).collect();
    serde_json::from_str(&text).map_err(|error| Error::corrupt(error.to_string()))
}

fn request_slots(
    tx: &Transaction<'_>,
    of: &SubscriptionChange,
) -> Vec<Slot<RequestPart, CustomerHead>> {
    let slot = |part| schema::subscription_change_request(tx.account, of.id, part);
    (0..of.parts).map(slot).collect()
}

/// Writes a change that is new, with its request, and where it is found; marks the subscription that it is of.
pub(in crate::engine) async fn save_new(
    tx: &mut Transaction<'_>,
    mut new: SubscriptionChange,
    request: &ChangeRequest,
) -> Result<SubscriptionChange, Error> {
    let guard = tx.guard::<CustomerHead>(new.customer_id).await?;
    let text = serde_json::to_string(request).map_err(|error| Error::corrupt(error.to_string()))?;
    for piece in StoredAnswer::pieces(&text) {
        let slot = schema::subscription_change_request(tx.account, new.id, new.parts);
        guard.put(tx, &slot, &RequestPart { text: piece.to_owned() })?;
        new.parts = new.parts.saturating_add(1);
    }
    guard.put(tx, &schema::subscription_change(tx.account, new.id), &new)?;
    tx.put(&schema::subscription_change_by_customer(tx.account, &new), &Nothing {})?;
    tx.put(&schema::subscription_change_by_status(tx.account, &new), &Nothing {})?;
    tx.put(&schema::subscription_change_by_time(tx.account, &new), &Nothing {})?;
    let (at, owner) = (new.expiration_time, Owner::SubscriptionChange(new.id));
    let deadline = Deadline { at, account: tx.account.clone(), owner, cursor: None };
    tx.put(&schema::deadline(at, tx.account, owner), &deadline)?;
    if !new.creates() {
        mark(tx, &new, Some(new.mark())).await?;
    }
    Ok(new)
}

/// Writes what became of a change that has waited, of which the request is kept no longer.
pub(in crate::engine) async fn end(
    tx: &mut Transaction<'_>,
    mut change: SubscriptionChange,
    end: ChangeEnd,
) -> Result<SubscriptionChange, Error> {
    let guard = tx.guard::<CustomerHead>(change.customer_id).await?;
    for slot in request_slots(tx, &change) {
        guard.delete(tx, &slot)?;
    }
    let owner = Owner::SubscriptionChange(change.id);
    tx.delete(&schema::deadline(change.expiration_time, tx.account, owner));
    tx.delete(&schema::subscription_change_by_status(tx.account, &change));
    (change.end, change.parts) = (Some(end), 0);
    tx.put(&schema::subscription_change_by_status(tx.account, &change), &Nothing {})?;
    guard.put(tx, &schema::subscription_change(tx.account, change.id), &change)?;
    Ok(change)
}

/// Takes the mark of a change off its subscription, where it has it.
pub(in crate::engine) async fn unmark(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
) -> Result<(), Error> {
    if of.creates() { Ok(()) } else { mark(tx, of, None).await }
}

/// Marks the subscription of a change, or takes its mark off: that of a later one stays.
async fn mark(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
    mark: Option<PendingChange>,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let ids = [(&guard, of.subscription_id)];
    let found = subscriptions::subscriptions_under(tx, &ids).await?.into_iter().flatten().next();
    let missing = || Error::corrupt("the subscription of a change is missing");
    let mut entry = found.ok_or_else(missing)?;
    let known = &mut entry.subscription.pending_change;
    if mark.is_none() && known.is_none_or(|known| known.id != of.id) {
        return Ok(());
    }
    *known = mark;
    subscriptions::save_subscription(tx, &entry).await
}
