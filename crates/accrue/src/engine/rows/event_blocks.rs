//! Rows of events: those of a minute that come at once share one
//! (`docs/decisions/events-share-rows.md`).

use std::collections::{BTreeMap, HashMap};

use crate::{
    BackfillId, CustomerId, Error, ErrorKind, EventKey, Timeframe,
    engine::kernel::{Guard, Transaction},
    limits,
    schema::{self, CustomerHead, Slot},
    store::{Document, Key, Scan},
    usage::{
        BlockEvent, Event, EventBlock, EventKeyEntry, EventPlace, EventSlot, Minute, StoredEvent,
    },
};

/// An event that is new where it is brought.
pub(in crate::engine) struct New<'a> {
    pub(in crate::engine) event: &'a Event,
    /// Bytes of all its texts.
    pub(in crate::engine) bytes: usize,
    pub(in crate::engine) customer_id: CustomerId,
    /// What is kept under its key, with it.
    pub(in crate::engine) entry: EventKeyEntry,
    pub(in crate::engine) slot: Slot<EventKeyEntry>,
    /// Whether what is kept under its key was read: else its commit tells whether it is new.
    pub(in crate::engine) was_read: bool,
    /// Whether it counts: not where a backfill has brought it before.
    pub(in crate::engine) counts: bool,
}

/// Writes new events of a customer that a backfill brings, or none: each with its number among
/// those of the customer.
///
/// A row has those of one minute that a customer got in one commit, from one backfill or from none. It
/// is numbered as the first of them is among all that the customer got. The first are measured by all metrics that there are, up to a revision of them.
pub(in crate::engine) async fn accept(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    source: Option<BackfillId>,
    new: &[&New<'_>],
    metrics: u64,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let head = guard.head_mut(tx)?;
    if head.accepted == 0 {
        head.measured = metrics;
    }
    let mut accepted = head.accepted;
    let mut in_order = new.to_vec();
    in_order.sort_by_cached_key(|new| Minute::of(new.event.timestamp));
    let mut rest = in_order.as_slice();
    while let Some(first) = rest.first() {
        let minute = Minute::of(first.event.timestamp);
        let (block, behind) = rest.split_at(fitting(rest, minute));
        let number = accepted.saturating_add(1);
        let mut events = Vec::with_capacity(block.len());
        for New { event, entry, slot, was_read, .. } in block {
            accepted = accepted.saturating_add(1);
            let stored = StoredEvent::new(event, accepted);
            tx.pace.spend_bytes(event.rough_bytes()).await;
            events.push(BlockEvent::new(&event.idempotency_key, event.timestamp, stored));
            let entry = entry.clone().in_block(source, number);
            if *was_read { tx.put(slot, &entry)? } else { tx.insert(slot, &entry)? }
        }
        let row = event_block(tx, source, customer_id, minute, number);
        guard.put_apart(tx, &row, &EventBlock { events })?;
        rest = behind;
    }
    guard.head_mut(tx)?.accepted = accepted;
    Ok(())
}

/// Reads an event in a slot.
pub(in crate::engine) async fn event_in_block(
    tx: &mut Transaction<'_>,
    slot: &EventSlot,
    key: &EventKey,
) -> Result<Option<StoredEvent<'static>>, Error> {
    let Some(row) = block_of(tx, slot) else { return Ok(None) };
    let guard = tx.guard::<CustomerHead>(slot.customer_id).await?;
    let block = guard.get(tx, &row).await?;
    let events = block.into_iter().flat_map(|block: EventBlock<'static>| block.events);
    Ok(events.into_iter().find(|found| *found.key == *key).map(|found| found.event))
}

/// Reads the events of some keys in their slots, each row once.
pub(in crate::engine) async fn events_in_blocks<'k>(
    tx: &mut Transaction<'_>,
    wanted: &[(&EventSlot, &'k EventKey)],
) -> Result<HashMap<&'k EventKey, StoredEvent<'static>>, Error> {
    let mut rows = BTreeMap::<_, (_, _, Vec<_>)>::new();
    for (slot, key) in wanted {
        let Some(row) = block_of(tx, slot) else { continue };
        let of = slot.customer_id;
        rows.entry(row.key().clone()).or_insert_with(|| (of, row, Vec::new())).2.push(*key);
    }
    let guards = tx.guards::<CustomerHead>(rows.values().map(|(of, ..)| *of)).await?;
    Guard::fetch(tx, guards.iter().zip(rows.keys())).await?;
    let mut found = HashMap::new();
    for (_, row, keys) in rows.values() {
        let block: Option<EventBlock<'static>> = tx.row(row)?;
        let events = block.map(|block| block.events).unwrap_or_default();
        tx.pace.spend(events.len()).await;
        let mut events: HashMap<_, _> =
            events.into_iter().map(|of| (of.key.into_owned(), of.event)).collect();
        found.extend(keys.iter().filter_map(|key| Some((*key, events.remove(*key)?))));
    }
    Ok(found)
}

/// Writes another content of an event in a slot. Where the row would become too
/// long, the event gets one of its own, and the slot says so.
pub(in crate::engine) async fn put_in_block(
    tx: &mut Transaction<'_>,
    slot: &mut EventSlot,
    key: &EventKey,
    event: &StoredEvent<'_>,
) -> Result<(), Error> {
    let missing = || Error::corrupt("an event has no row");
    let row = block_of(tx, slot).ok_or_else(missing)?;
    let guard = tx.guard::<CustomerHead>(slot.customer_id).await?;
    let block: Option<EventBlock<'static>> = guard.get(tx, &row).await?;
    let mut block = block.ok_or_else(missing)?;
    let at = block.events.iter().position(|found| *found.key == *key);
    let found = at.and_then(|at| block.events.get_mut(at)).ok_or_else(missing)?;
    found.event = event.clone().into_owned();
    match guard.put_apart(tx, &row, &block) {
        Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {}
        other => return other,
    }
    let head = guard.head_mut(tx)?;
    head.accepted = head.accepted.saturating_add(1);
    slot.block = Some(head.accepted);
    let own = block_of(tx, slot).ok_or_else(missing)?;
    block.events.retain(|found| *found.key != *key);
    let alone = BlockEvent::new(key, slot.timestamp, event.clone());
    guard.put_apart(tx, &row, &block)?;
    guard.put_apart(tx, &own, &EventBlock { events: vec![alone] })
}

/// Names the row of the event in a slot; none where it is yet to be written.
pub(in crate::engine) fn block_of<'p>(
    tx: &Transaction<'_>,
    slot: &EventSlot,
) -> Option<Slot<EventBlock<'p>, CustomerHead>> {
    let EventSlot { backfill_id, customer_id, timestamp, block, .. } = slot;
    Some(event_block(tx, *backfill_id, *customer_id, Minute::of(*timestamp), (*block)?))
}

fn event_block<'p>(
    tx: &Transaction<'_>,
    source: Option<BackfillId>,
    customer: CustomerId,
    minute: Minute,
    number: u64,
) -> Slot<EventBlock<'p>, CustomerHead> {
    match source {
        Some(id) => schema::backfill_event(tx.account, id, customer, minute, number),
        None => schema::event(tx.account, customer, minute, number),
    }
}

/// Returns the rows of the minutes that a timeframe touches, of events that a backfill has
/// brought, or none.
pub(in crate::engine) fn event_blocks(
    tx: &Transaction<'_>,
    source: Option<BackfillId>,
    customer: CustomerId,
    timeframe: Timeframe,
) -> Scan {
    let limit = limits::SCAN_EVENT_BLOCKS;
    match source {
        Some(id) => schema::backfill_events(tx.account, id, customer, timeframe, limit),
        None => schema::events(tx.account, customer, timeframe, limit),
    }
}

/// Reads the minute of such a row, and its events with their places.
pub(in crate::engine) fn read_event_block(
    source: Option<BackfillId>,
    key: &Key,
    document: &Document,
) -> Result<(Minute, Vec<(EventPlace, StoredEvent<'static>)>), Error> {
    let missing = || Error::corrupt("an event has no place");
    let (minute, block) = match source {
        Some(_) => schema::read_backfill_event(key, document)?,
        None => schema::read_event(key, document)?,
    };
    let places = block
        .events
        .into_iter()
        .map(|found| Ok((found.place(minute).ok_or_else(missing)?, found.event)));
    Ok((minute, places.collect::<Result<_, Error>>()?))
}

/// How many of some events, the first of which lies in a minute, one row takes.
fn fitting(events: &[&New<'_>], minute: Minute) -> usize {
    let mut bytes = 0_usize;
    let fits = |new: &&&New<'_>| {
        bytes = bytes.saturating_add(BlockEvent::most_bytes(new.event, new.bytes));
        Minute::of(new.event.timestamp) == minute && bytes <= limits::EVENT_BLOCK_BYTES
    };
    events.iter().take_while(fits).count().max(1)
}
