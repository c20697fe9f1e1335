//! Look-up of the event that a key stands for, and of its place.

use std::collections::BTreeSet;

use crate::{
    BackfillId, CustomerId, Error, EventKey, IdOr, Timestamp,
    engine::{
        kernel::{Stop, Transaction},
        rows::{
            self,
            places::{self, Known, counting},
            visible::SourcedEvent,
        },
        time::current,
    },
    period::oldest_judged,
    schema::{self, Owner},
    usage::{EventKeyEntry, EventPlace, EventSlot},
};

/// The event of a key.
pub(super) struct Found {
    pub(super) entry: EventKeyEntry,
    pub(super) customer_id: CustomerId,
    pub(super) place: EventPlace,
    pub(super) status: EventStatus,
}

/// Status of an event: whether it counts.
pub(super) enum EventStatus {
    Counts(Box<SourcedEvent>),
    Deprecated,
    Replaced(BackfillId),
}

impl EventStatus {
    /// Returns the status of an event at a place where none counts, and something is known.
    fn without_count(known: &[Known]) -> Option<Self> {
        match known.iter().any(|known| known.sourced.event.deprecated) {
            true => Some(Self::Deprecated),
            false => known.iter().find_map(|known| known.hidden_by).map(Self::Replaced),
        }
    }
}

/// Finds the event that a key stands for, of a customer that exists and whose transitions
/// are applied: the one that counts, or else what became of it.
pub(super) async fn find_event(tx: &mut Transaction<'_>, key: &EventKey) -> Result<Found, Stop> {
    let unknown = || Error::not_found("event", key);
    let slot = schema::event_key(tx.account, key);
    let entry = tx.get(&slot).await?.ok_or_else(unknown)?;
    let of = |slot: &EventSlot| slot.customer_id;
    let customers: BTreeSet<_> = entry.slots.iter().map(of).collect();
    tx.lock(&customers.iter().copied().map(IdOr::Id).collect::<Vec<_>>()).await?;
    for customer in customers {
        current::current_subscribers(tx, customer).await?;
    }
    let (mut asked, mut first) = (BTreeSet::new(), None);
    for slot in &entry.slots {
        let place = EventPlace { at: slot.timestamp, key: key.clone() };
        if !asked.insert((slot.customer_id, slot.timestamp)) {
            continue;
        }
        let known = places::events_at(tx, slot.customer_id, &place, &entry.slots).await?;
        let without_count = EventStatus::without_count(&known);
        let brought = counting(known).map(|brought| EventStatus::Counts(Box::new(brought)));
        let counts = brought.is_some();
        if let Some(status) = brought.or(without_count).filter(|_| counts || first.is_none()) {
            first = Some((slot.customer_id, place, status));
        }
        if counts {
            break;
        }
    }
    let (customer_id, place, status) = first.ok_or_else(unknown)?;
    rows::customers::customer(tx, &customer_id.into()).await?;
    Ok(Found { entry, customer_id, place, status })
}

/// Checks that an event at an instant may still be corrected: that it lies in the current billing
/// period of each subscription that covers it, or in the one before as long as that one takes
/// events.
pub(super) async fn check_open(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    at: Timestamp,
) -> Result<(), Stop> {
    let oldest_taken = rows::account::oldest_taken(tx).await?;
    for entry in rows::subscriptions::every_counting(tx, customer_id).await? {
        if current::is_behind(tx, &entry).await? {
            let subscriber = entry.subscription.customer_id;
            return Err(Stop::First(vec![Owner::Customer(subscriber)]));
        }
        let subscription = &entry.subscription;
        let Some(period) = subscription.periods().containing(at) else { continue };
        let oldest_judged = oldest_judged(subscription, tx.now);
        if period.start() < oldest_judged || period.end() <= oldest_taken {
            return Err(Error::constraint(format!(
                "the event lies in a billing period of subscription {} that takes no events any \
                 more: it ended at {}",
                subscription.id,
                period.end()
            ))
            .into());
        }
    }
    Ok(())
}
