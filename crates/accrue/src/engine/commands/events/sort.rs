//! Sorting of a batch into new events and duplicates, or refusal with everything that is wrong.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::{
    acceptance::Acceptance,
    footprints::Footprints,
    keys::{self, reason},
};
use crate::{
    CustomerId, Error, EventKey, ExternalId, IdOr,
    backfill::{Backfill, Verdict},
    engine::{
        kernel::{Stop, Transaction},
        rows::event_blocks::New,
        time::corrections,
    },
    error::RefusedEvent,
    schema::{self, CustomerAlias, CustomerEntry, CustomerHead},
    usage::{Event, EventSlot, Incoming},
};

/// Events of a batch that are new, in their order; nothing of the batch is refused.
pub(in crate::engine) struct Sorted<'a> {
    pub(in crate::engine) new: Vec<New<'a>>,
    pub(in crate::engine) duplicates: usize,
    /// Those of its customers whose rows are guessed.
    pub(in crate::engine) footprints: Footprints<'a>,
}

/// Sorts a batch that goes into a backfill, or into none, into new events and duplicates; or refuses
/// it with everything that is wrong.
///
/// The key is judged first, however old the event is; only a new one has to lie where it is taken.
pub(in crate::engine) async fn sort<'a>(
    tx: &mut Transaction<'_>,
    batch: &'a [Incoming],
    into: Option<&Backfill>,
) -> Result<Sorted<'a>, Stop> {
    let (customers, subscribers, footprints) = customers(tx, batch).await?;
    let found = customers.values().filter_map(|found| match found {
        Found::Known(id) => Some(IdOr::Id(*id)),
        Found::Reserved(_, external) => Some(IdOr::External((*external).clone())),
        Found::Unknown => None,
    });
    let subscribers = subscribers.into_iter().map(IdOr::Id);
    tx.lock(&found.chain(subscribers).collect::<Vec<_>>()).await?;
    let slots: Vec<_> =
        events(batch).map(|event| schema::event_key(tx.account, &event.idempotency_key)).collect();
    // A backfill may bring an event that is there already, and one of another request may come in this commit too.
    let may_be_there = into.is_some() || slots.iter().any(|slot| tx.is_put(slot));
    let table = slots.first().map(|slot| slot.key().table());
    let is_trusted = !may_be_there && table.is_some_and(|table| tx.trust_caller(table));
    let entries = match is_trusted {
        true => vec![None; slots.len()],
        false => tx.get_all(&slots).await?,
    };
    let rules = keys::rules(tx, &entries, into).await?;
    let earlier = keys::earlier(tx, events(batch), &entries, into).await?;
    let acceptance = Acceptance::find(tx, into).await?;
    let mut slots = slots.into_iter().zip(entries);
    let backfill_id = into.map(|backfill| backfill.id);

    let (mut new, mut duplicates, mut refused) = (Vec::<New<'_>>::new(), 0_usize, Vec::new());
    let mut seen =
        HashMap::<&EventKey, (&Event, CustomerId), RandomState>::with_capacity_and_hasher(
            batch.len(),
            RandomState::default(),
        );
    new.reserve(batch.len());
    for (index, incoming) in batch.iter().enumerate() {
        let event = match incoming {
            Incoming::Event(event) => event,
            Incoming::Malformed { idempotency_key, reasons } => {
                let (idempotency_key, reasons) = (idempotency_key.clone(), reasons.clone());
                refused.push(RefusedEvent { index, idempotency_key, reasons });
                continue;
            }
        };
        let Some((slot, entry)) = slots.next() else { continue };
        tx.pace.spend_bytes(event.rough_bytes()).await;
        let bytes = event.bytes();
        let mut reasons = event.problems(bytes);
        let Some(customer_id) = customers.get(&event.customer).and_then(Found::id) else {
            reasons.push(format!("customer_id: no customer with identifier {}", event.customer));
            refused.push(refusal(index, event, reasons));
            continue;
        };
        let key = &event.idempotency_key;
        let own = EventSlot::new(backfill_id, event, customer_id);
        let entry = entry.unwrap_or_default();
        let says_the_same = || earlier.get(key).is_some_and(|earlier| earlier.said(event));
        let verdict = match (rules.judge(&entry, &own, says_the_same), seen.get(key)) {
            (Verdict::New, Some((earlier, of))) => {
                let is_same = *of == customer_id && earlier.says_the_same(event);
                if is_same { Verdict::Duplicate } else { Verdict::Taken }
            }
            (verdict, _) => verdict,
        };
        match verdict {
            Verdict::New => reasons.extend(acceptance.refuse(event.timestamp, customer_id)),
            Verdict::Duplicate => duplicates = duplicates.saturating_add(1),
            Verdict::Taken | Verdict::Deprecated | Verdict::Worn => {
                reasons.extend(reason(verdict));
            }
        }
        if !reasons.is_empty() {
            refused.push(refusal(index, event, reasons));
        } else if verdict == Verdict::New {
            seen.insert(key, (event, customer_id));
            let entry = rules.add(entry, own);
            let (was_read, counts) = (!is_trusted, into.is_none());
            new.push(New { event, bytes, customer_id, entry, slot, was_read, counts });
        }
    }
    if refused.is_empty() {
        Ok(Sorted { new, duplicates, footprints })
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

/// Result of the search for a customer that a batch names.
enum Found<'a> {
    /// Customer that is there, or that events wait for already.
    Known(CustomerId),
    /// External id that nobody has: this id is reserved for the customer that will.
    Reserved(CustomerId, &'a ExternalId),
    /// Id that no customer has.
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

type Customers<'a> = HashMap<&'a IdOr<CustomerId>, Found<'a>, RandomState>;

/// Finds the customers that a batch names, and those whose subscriptions count the usage of some.
async fn customers<'a>(
    tx: &mut Transaction<'_>,
    batch: &'a [Incoming],
) -> Result<(Customers<'a>, Vec<CustomerId>, Footprints<'a>), Error> {
    let account = tx.account;
    let mut named: Vec<_> = {
        let mut asked = HashSet::<_, RandomState>::default();
        events(batch).map(|event| &event.customer).filter(|name| asked.insert(*name)).collect()
    };
    named.sort_unstable();
    let externals = named.iter().filter_map(|name| match name {
        IdOr::External(external) => Some(schema::customer_external(account, external)),
        IdOr::Id(_) => None,
    });
    let slots: Vec<_> = externals.collect();
    let (mut footprints, aliases) = Footprints::find(tx, &named, &slots).await?;
    let mut aliases = aliases.into_iter().zip(slots);
    let (mut ids, mut new, mut customers) = (Vec::new(), Vec::new(), HashMap::default());
    for name in named {
        match name {
            IdOr::Id(id) => ids.push((name, *id, None)),
            IdOr::External(external) => match aliases.next() {
                // Another request of this commit has reserved it: it goes on to be locked by this name.
                Some((Some(CustomerAlias { customer_id, .. }), slot)) if tx.is_put(&slot) => {
                    customers.insert(name, Found::Reserved(customer_id, external));
                }
                Some((Some(CustomerAlias { customer_id, .. }), slot)) => {
                    ids.push((name, customer_id, Some(slot)));
                }
                Some((None, slot)) => new.push((name, external, slot)),
                None => return Err(Error::corrupt("an alias was not read")),
            },
        }
    }
    for (name, external, slot) in new {
        let customer_id = CustomerId::generate(tx.now, tx.entropy());
        let guard = tx.guard(customer_id).await?;
        guard.put(tx, &slot, &CustomerAlias { customer_id, reserved: true })?;
        corrections::begin_customer(tx, customer_id).await?;
        customers.insert(name, Found::Reserved(customer_id, external));
    }
    let rows = ids.iter().map(|(name, id, alias)| {
        let mut rows = footprints.rows_of(name, *id);
        if alias.is_none() {
            rows.push(schema::customer(account, *id).key().clone());
        }
        (*id, rows)
    });
    let guards = tx.guards_with::<CustomerHead>(rows.collect::<Vec<_>>()).await?;
    let mut subscribers = Vec::new();
    for ((name, id, alias), guard) in ids.into_iter().zip(guards) {
        let is_known = match alias {
            Some(alias) => {
                guard.adopt(tx, &alias);
                true
            }
            None => {
                let entry = tx.row(&schema::customer(account, id))?;
                entry.is_some_and(|entry: CustomerEntry| entry.deleted_at.is_none())
            }
        };
        let head = guard.head(tx)?;
        subscribers.extend(&head.counted_by);
        if head.accepted == 0 {
            footprints.begin(name, id);
        }
        customers.insert(name, if is_known { Found::Known(id) } else { Found::Unknown });
    }
    Ok((customers, subscribers, footprints))
}
