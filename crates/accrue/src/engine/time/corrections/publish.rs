//! Makes figures count that were added up anew, with all that follows from it, in one commit.

use crate::{
    BackfillId, CustomerId, Error, Timeframe, Timestamp,
    alert::Cause,
    backfill::{Backfill, BackfillStatus, Correction, Effect},
    engine::kernel::Transaction,
    limits,
    schema::{self, CalendarDay, CleanUpPlace, EventCount, OverlayEntry, Progress},
    usage::{BucketSlot, Day, Hour},
    webhook::Body,
};

/// Making what was built count.
impl Transaction<'_> {
    /// Makes more of a correction count for a customer, with everything that follows from it: totals,
    /// alerts, credits and messages. That is all of it, unless more billing periods are concerned than
    /// one commit should take.
    pub(super) async fn publish(
        &mut self,
        customer: CustomerId,
        correction: Correction,
        until: Option<Timestamp>,
    ) -> Result<Option<Progress>, Error> {
        let Correction { at, backfill_id, effect } = correction;
        let backfill = self.backfill(backfill_id).await?;
        let days = Day::covering(backfill.timeframe);
        let rest = Timeframe::nothing_at(until.unwrap_or(days.start())).until(days.end());
        let next = self.next_days(customer, rest).await?;
        let timeframe = backfill.timeframe.within(next);
        let untotalled = self.untotalled(customer, timeframe, at).await?;
        let was_built = self.publish_days(customer, next).await?;
        if was_built {
            self.put_overlays(customer, &backfill, next, effect).await?;
            let cause = Cause::Backfill { backfill_id };
            self.count_corrected(customer, timeframe, &untotalled, &cause, at).await?;
            if next.end() < days.end() {
                return Ok(Some(Progress::Built { correction, until: Some(next.end()) }));
            }
        }
        self.end_correction(customer, correction).await?;
        if backfill.customer_id.is_some() {
            self.end_backfill(&backfill, correction).await?;
        }
        let behind = CleanUpPlace::default();
        Ok(was_built.then_some(Progress::CleaningUp { correction, behind }))
    }

    /// Returns as many days of a timeframe, from the first one on, as do not touch more billing periods
    /// of a customer's subscriptions than one step takes; one at least.
    async fn next_days(
        &mut self,
        customer: CustomerId,
        days: Timeframe,
    ) -> Result<Timeframe, Error> {
        let mut starts = Vec::new();
        for entry in self.every_subscription(customer).await? {
            let periods = entry.subscription.periods();
            let first = periods.overlapping(days).take(limits::STEP_PERIODS.saturating_add(1));
            starts.extend(first.map(|period| Day::of(period.start().max(days.start())).start()));
        }
        starts.sort_unstable();
        let first_ends = Day::of(days.start()).end();
        let one_too_many = starts.get(limits::STEP_PERIODS);
        Ok(one_too_many.map_or(days, |start| {
            Timeframe::nothing_at(days.start()).until((*start).max(first_ends))
        }))
    }

    /// Turns the calendar, and tells whether any day was built.
    async fn publish_days(&mut self, customer: CustomerId, days: Timeframe) -> Result<bool, Error> {
        let scan = schema::calendar_days(self.account, customer, days, limits::SCAN_ROWS);
        let mut was_built = false;
        for (key, document) in self.range_all(scan).await? {
            let (day, CalendarDay { bucket_slot, building }) =
                schema::read_calendar_day(&key, &document)?;
            let Some(counts) = building else { continue };
            was_built = true;
            let slot = schema::calendar(self.account, customer, day);
            match bucket_slot.other() {
                BucketSlot::A => self.delete(&slot),
                bucket_slot => self.put(&slot, &CalendarDay { bucket_slot, building: None })?,
            }
            let hours: Vec<_> = Hour::touched_by(day.timeframe()).collect();
            let slots: Vec<_> = hours
                .iter()
                .map(|hour| schema::event_volume(self.account, *hour, customer))
                .collect();
            let stored = self.get_guarded(&slots).await?;
            for ((hour, slot), stored) in hours.iter().zip(&slots).zip(stored) {
                match counts.get(&hour.of_day()) {
                    Some(events) => self.put(slot, &EventCount { events: *events })?,
                    None if stored.is_some() => self.delete(slot),
                    None => {}
                }
            }
        }
        Ok(was_built)
    }

    /// Writes that a backfill is reflected for a customer on some of its days, or removes that it was.
    async fn put_overlays(
        &mut self,
        customer: CustomerId,
        backfill: &Backfill,
        days: Timeframe,
        effect: Effect,
    ) -> Result<(), Error> {
        let slot = schema::customer_head(self.account, customer);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        head.is_corrected = true;
        self.put(&slot, &head)?;
        for day in Day::touched_by(days) {
            let overlay = schema::overlay(self.account, customer, day, backfill.id);
            match effect {
                Effect::Reflect => self.put(&overlay, &OverlayEntry { accepted: head.accepted })?,
                Effect::Revert => self.delete(&overlay),
            }
        }
        let share = schema::backfill_share(self.account, backfill.id, customer);
        let known = self.get(&share).await?.unwrap_or_default();
        self.put(&share, &known)
    }

    /// Says of a backfill that it is reflected or reverted for all of its customers.
    pub(super) async fn end_backfill(
        &mut self,
        before: &Backfill,
        correction: Correction,
    ) -> Result<(), Error> {
        let Correction { at, effect, .. } = correction;
        let backfill_id: BackfillId = before.id;
        let mut after = before.clone();
        let body = match effect {
            Effect::Reflect => {
                after.status = BackfillStatus::Reflected;
                after.events_ingested = self.events_ingested(before).await?;
                Body::BackfillReflected { backfill_id }
            }
            Effect::Revert => {
                after.status = BackfillStatus::Reverted;
                Body::BackfillReverted { backfill_id }
            }
        };
        self.put_backfill(Some(before), &after).await?;
        self.tell_of_backfill(&after, at, body).await
    }
}
