//! Adds the days of a backfill up anew, in bounded commits, into the bucket slot that does not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Error, Timeframe,
    backfill::{Correction, Effect, Overlays},
    engine::{
        kernel::Transaction,
        rows::{
            tallies::Indexed,
            visible::{BucketSlots, EventWalk, SourcedEvent, WalkedSlot},
        },
    },
    expression::Fields,
    limits,
    schema::{self, CalendarDay, CustomerHead, Progress},
    usage::{Day, EventPlace, Hour, Meters, Reading},
};

/// Adding up the days of a backfill beside what counts.
impl Transaction<'_> {
    /// Adds more of the events up that are to count.
    pub(super) async fn build(
        &mut self,
        customer: CustomerId,
        head: &CustomerHead,
        correction: Correction,
        behind: Option<EventPlace>,
    ) -> Result<Progress, Error> {
        let backfill = self.backfill(correction.backfill_id).await?;
        let days = Day::covering(backfill.timeframe);
        let mut overlays = self.overlays(customer, days).await?;
        let was_reflected = overlays.has(backfill.id);
        overlays.correct(&backfill, correction.effect, head.accepted);
        let is_moot = match correction.effect {
            _ if behind.is_some() => false,
            Effect::Reflect if backfill.replace_existing_events => {
                !self.has_any(customer, &overlays, backfill.timeframe).await?
            }
            Effect::Reflect => {
                let share = schema::backfill_share(self.account, backfill.id, customer);
                self.get(&share).await?.is_none()
            }
            Effect::Revert => !was_reflected,
        };
        if is_moot {
            // Nothing of the customer is concerned, and nothing that comes later will be.
            return Ok(Progress::Built { correction, until: None });
        }
        if behind.is_none() {
            self.begin_days(customer, days).await?;
        }
        let meters = self.meters().await?.since(0..=head.measured);
        let mut walk = self.walk_events_under(overlays, customer, days, behind.as_ref());
        let mut chunk = Chunk::of(&meters);
        self.fill(&mut chunk, &mut walk).await?;
        self.leave(walk).await;
        let built = self.bucket_slots(customer, days).await?.others();
        self.add_chunk(customer, &built, &chunk, Indexed::No).await?;
        self.count_hours(customer, &chunk).await?;
        Ok(match chunk.last {
            None => Progress::Built { correction, until: None },
            Some(last) => Progress::Building { correction, behind: Some(last) },
        })
    }

    /// Takes the next places of a walk until a chunk is full. Tells whether the walk has ended.
    pub(super) async fn fill(
        &self,
        chunk: &mut Chunk<'_>,
        walk: &mut EventWalk,
    ) -> Result<bool, Error> {
        while !chunk.is_full() {
            let walked = self.walk_on(walk).await?;
            if walked.is_empty() {
                return Ok(true);
            }
            for slot in walked {
                chunk.add(self, slot).await;
                if chunk.is_full() {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Marks the days as built: each of them, since one that has events now may be left without.
    async fn begin_days(&mut self, customer: CustomerId, days: Timeframe) -> Result<(), Error> {
        for day in Day::touched_by(days) {
            let slot = schema::calendar(self.account, customer, day);
            let entry = self.get(&slot).await?.unwrap_or_default();
            self.put(&slot, &CalendarDay { building: Some(BTreeMap::new()), ..entry })?;
        }
        Ok(())
    }

    /// Tells whether a customer has any event within a timeframe, hidden or not.
    async fn has_any(
        &mut self,
        customer: CustomerId,
        overlays: &Overlays,
        timeframe: Timeframe,
    ) -> Result<bool, Error> {
        let mut walk = self.walk_events_under(overlays.clone(), customer, timeframe, None);
        let has_any = !self.walk_on(&mut walk).await?.is_empty();
        self.leave(walk).await;
        Ok(has_any)
    }

    /// Adds the readings of a chunk to some bucket slots.
    pub(super) async fn add_chunk(
        &mut self,
        customer: CustomerId,
        bucket_slots: &BucketSlots,
        chunk: &Chunk<'_>,
        indexed: Indexed,
    ) -> Result<(), Error> {
        let mut all = Vec::with_capacity(chunk.readings);
        for (place, readings) in &chunk.events {
            all.extend(readings.iter().map(|reading| (place.at, reading)));
        }
        let readings = || all.iter().copied();
        let keys = self.tally_keys(customer, bucket_slots, readings(), indexed).await;
        self.fetch_guarded(&keys).await?;
        let oldest_taken = self.oldest_taken().await?;
        let mut tally =
            self.load_tally(customer, bucket_slots, readings(), indexed, oldest_taken).await?;
        for (place, readings) in &chunk.events {
            tally.add(place.at, readings);
            self.pace.spend(readings.len()).await;
        }
        self.save_tally(customer, bucket_slots, &tally, indexed).await
    }

    /// Counts the events of a chunk hour by hour, on the days that are built.
    async fn count_hours(&mut self, customer: CustomerId, chunk: &Chunk<'_>) -> Result<(), Error> {
        let days: BTreeSet<_> = chunk.hours.keys().map(|hour| Day::of(hour.start())).collect();
        for day in days {
            let slot = schema::calendar(self.account, customer, day);
            let mut entry = self.get(&slot).await?.unwrap_or_default();
            let counts = entry.building.get_or_insert_default();
            for (hour, more) in &chunk.hours {
                if Day::of(hour.start()) == day {
                    let count = counts.entry(hour.of_day()).or_default();
                    *count = count.saturating_add(*more);
                }
            }
            self.put(&slot, &entry)?;
        }
        Ok(())
    }
}

/// The events that one step adds up.
pub(super) struct Chunk<'m> {
    meters: &'m Meters,
    /// The comparisons that each event takes.
    terms_each: usize,
    pub(super) events: Vec<(EventPlace, Vec<Reading>)>,
    /// How many events count in each hour that has any, hidden ones included.
    hours: BTreeMap<Hour, u64>,
    /// The last place that was looked at.
    pub(super) last: Option<EventPlace>,
    places: usize,
    readings: usize,
    terms: usize,
}

impl<'m> Chunk<'m> {
    pub(super) fn of(meters: &'m Meters) -> Self {
        Self {
            meters,
            terms_each: meters.terms(),
            events: Vec::new(),
            hours: BTreeMap::new(),
            last: None,
            places: 0,
            readings: 0,
            terms: 0,
        }
    }

    pub(super) async fn add(&mut self, tx: &Transaction<'_>, slot: WalkedSlot) {
        let WalkedSlot { place, event } = slot;
        let count = self.hours.entry(Hour::of(place.at)).or_default();
        *count = count.saturating_add(u64::from(event.is_some()));
        self.places = self.places.saturating_add(1);
        self.last = Some(place.clone());
        if let Some(SourcedEvent { event, .. }) = event {
            let fields = Fields::new(&event.event_name, place.at, &event.properties);
            let readings = tx.readings(self.meters, &fields, &place.key).await;
            self.readings = self.readings.saturating_add(readings.len());
            self.terms = self.terms.saturating_add(self.terms_each);
            self.events.push((place, readings));
        }
    }

    /// Tells whether it is as much as one commit should take.
    pub(super) const fn is_full(&self) -> bool {
        self.places >= limits::STEP_EVENTS
            || self.readings >= limits::STEP_READINGS
            || self.terms >= limits::STEP_TERMS
    }
}
