use std::collections::BTreeMap;

use super::{Backfill, BackfillStatus};
use crate::{
    BackfillId, Timestamp, limits,
    usage::{Carrier, EventKeyEntry},
};

/// Where the key of an event may come again: the backfills that brought events under it, and the one
/// that brings it now.
///
/// A key is one event's: never do two count that have it. Within a backfill, and outside of all, it
/// comes once. Otherwise it may come again at the same place, where the first accepted counts; and at
/// another one where a backfill hides all that was there, so that both can never count together.
pub(crate) struct KeyRules<'b> {
    pub(crate) into: Option<&'b Backfill>,
    /// The backfills of all carriers.
    pub(crate) others: BTreeMap<BackfillId, Backfill>,
    pub(crate) now: Timestamp,
}

/// What the key of an event says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is new here.
    New,
    /// It is here already, with the same content.
    Duplicate,
    /// Another event has the key.
    Taken,
    /// The event with the key was deprecated.
    Deprecated,
    /// The key came too often.
    Worn,
}

impl KeyRules<'_> {
    /// Judges a carrier of a key.
    pub(crate) fn judge(&self, entry: &EventKeyEntry, new: &Carrier) -> Verdict {
        if entry.carriers.iter().any(|carrier| carrier.deprecated) {
            return Verdict::Deprecated;
        }
        if let Some(own) = entry.carried_by(new.backfill_id) {
            return if own.content == new.content { Verdict::Duplicate } else { Verdict::Taken };
        }
        let mut live = entry.carriers.iter().filter(|carrier| !self.is_reverted(carrier));
        let count = live.clone().count();
        match live.all(|old| self.can_stand_beside(old, new)) {
            false => Verdict::Taken,
            true if count >= limits::CARRIERS => Verdict::Worn,
            true => Verdict::New,
        }
    }

    /// Adds a carrier that is new. Those of reverted backfills are never asked for again.
    pub(crate) fn add(&self, mut entry: EventKeyEntry, new: Carrier) -> EventKeyEntry {
        entry.carriers.retain(|carrier| !self.is_reverted(carrier));
        entry.carriers.push(new);
        entry
    }

    fn can_stand_beside(&self, old: &Carrier, new: &Carrier) -> bool {
        let is_hidden = |by: &Backfill, of: &Carrier| by.surely_hides(of.customer_id, of.timestamp);
        let is_new_hidden = || {
            let by = old.backfill_id.and_then(|id| self.others.get(&id));
            // One that closes later hides what is there by then.
            let by = by.filter(|by| by.is_taking(self.now));
            new.backfill_id.is_none() && by.is_some_and(|by| is_hidden(by, new))
        };
        let is_same_place = (old.customer_id, old.timestamp) == (new.customer_id, new.timestamp);
        is_same_place || self.into.is_some_and(|by| is_hidden(by, old)) || is_new_hidden()
    }

    fn is_reverted(&self, carrier: &Carrier) -> bool {
        let by = carrier.backfill_id.and_then(|id| self.others.get(&id));
        by.is_some_and(|by| by.status == BackfillStatus::Reverted)
    }
}
