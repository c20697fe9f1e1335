//! Events at one place: those that no backfill brought, and those of reflected backfills.

use crate::{
    BackfillId, CustomerId, Error, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{
            event_blocks,
            visible::{self, SourcedEvent},
        },
    },
    expression::Fields,
    time::INSTANT,
    usage::{EventPlace, EventSlot},
};

/// An event that is there: one that no backfill brought, or a reflected one.
pub(in crate::engine) struct Known {
    pub(in crate::engine) sourced: SourcedEvent,
    /// The backfill that has replaced it.
    pub(in crate::engine) hidden_by: Option<BackfillId>,
}

impl Known {
    /// Tells whether it counts unless an earlier one at its place does.
    pub(in crate::engine) fn may_count(&self) -> bool {
        self.hidden_by.is_none() && !self.sourced.event.deprecated
    }
}

/// The timeframe that holds one instant alone.
pub(in crate::engine) fn only(at: Timestamp) -> Timeframe {
    Timeframe::nothing_at(at).until(at.saturating_add(INSTANT))
}

/// Takes the one that counts of the events at a place.
pub(in crate::engine) fn counting(known: Vec<Known>) -> Option<SourcedEvent> {
    known.into_iter().find(Known::may_count).map(|known| known.sourced)
}

/// Reads the events that are there at a place, the first accepted first, which some slots have
/// brought.
pub(in crate::engine) async fn events_at(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    place: &EventPlace,
    slots: &[EventSlot],
) -> Result<Vec<Known>, Error> {
    let EventPlace { at, key } = place;
    let overlays = visible::overlays(tx, customer, only(*at)).await?;
    let mut known = Vec::new();
    for slot in slots {
        let EventSlot { backfill_id, customer_id, timestamp, .. } = slot;
        let is_reflected = |id: BackfillId| overlays.bringing(only(*at)).any(|by| by == id);
        let is_there =
            (*customer_id, *timestamp) == (customer, *at) && backfill_id.is_none_or(is_reflected);
        let event =
            if is_there { event_blocks::event_in_block(tx, slot, key).await? } else { None };
        let Some(event) = event else { continue };
        let fields = Fields::new(&event.event_name, *at, &event.properties);
        let hidden_by = overlays.hiding(event.accepted, *backfill_id, &fields);
        known.push(Known { sourced: SourcedEvent { backfill_id: *backfill_id, event }, hidden_by });
    }
    known.sort_by_key(|known| known.sourced.event.accepted);
    Ok(known)
}
