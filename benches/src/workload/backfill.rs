use std::time::Duration;

use accrue::{
    BackfillId, Timeframe, Timestamp,
    backfill::{BackfillStatus, NewBackfill},
    limits,
    usage::Event,
};
use pollster::block_on;

use super::Workload;
use crate::{BATCH, Outcome};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How many events of a backfill go in at once.
const TOGETHER: usize = limits::BATCH_EVENTS;

/// A day of the first customer, and a backfill of it.
impl Workload {
    /// Ingests so many events, rounded up to whole batches, over the next days. Those that follow come
    /// after these days.
    ///
    /// # Errors
    ///
    /// If the store fails, or the events are so few that a batch of them lasts longer than a day.
    pub fn ingest_days(&mut self, days: u32, events: u64) -> Outcome<()> {
        let end = self.next.saturating_add(DAY * days);
        let events = events.next_multiple_of(BATCH);
        self.step = DAY * days / u32::try_from(events.max(1))?;
        if self.step * u32::try_from(BATCH)? > DAY {
            return Err(format!("found {events} events in {days} days, expected more").into());
        }
        self.ingest_until(self.events + events)?;
        self.next = end;
        Ok(())
    }

    /// Ingests so many events of the first customer, and of nobody else, over the next day. Returns
    /// the day.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn ingest_day_of_first(&mut self, events: u64) -> Outcome<Timeframe> {
        let day = Timeframe::new(self.next, self.next.saturating_add(DAY))?;
        for batch in self.events_of_first("first", day, events)?.chunks(usize::try_from(BATCH)?) {
            self.clock.set(batch.last().map_or(day.start(), |event| event.timestamp));
            self.ingest(batch.to_vec())?;
        }
        self.next = day.end();
        Ok(day)
    }

    /// Creates a backfill of a day of the first customer, two days after the last event, and ingests
    /// so many events into it: they take the place of those that are there.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn backfill_day_of_first(&self, day: Timeframe, events: u64) -> Outcome<BackfillId> {
        self.clock.set(self.next.saturating_add(DAY * 2));
        let customer = self.customers.first().ok_or("no customer")?;
        let mut new = NewBackfill::new(day);
        new.customer = Some(customer.clone().into());
        let id = block_on(self.account.create_backfill(new).into_future())?.id;
        for batch in self.events_of_first("backfilled", day, events)?.chunks(TOGETHER) {
            block_on(self.account.ingest_backfill(id, batch.to_vec()).into_future())?;
        }
        self.apply_transitions()?;
        Ok(id)
    }

    /// Closes a backfill, and waits until it counts and nothing of it is left to do.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn reflect(&self, id: BackfillId) -> Outcome<()> {
        block_on(self.account.close_backfill(id).into_future())?;
        self.apply_backfill(id, BackfillStatus::Reflected)
    }

    /// Reverts a backfill, and waits until it counts no longer and nothing of it is left to do.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn revert(&self, id: BackfillId) -> Outcome<()> {
        block_on(self.account.revert_backfill(id).into_future())?;
        self.apply_backfill(id, BackfillStatus::Reverted)
    }

    fn apply_backfill(&self, id: BackfillId, expected: BackfillStatus) -> Outcome<()> {
        self.apply_transitions()?;
        match block_on(self.account.fetch_backfill(id))?.status {
            found if found == expected => Ok(()),
            found => Err(format!("found the backfill {found:?}, expected {expected:?}").into()),
        }
    }

    fn apply_transitions(&self) -> Outcome<()> {
        loop {
            let tick = block_on(self.account.billing().tick(limits::SCAN_ROWS))?;
            if tick.failed > 0 {
                return Err("found something due that cannot be applied".into());
            }
            if !tick.more {
                return Ok(());
            }
        }
    }

    fn events_of_first(&self, key: &str, day: Timeframe, events: u64) -> Outcome<Vec<Event>> {
        let step = DAY / u32::try_from(events.max(1))?;
        let at = |number| -> Outcome<Timestamp> {
            Ok(day.start().saturating_add(step * u32::try_from(number)?))
        };
        (0..events).map(|number| self.event(key, number, at(number)?, 0)).collect()
    }
}
