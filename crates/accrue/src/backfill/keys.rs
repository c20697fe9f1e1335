use std::collections::{BTreeMap, BTreeSet};

use super::{Backfill, BackfillStatus};
use crate::{
    BackfillId, Timestamp, limits,
    usage::{EventKeyEntry, EventSlot},
};

/// Rules for the key of an event that comes again: the backfills that brought events under it, and
/// the one that brings it now.
///
/// A key is one event's: never do two count that have it. Within a backfill, and outside of all, it
/// comes once. Otherwise it may come again at the same place, where the first accepted counts; and at
/// another one where a backfill hides all that was there, so that both can never count together.
pub(crate) struct KeyRules<'b> {
    pub(crate) into: Option<&'b Backfill>,
    /// The backfills of all slots.
    pub(crate) others: BTreeMap<BackfillId, Backfill>,
    /// Backfills of `others` that are being reflected or reverted, whatever the time is here.
    pub(crate) begun: BTreeSet<BackfillId>,
    pub(crate) now: Timestamp,
}

/// Verdict on an event by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// New here.
    New,
    /// Here already, with the same content.
    Duplicate,
    /// Another event has the key.
    Taken,
    /// The event with the key was deprecated.
    Deprecated,
    /// The key came too often.
    Worn,
}

impl KeyRules<'_> {
    /// Judges a slot of a key. Whether an event there says the same is asked of one that was brought to
    /// the same place, from the same source.
    pub(crate) fn judge(
        &self,
        entry: &EventKeyEntry,
        new: &EventSlot,
        says_the_same: impl FnOnce() -> bool,
    ) -> Verdict {
        if entry.slots.iter().any(|slot| slot.deprecated) {
            return Verdict::Deprecated;
        }
        if let Some(own) = entry.slot_of(new.backfill_id) {
            let is_same = own.is_where(new) && says_the_same();
            return if is_same { Verdict::Duplicate } else { Verdict::Taken };
        }
        let mut live = entry.slots.iter().filter(|slot| !self.is_reverted(slot));
        let count = live.clone().count();
        match live.all(|old| self.can_stand_beside(old, new)) {
            false => Verdict::Taken,
            true if count >= limits::EVENT_SLOTS => Verdict::Worn,
            true => Verdict::New,
        }
    }

    /// Adds a slot that is new. Those of reverted backfills are never asked for again.
    pub(crate) fn add(&self, mut entry: EventKeyEntry, new: EventSlot) -> EventKeyEntry {
        entry.slots.retain(|slot| !self.was_reverted(slot));
        entry.slots.push(new);
        entry
    }

    fn can_stand_beside(&self, old: &EventSlot, new: &EventSlot) -> bool {
        let is_hidden =
            |by: &Backfill, of: &EventSlot| by.surely_hides(of.customer_id, of.timestamp);
        let is_new_hidden = || {
            let by = old.backfill_id.and_then(|id| self.others.get(&id));
            // One that closes later hides what is there by then.
            let by = by.filter(|by| by.is_taking(self.now) && !self.begun.contains(&by.id));
            new.backfill_id.is_none() && by.is_some_and(|by| is_hidden(by, new))
        };
        old.is_where(new) || self.into.is_some_and(|by| is_hidden(by, old)) || is_new_hidden()
    }

    /// Tells whether a slot was reverted, for all customers.
    fn was_reverted(&self, slot: &EventSlot) -> bool {
        let by = slot.backfill_id.and_then(|id| self.others.get(&id));
        by.is_some_and(|by| by.status == BackfillStatus::Reverted)
    }

    /// Tells whether a slot was reverted, or is about to be: whatever somebody has done about it
    /// already.
    fn is_reverted(&self, slot: &EventSlot) -> bool {
        let by = slot.backfill_id.and_then(|id| self.others.get(&id));
        by.is_some_and(|by| {
            matches!(by.status, BackfillStatus::PendingRevert | BackfillStatus::Reverted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CustomerId, Timeframe, backfill::NewBackfill};

    const ADA: CustomerId = CustomerId::from_bytes([1; 16]);
    const BOB: CustomerId = CustomerId::from_bytes([2; 16]);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    /// A backfill from the 10th second up to the 20th, for a customer or for all.
    fn backfill(id: u8, customer_id: Option<CustomerId>, status: BackfillStatus) -> Backfill {
        let timeframe = Timeframe::new(at(10), at(20)).unwrap();
        let new =
            NewBackfill::new(timeframe).decide(BackfillId::from_bytes([id; 16]), None, at(30));
        Backfill { customer_id, status, ..new }
    }

    fn slot(by: Option<&Backfill>, customer_id: CustomerId, second: i64) -> EventSlot {
        let (backfill_id, timestamp) = (by.map(|by| by.id), at(second));
        EventSlot { backfill_id, customer_id, timestamp, deprecated: false, block: None }
    }

    fn judge(
        into: Option<&Backfill>,
        others: &[&Backfill],
        slots: Vec<EventSlot>,
        new: &EventSlot,
    ) -> Verdict {
        let others = others.iter().map(|of| (of.id, (*of).clone())).collect();
        let rules = KeyRules { into, others, begun: BTreeSet::new(), now: at(30) };
        rules.judge(&EventKeyEntry { slots: slots.into() }, new, || true)
    }

    #[test]
    fn what_says_the_same_at_the_same_place_is_a_duplicate() {
        let check = |old: EventSlot, says_the_same: bool, expect| {
            let rules = KeyRules {
                into: None,
                others: BTreeMap::new(),
                begun: BTreeSet::new(),
                now: at(30),
            };
            let entry = EventKeyEntry { slots: [old].into() };
            let verdict = rules.judge(&entry, &slot(None, ADA, 15), || says_the_same);
            assert_eq!(verdict, expect);
        };
        check(slot(None, ADA, 15), true, Verdict::Duplicate);
        check(slot(None, ADA, 15), false, Verdict::Taken);
        check(slot(None, ADA, 16), true, Verdict::Taken);
        check(slot(None, BOB, 15), true, Verdict::Taken);
    }

    #[test]
    fn a_deprecated_key_is_never_taken_again() {
        let own = backfill(1, None, BackfillStatus::Pending);
        let reverted = backfill(2, None, BackfillStatus::Reverted);
        for (by, into) in [(None, None), (None, Some(&own)), (Some(&reverted), None)] {
            let mut old = slot(by, ADA, 15);
            old.deprecated = true;
            let same = EventSlot { deprecated: false, ..slot(into, ADA, 15) };
            let verdict = judge(into, &[&reverted], vec![old], &same);
            assert_eq!(verdict, Verdict::Deprecated);
        }
    }

    #[test]
    fn two_that_can_count_together_never_share_a_key() {
        use BackfillStatus::{Pending, PendingRevert, Reflected, Reverted};
        let for_all = backfill(1, None, Pending);
        let for_ada = backfill(1, Some(ADA), Pending);
        // SourcedEvent by a backfill of a status, at (bob, 15).
        let check = |status, into: Option<&Backfill>, new: (CustomerId, i64), expect| {
            let other = backfill(2, None, status);
            let old = slot(Some(&other), BOB, 15);
            let new = slot(into, new.0, new.1);
            let verdict = judge(into, &[&other], vec![old], &new);
            assert_eq!(verdict, expect, "{status:?} {new:?}");
        };
        check(PendingRevert, None, (ADA, 15), Verdict::New);
        for status in [Pending, Reflected] {
            check(status, None, (BOB, 15), Verdict::New);
            check(status, Some(&for_ada), (BOB, 15), Verdict::New);
            check(status, Some(&for_ada), (ADA, 15), Verdict::Taken);
            check(status, Some(&for_all), (ADA, 15), Verdict::New);
            check(status, None, (ADA, 20), Verdict::Taken);
        }
        check(Pending, None, (ADA, 15), Verdict::New);
        check(Reflected, None, (ADA, 15), Verdict::Taken);
        check(Reverted, None, (ADA, 20), Verdict::New);
        check(Reverted, Some(&for_ada), (ADA, 15), Verdict::New);
    }

    #[test]
    fn every_carrier_has_its_say() {
        let own = backfill(1, None, BackfillStatus::Pending);
        let before = slot(None, ADA, 15);
        let late = slot(Some(&backfill(2, None, BackfillStatus::Reflected)), ADA, 25);
        let new = slot(Some(&own), ADA, 12);
        assert_eq!(judge(Some(&own), &[], vec![before.clone()], &new), Verdict::New);
        assert_eq!(judge(Some(&own), &[], vec![before, late], &new), Verdict::Taken);
    }

    #[test]
    fn a_key_comes_so_often() {
        let own = backfill(0, None, BackfillStatus::Pending);
        let new = slot(Some(&own), ADA, 15);
        let check = |count: usize, status, expect| {
            let nth = |n: usize| backfill(u8::try_from(n + 1).unwrap(), None, status);
            let others: Vec<_> = (0..count).map(nth).collect();
            let slots = others.iter().map(|of| slot(Some(of), ADA, 15)).collect();
            let verdict = judge(Some(&own), &others.iter().collect::<Vec<_>>(), slots, &new);
            assert_eq!(verdict, expect, "{count} {status:?}");
        };
        check(limits::EVENT_SLOTS - 1, BackfillStatus::Reflected, Verdict::New);
        check(limits::EVENT_SLOTS, BackfillStatus::Reflected, Verdict::Worn);
        check(limits::EVENT_SLOTS, BackfillStatus::Reverted, Verdict::New);
    }
}
