use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use crate::{
    CustomerId, Error, EventKey, ExternalId, IdOr, Timestamp,
    engine::unit::{Stop, Unit},
    error::RefusedEvent,
    limits,
    schema::{self, CustomerAlias, CustomerEntry, Slot},
    usage::{Carrier, ContentHash, Event, EventKeyEntry, Incoming},
};

/// The events of a batch that are new, in their order; nothing of the batch is refused.
pub(super) struct Sorted<'a> {
    pub(super) new: Vec<New<'a>>,
    pub(super) duplicates: usize,
}

/// An event that is new.
pub(super) struct New<'a> {
    pub(super) event: &'a Event,
    pub(super) customer_id: CustomerId,
    pub(super) entry: EventKeyEntry,
    pub(super) slot: Slot<EventKeyEntry>,
    /// Whether it counts: not where a backfill has brought it before.
    pub(super) counts: bool,
}

/// Sorts a batch into new events and duplicates, or refuses it with everything that is wrong.
///
/// The key is judged first, however old the event is; only a new one has to be recent.
pub(super) async fn sort<'a>(
    unit: &mut Unit<'_>,
    batch: &'a [Incoming],
) -> Result<Sorted<'a>, Stop> {
    let customers = customers(unit, batch).await?;
    let found = customers.values().filter_map(|found| match found {
        Found::Known(id) => Some(IdOr::Id(*id)),
        Found::Reserved(_, external) => Some(IdOr::External((*external).clone())),
        Found::Unknown => None,
    });
    unit.lock(&found.collect::<Vec<_>>()).await?;
    let slots: Vec<_> = events(batch)
        .map(|event| schema::event_key(unit.account, &event.idempotency_key))
        .collect();
    unit.fetch(slots.iter().map(Slot::key).collect::<Vec<_>>()).await?;
    let mut slots = slots.into_iter();
    let oldest_taken = unit.oldest_taken().await?;
    let newest_taken = unit.now.saturating_add(Duration::from_secs(limits::FUTURE_SECONDS));

    let (mut new, mut duplicates, mut refused) = (Vec::new(), 0_usize, Vec::new());
    let mut seen: HashMap<&EventKey, ContentHash> = HashMap::new();
    for (index, incoming) in batch.iter().enumerate() {
        let event = match incoming {
            Incoming::Event(event) => event,
            Incoming::Malformed { idempotency_key, reasons } => {
                let (idempotency_key, reasons) = (idempotency_key.clone(), reasons.clone());
                refused.push(RefusedEvent { index, idempotency_key, reasons });
                continue;
            }
        };
        let Some(slot) = slots.next() else { continue };
        let mut reasons = event.problems();
        let Some(customer_id) = customers.get(&event.customer).and_then(Found::id) else {
            reasons.push(format!("customer_id: no customer with identifier {}", event.customer));
            refused.push(refusal(index, event, reasons));
            continue;
        };
        let content = ContentHash::of(event, customer_id);
        let key = &event.idempotency_key;
        let mut entry = unit.row(&slot)?.unwrap_or_default();
        let stored = entry.carried_by(None).map(|stored| stored.content.clone());
        let earlier = stored.as_ref().or_else(|| seen.get(key)).map(|earlier| *earlier == content);
        match earlier {
            Some(true) => duplicates = duplicates.saturating_add(1),
            Some(false) => {
                reasons.push("idempotency_key: another event has this key".to_owned());
            }
            None => reasons.extend(out_of_range(event.timestamp, oldest_taken, newest_taken)),
        }
        if !reasons.is_empty() {
            refused.push(refusal(index, event, reasons));
        } else if earlier.is_none() {
            seen.insert(key, content.clone());
            entry.carriers.push(Carrier::new(None, event, customer_id, content));
            new.push(New { event, customer_id, entry, slot, counts: true });
        }
    }
    if refused.is_empty() {
        Ok(Sorted { new, duplicates })
    } else {
        Err(Error::refused(refused).into())
    }
}

fn events(batch: &[Incoming]) -> impl Iterator<Item = &Event> {
    batch.iter().filter_map(|incoming| match incoming {
        Incoming::Event(event) => Some(event),
        Incoming::Malformed { .. } => None,
    })
}

fn refusal(index: usize, event: &Event, reasons: Vec<String>) -> RefusedEvent {
    RefusedEvent { index, idempotency_key: Some(event.idempotency_key.to_string()), reasons }
}

fn out_of_range(at: Timestamp, oldest: Timestamp, newest: Timestamp) -> Option<String> {
    if at < oldest {
        Some(format!("timestamp: {at} is too old, the oldest that is taken now is {oldest}"))
    } else if at > newest {
        Some(format!("timestamp: {at} is in the future, the newest that is taken now is {newest}"))
    } else {
        None
    }
}

/// What became of a customer that a batch names.
enum Found<'a> {
    /// It is there, or events wait for it already.
    Known(CustomerId),
    /// Nobody has this external id: this id is reserved for the customer that will.
    Reserved(CustomerId, &'a ExternalId),
    /// There is no such service id.
    Unknown,
}

impl Found<'_> {
    const fn id(&self) -> Option<CustomerId> {
        match self {
            Self::Known(id) | Self::Reserved(id, _) => Some(*id),
            Self::Unknown => None,
        }
    }
}

/// Finds the customers that a batch names.
async fn customers<'a>(
    unit: &mut Unit<'_>,
    batch: &'a [Incoming],
) -> Result<BTreeMap<&'a IdOr<CustomerId>, Found<'a>>, Error> {
    let named: BTreeSet<_> = events(batch).map(|event| &event.customer).collect();
    let account = unit.account;
    let keys = named.iter().map(|name| match name {
        IdOr::Id(id) => schema::customer(account, *id).key().clone(),
        IdOr::External(external) => schema::customer_external(account, external).key().clone(),
    });
    unit.fetch(&keys.collect::<Vec<_>>()).await?;
    let mut customers = BTreeMap::new();
    for name in named {
        let found = match name {
            IdOr::Id(id) => match unit.row(&schema::customer(account, *id))? {
                Some(CustomerEntry { deleted_at: None, .. }) => Found::Known(*id),
                _ => Found::Unknown,
            },
            IdOr::External(external) => {
                let slot = schema::customer_external(account, external);
                match unit.row(&slot)? {
                    Some(CustomerAlias { customer_id, .. }) => Found::Known(customer_id),
                    None => {
                        let customer_id = CustomerId::generate(unit.now, unit.entropy());
                        unit.put(&slot, &CustomerAlias { customer_id, reserved: true })?;
                        Found::Reserved(customer_id, external)
                    }
                }
            }
        };
        customers.insert(name, found);
    }
    Ok(customers)
}
