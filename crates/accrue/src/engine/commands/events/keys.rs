//! Keys of events that have come before (`docs/decisions/keys-of-backfilled-events.md`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    Error, EventKey,
    backfill::{Backfill, KeyRules, Verdict},
    engine::{
        kernel::Transaction,
        rows::{
            self,
            event_blocks::{self, New},
            places::{self, counting},
        },
    },
    limits, schema,
    usage::{Event, EventKeyEntry, EventPlace, StoredEvent},
};

/// Returns the rules of the backfills that the entries of some keys name.
pub(super) async fn rules<'b>(
    tx: &mut Transaction<'_>,
    entries: &[Option<EventKeyEntry>],
    into: Option<&'b Backfill>,
) -> Result<KeyRules<'b>, Error> {
    let slots = entries.iter().flatten().flat_map(|entry| &entry.slots);
    let ids: BTreeSet<_> = slots.filter_map(|slot| slot.backfill_id).collect();
    let backfills: Vec<_> = ids.iter().map(|id| schema::backfill(tx.account, *id)).collect();
    let found = tx.get_all(&backfills).await?;
    let missing = || Error::corrupt("a key names no backfill");
    let others = ids.into_iter().zip(found).map(|(id, found)| Ok((id, found.ok_or_else(missing)?)));
    let others = others.collect::<Result<BTreeMap<_, _>, Error>>()?;
    let mut begun = BTreeSet::new();
    if others.values().any(|other| other.customer_id.is_none()) {
        let all = rows::corrections::of_all(tx).await?;
        let all = all.corrections.iter().filter(|of| of.has_begun);
        begun.extend(all.map(|of| of.correction.backfill_id));
    }
    Ok(KeyRules { into, others, begun, now: tx.now })
}

/// Reads the events that were brought before under the keys of some others, from the same source.
pub(super) async fn earlier<'e>(
    tx: &mut Transaction<'_>,
    events: impl Iterator<Item = &'e Event>,
    entries: &[Option<EventKeyEntry>],
    into: Option<&Backfill>,
) -> Result<HashMap<&'e EventKey, StoredEvent<'static>>, Error> {
    let source = into.map(|backfill| backfill.id);
    let wanted = events.zip(entries).filter_map(|(event, entry)| {
        Some((entry.as_ref()?.slot_of(source)?, &event.idempotency_key))
    });
    let wanted: Vec<_> = wanted.collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    event_blocks::events_in_blocks(tx, &wanted).await
}

/// Returns the reason why a key is refused.
pub(super) fn reason(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::New | Verdict::Duplicate => None,
        Verdict::Taken => Some("idempotency_key: another event has this key".to_owned()),
        Verdict::Deprecated => {
            Some("idempotency_key: the event with this key was deprecated".to_owned())
        }
        Verdict::Worn => Some(format!(
            "idempotency_key: {} backfills have brought events with this key",
            limits::EVENT_SLOTS
        )),
    }
}

/// Finds the new events of no backfill that do not count, since the event of a backfill counts at the
/// same place. The transitions of their customers are applied, and the heads were read.
pub(super) async fn find_brought(
    tx: &mut Transaction<'_>,
    new: &mut [New<'_>],
) -> Result<(), Error> {
    for new in new {
        // Only a key that has come before costs anything.
        if new.entry.slots.len() > 1 {
            new.counts = !is_brought(tx, new).await?;
        }
    }
    Ok(())
}

/// Tells whether the event of a backfill counts at the place of an event.
async fn is_brought(tx: &mut Transaction<'_>, new: &New<'_>) -> Result<bool, Error> {
    let place = EventPlace { at: new.event.timestamp, key: new.event.idempotency_key.clone() };
    Ok(counting(places::events_at(tx, new.customer_id, &place, &new.entry.slots).await?).is_some())
}
