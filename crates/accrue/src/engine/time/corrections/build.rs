//! Adds the days of a backfill up anew, in bounded commits, into the bucket slot that does not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Error, Pace, Timeframe,
    backfill::{Correction, Effect, Overlays},
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self,
            tallies::{self, Indexed, TallyPlaces},
            visible::{self, BucketSlots, EventWalk, SourcedEvent, WalkedSlot},
        },
    },
    expression::Fields,
    limits,
    meter::KnownIds,
    schema::{self, CalendarDay, CustomerHead, Progress},
    usage::{Day, EventPlace, Hour, Meters, Reading},
};

/// Adds more of the events up that are to count, beside what counts.
pub(super) async fn build(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    head: &CustomerHead,
    correction: Correction,
    behind: Option<EventPlace>,
) -> Result<Progress, Error> {
    let backfill = rows::backfills::backfill(tx, correction.backfill_id).await?;
    let days = Day::covering(backfill.timeframe);
    let mut overlays = visible::overlays(tx, customer, days).await?;
    let was_reflected = overlays.has(backfill.id);
    overlays.correct(&backfill, correction.effect, head.accepted);
    let is_moot = match correction.effect {
        _ if behind.is_some() => false,
        Effect::Reflect if backfill.replace_existing_events => {
            !has_any(tx, customer, &overlays, backfill.timeframe).await?
        }
        Effect::Reflect => {
            let share = schema::backfill_share(tx.account, backfill.id, customer);
            let guard = tx.guard::<CustomerHead>(customer).await?;
            guard.get(tx, &share).await?.is_none()
        }
        Effect::Revert => !was_reflected,
    };
    if is_moot {
        // Nothing of the customer is concerned, and nothing that comes later will be.
        return Ok(Progress::Built { correction, until: None });
    }
    if behind.is_none() {
        begin_days(tx, customer, days).await?;
    }
    let meters = rows::metrics::meters(tx).await?.since(0..=head.measured);
    let mut walk =
        visible::walk_events_under(tx, overlays, customer, days, behind.as_ref()).await?;
    let mut chunk = Chunk::of(&meters);
    fill(tx, &mut chunk, &mut walk).await?;
    visible::leave(tx, walk).await;
    let built = visible::bucket_slots(tx, customer, days).await?.others();
    add_chunk(tx, customer, &built, &chunk, Indexed::No).await?;
    count_hours(tx, customer, &chunk).await?;
    Ok(match chunk.last {
        None => Progress::Built { correction, until: None },
        Some(last) => Progress::Building { correction, behind: Some(last) },
    })
}

/// Takes the next places of a walk until a chunk is full. Tells whether the walk has ended.
pub(super) async fn fill(
    tx: &Transaction<'_>,
    chunk: &mut Chunk<'_>,
    walk: &mut EventWalk,
) -> Result<bool, Error> {
    while !chunk.is_full() {
        let walked = visible::walk_on(tx, walk).await?;
        if walked.is_empty() {
            return Ok(true);
        }
        for slot in walked {
            chunk.add(tx, slot).await;
            if chunk.is_full() {
                break;
            }
        }
    }
    Ok(false)
}

/// Marks the days as built: each of them, since one that has events now may be left without.
async fn begin_days(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    days: Timeframe,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    for day in Day::touched_by(days) {
        let slot = schema::calendar(tx.account, customer, day);
        let entry = guard.get(tx, &slot).await?.unwrap_or_default();
        guard.put(tx, &slot, &CalendarDay { building: Some(BTreeMap::new()), ..entry })?;
    }
    Ok(())
}

/// Tells whether a customer has any event within a timeframe, hidden or not.
async fn has_any(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    overlays: &Overlays,
    timeframe: Timeframe,
) -> Result<bool, Error> {
    let mut walk =
        visible::walk_events_under(tx, overlays.clone(), customer, timeframe, None).await?;
    let has_any = !visible::walk_on(tx, &mut walk).await?.is_empty();
    visible::leave(tx, walk).await;
    Ok(has_any)
}

/// Adds the readings of a chunk to some bucket slots.
pub(super) async fn add_chunk(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    chunk: &Chunk<'_>,
    indexed: Indexed,
) -> Result<(), Error> {
    let mut places = TallyPlaces::default();
    for (place, readings) in &chunk.events {
        tx.pace.spend(Pace::KEY.saturating_mul(readings.len())).await;
        places.add(place.at, readings);
    }
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let head = guard.head(tx)?;
    let keys = tallies::tally_keys(tx, &head, customer, bucket_slots, &places, indexed);
    Guard::fetch(tx, keys.iter().map(|key| (&guard, key))).await?;
    let oldest_taken = rows::account::oldest_taken(tx).await?;
    let mut tally =
        tallies::load_tally(tx, &head, customer, bucket_slots, &places, indexed, oldest_taken)
            .await?;
    drop(head);
    for (place, readings) in &chunk.events {
        tally.add(place.at, readings);
        tx.pace.spend(readings.len()).await;
    }
    tallies::save_tally(tx, customer, bucket_slots, tally, indexed).await
}

/// Counts the events of a chunk hour by hour, on the days that are built.
async fn count_hours(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    chunk: &Chunk<'_>,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let days: BTreeSet<_> = chunk.hours.keys().map(|hour| Day::of(hour.start())).collect();
    for day in days {
        let slot = schema::calendar(tx.account, customer, day);
        let mut entry = guard.get(tx, &slot).await?.unwrap_or_default();
        let counts = entry.building.get_or_insert_default();
        for (hour, more) in &chunk.hours {
            if Day::of(hour.start()) == day {
                let count = counts.entry(hour.of_day()).or_default();
                *count = count.saturating_add(*more);
            }
        }
        guard.put(tx, &slot, &entry)?;
    }
    Ok(())
}

/// The events that one step adds up.
pub(super) struct Chunk<'m> {
    meters: &'m Meters,
    /// The comparisons that each event takes.
    terms_each: usize,
    known: KnownIds,
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
            known: KnownIds::default(),
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
            let readings =
                visible::readings(tx, self.meters, &mut self.known, &fields, &place.key).await;
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
