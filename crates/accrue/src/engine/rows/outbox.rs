//! The outbox: messages, in the commit that causes them.

use crate::{
    CustomerId, Error, MessageId, Timestamp,
    account::AccountEntry,
    backfill::Backfill,
    engine::{kernel::Transaction, rows::account},
    schema::{self, CustomerHead, OutboxEntry},
    webhook::{Body, Place, Queue},
};

/// Writes a message into the outbox, with the next number of its customer.
pub(in crate::engine) async fn tell(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    created_at: Timestamp,
    body: Body,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let head = guard.head_mut(tx)?;
    head.messages = head.messages.saturating_add(1);
    let place = Place { queue: Queue::Customer(customer_id), number: head.messages };
    tell_at(tx, place, created_at, body)
}

/// Writes a message about a backfill into the outbox: among those of its customer, or among its
/// own, which are two at most.
pub(in crate::engine) async fn tell_of_backfill(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
    created_at: Timestamp,
    body: Body,
) -> Result<(), Error> {
    if let Some(customer_id) = backfill.customer_id {
        return tell(tx, customer_id, created_at, body).await;
    }
    let number = match body {
        Body::BackfillReverted { .. } => 2,
        _ => 1,
    };
    let place = Place { queue: Queue::Backfill(backfill.id), number };
    tell_at(tx, place, created_at, body)
}

/// Writes a message about the account as a whole, of whose row this is to be written.
pub(in crate::engine) fn tell_of_account(
    tx: &mut Transaction<'_>,
    entry: &mut AccountEntry,
    body: Body,
) -> Result<(), Error> {
    entry.messages = entry.messages.saturating_add(1);
    tell_at(tx, Place { queue: Queue::Account, number: entry.messages }, tx.now, body)
}

/// Writes messages about plans and prices, among those about the account as a whole: all that one commit tells.
pub(in crate::engine) async fn tell_of_catalogue(
    tx: &mut Transaction<'_>,
    bodies: impl IntoIterator<Item = Body>,
) -> Result<(), Error> {
    let mut entry = AccountEntry::clone(&*account::account_entry(tx).await?);
    let before = entry.messages;
    for body in bodies {
        tell_of_account(tx, &mut entry, body)?;
    }
    match entry.messages == before {
        true => Ok(()),
        false => account::save(tx, &entry).await,
    }
}

pub(in crate::engine) fn tell_at(
    tx: &mut Transaction<'_>,
    place: Place,
    created_at: Timestamp,
    body: Body,
) -> Result<(), Error> {
    let id = MessageId::generate(created_at, tx.entropy());
    let slot = schema::outbox(tx.account, place);
    tx.has_to_send = true;
    let told_at = Some(tx.now).filter(|now| *now != created_at);
    tx.put(&slot, &OutboxEntry { id, place, created_at, told_at, body })
}
