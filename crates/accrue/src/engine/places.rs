use super::{standings::INSTANT, unit::Unit, visible::Brought};
use crate::{
    BackfillId, CustomerId, Error, Timeframe, Timestamp,
    expression::Fields,
    usage::{EventPlace, StoredEvent},
};

/// An event that is there: one that no backfill brought, or a reflected one.
pub(super) struct Known {
    pub(super) brought: Brought,
    /// The backfill that has replaced it.
    pub(super) hidden_by: Option<BackfillId>,
}

impl Known {
    /// Tells whether it counts unless an earlier one at its place does.
    pub(super) fn may_count(&self) -> bool {
        self.hidden_by.is_none() && !self.brought.event.deprecated
    }
}

/// The timeframe that holds one instant alone.
pub(super) fn only(at: Timestamp) -> Timeframe {
    Timeframe::nothing_at(at).until(at.saturating_add(INSTANT))
}

/// Takes the one that counts of the events at a place.
pub(super) fn counting(known: Vec<Known>) -> Option<Brought> {
    known.into_iter().find(Known::may_count).map(|known| known.brought)
}

impl Unit<'_> {
    /// Reads the events that are there at a place, the first accepted first. The caller has read the
    /// head, which guards them.
    pub(super) async fn events_at(
        &mut self,
        customer: CustomerId,
        place: &EventPlace,
    ) -> Result<Vec<Known>, Error> {
        let EventPlace { at, key } = place;
        let overlays = self.overlays(customer, only(*at)).await?;
        let sources: Vec<_> =
            [None].into_iter().chain(overlays.bringing(only(*at)).map(Some)).collect();
        let slots: Vec<_> =
            sources.iter().map(|source| self.event_slot(*source, customer, *at, key)).collect();
        let events: Vec<Option<StoredEvent<'static>>> = self.get_guarded(&slots).await?;
        let known = sources.into_iter().zip(events).filter_map(|(backfill_id, event)| {
            let event = event?;
            let fields = Fields::new(&event.event_name, *at, &event.properties);
            let hidden_by = overlays.hiding(event.accepted, backfill_id, &fields);
            Some(Known { brought: Brought { backfill_id, event }, hidden_by })
        });
        let mut known: Vec<_> = known.collect();
        known.sort_by_key(|known| known.brought.event.accepted);
        Ok(known)
    }
}
