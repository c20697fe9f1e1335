//! Makes figures count that were added up anew, with all that follows from it, in one commit.

use crate::{
    BackfillId, CustomerId, Error, Timeframe, Timestamp,
    alert::Cause,
    backfill::{Backfill, BackfillStatus, Correction, Effect},
    engine::{
        kernel::Transaction,
        rows::{self, outbox, subscriptions, volumes},
        time::{corrections::schedule, recount},
    },
    limits,
    schema::{self, CalendarDay, CleanUpPlace, CustomerHead, OverlayEntry, Progress},
    usage::{BucketSlot, Day, Hour},
    webhook::Body,
};

/// Makes more of a correction count for a customer, with everything that follows from it: totals,
/// alerts, credits and messages. That is all of it, unless more billing periods are concerned than
/// one commit should take.
pub(super) async fn publish(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    correction: Correction,
    until: Option<Timestamp>,
) -> Result<Option<Progress>, Error> {
    let Correction { at, backfill_id, effect } = correction;
    let backfill = rows::backfills::backfill(tx, backfill_id).await?;
    let days = Day::covering(backfill.timeframe);
    let rest = Timeframe::nothing_at(until.unwrap_or(days.start())).until(days.end());
    let next = next_days(tx, customer, rest).await?;
    let timeframe = backfill.timeframe.within(next);
    let untotalled = recount::untotalled(tx, customer, timeframe, at).await?;
    let was_built = publish_days(tx, customer, next).await?;
    if was_built {
        put_overlays(tx, customer, &backfill, next, effect).await?;
        let cause = Cause::Backfill { backfill_id };
        recount::count_corrected(tx, customer, timeframe, &untotalled, &cause, at).await?;
        if next.end() < days.end() {
            return Ok(Some(Progress::Built { correction, until: Some(next.end()) }));
        }
    }
    schedule::end_correction(tx, customer, correction).await?;
    if backfill.customer_id.is_some() {
        end_backfill(tx, &backfill, correction).await?;
    }
    let behind = CleanUpPlace::default();
    Ok(was_built.then_some(Progress::CleaningUp { correction, behind }))
}

/// Returns as many days of a timeframe, from the first one on, as do not touch more billing periods
/// of a customer's subscriptions than one step takes; one at least.
async fn next_days(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    days: Timeframe,
) -> Result<Timeframe, Error> {
    let mut starts = Vec::new();
    for entry in subscriptions::every_counting(tx, customer).await? {
        let periods = entry.subscription.periods();
        let first = periods.overlapping(days).take(limits::STEP_PERIODS.saturating_add(1));
        starts.extend(first.map(|period| Day::of(period.start().max(days.start())).start()));
    }
    starts.sort_unstable();
    let first_ends = Day::of(days.start()).end();
    let one_too_many = starts.get(limits::STEP_PERIODS);
    Ok(one_too_many
        .map_or(days, |start| Timeframe::nothing_at(days.start()).until((*start).max(first_ends))))
}

/// Turns the calendar, and tells whether any day was built.
async fn publish_days(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    days: Timeframe,
) -> Result<bool, Error> {
    let scan = schema::calendar_days(tx.account, customer, days, limits::SCAN_ROWS);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let mut was_built = false;
    for (key, document) in guard.range_all(tx, scan).await? {
        let (day, CalendarDay { bucket_slot, building }) =
            schema::read_calendar_day(&key, &document)?;
        let Some(counts) = building else { continue };
        was_built = true;
        let slot = schema::calendar(tx.account, customer, day);
        match bucket_slot.other() {
            BucketSlot::A => guard.delete(tx, &slot)?,
            bucket_slot => {
                guard.put(tx, &slot, &CalendarDay { bucket_slot, building: None })?;
            }
        }
        let hours: Vec<_> = Hour::touched_by(day.timeframe()).collect();
        volumes::fetch(tx, &guard, &hours).await?;
        for hour in hours {
            let events = counts.get(&hour.of_day()).copied();
            volumes::replace_volume(tx, &guard, hour, events).await?;
        }
    }
    Ok(was_built)
}

/// Writes that a backfill is reflected for a customer on some of its days, or removes that it was.
async fn put_overlays(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    backfill: &Backfill,
    days: Timeframe,
    effect: Effect,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let head = guard.head_mut(tx)?;
    head.is_corrected = true;
    let accepted = head.accepted;
    for day in Day::touched_by(days) {
        let overlay = schema::overlay(tx.account, customer, day, backfill.id);
        match effect {
            Effect::Reflect => {
                guard.put(tx, &overlay, &OverlayEntry { accepted })?;
            }
            Effect::Revert => guard.delete(tx, &overlay)?,
        }
    }
    let share = schema::backfill_share(tx.account, backfill.id, customer);
    let known = guard.get(tx, &share).await?.unwrap_or_default();
    guard.put(tx, &share, &known)
}

/// Says of a backfill that it is reflected or reverted for all of its customers.
pub(super) async fn end_backfill(
    tx: &mut Transaction<'_>,
    before: &Backfill,
    correction: Correction,
) -> Result<(), Error> {
    let Correction { at, effect, .. } = correction;
    let backfill_id: BackfillId = before.id;
    let mut after = before.clone();
    let body = match effect {
        Effect::Reflect => {
            after.status = BackfillStatus::Reflected;
            after.events_ingested = rows::backfills::events_ingested(tx, before).await?;
            Body::BackfillReflected { backfill_id }
        }
        Effect::Revert => {
            after.status = BackfillStatus::Reverted;
            Body::BackfillReverted { backfill_id }
        }
    };
    rows::backfills::put_backfill(tx, Some(before), &after).await?;
    outbox::tell_of_backfill(tx, &after, at, body).await
}
