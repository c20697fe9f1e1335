//! Which events count, in a walk over a timeframe, and which bucket slot does.

use std::collections::BTreeMap;

use crate::{
    BackfillId, CustomerId, Error, EventKey, Pace, Timeframe,
    backfill::{Overlay, Overlays},
    engine::{
        kernel::{Guard, Transaction},
        rows::event_blocks,
    },
    expression::Fields,
    limits,
    meter::KnownIds,
    schema::{self, CustomerHead},
    store::Scan,
    usage::{BucketSlot, Day, EventPlace, Meters, Minute, Reading, StoredEvent, Window},
};

/// A place at which a customer has events.
pub(in crate::engine) struct WalkedSlot {
    pub(in crate::engine) place: EventPlace,
    /// The one that counts: of those that are neither deprecated nor hidden, the first accepted.
    pub(in crate::engine) event: Option<SourcedEvent>,
}

/// An event, and the backfill that brought it.
pub(in crate::engine) struct SourcedEvent {
    pub(in crate::engine) backfill_id: Option<BackfillId>,
    pub(in crate::engine) event: StoredEvent<'static>,
}

/// A walk over the places at which a customer has events, in order.
pub(in crate::engine) struct EventWalk {
    guard: Guard<CustomerHead>,
    overlays: Overlays,
    timeframe: Timeframe,
    behind: Option<EventPlace>,
    sources: Vec<Source>,
}

/// How many places a walk goes on by at once.
const WALKED_SLOTS: usize = 256;

/// The events that one backfill has brought, or none: what is still to be read of them, and what was
/// read and not passed.
struct Source {
    backfill_id: Option<BackfillId>,
    rest: Option<Scan>,
    ahead: BTreeMap<EventPlace, StoredEvent<'static>>,
    /// The minute of the last row that was read: the next row may have more of its events.
    minute: Option<Minute>,
}

impl Source {
    /// Tells whether there may be more, which is still to be read and comes before what was read.
    fn has_run_out(&self) -> bool {
        let is_whole = |place: &EventPlace| self.minute != Some(Minute::of(place.at));
        self.rest.is_some() && !self.next().is_some_and(is_whole)
    }

    fn next(&self) -> Option<&EventPlace> {
        self.ahead.first_key_value().map(|(place, _)| place)
    }

    /// Takes the event of a place where it is the next one.
    fn take(&mut self, place: &EventPlace) -> Option<StoredEvent<'static>> {
        let first = self.ahead.first_entry().filter(|first| first.key() == place)?;
        Some(first.remove())
    }
}

/// Bucket slot that counts on each day of a timeframe, or is built.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct BucketSlots {
    counting: BTreeMap<Day, BucketSlot>,
    is_built: bool,
}

impl BucketSlots {
    /// The others: those that are built while these count, or were what counted before these.
    pub(in crate::engine) fn others(self) -> Self {
        Self { is_built: !self.is_built, ..self }
    }

    /// Returns the bucket slot of a window.
    pub(in crate::engine) fn of(&self, window: Window) -> BucketSlot {
        let counting = self.counting.get(&Day::of(window.start())).copied().unwrap_or_default();
        if self.is_built { counting.other() } else { counting }
    }
}

/// Reads which bucket slots count within a timeframe.
pub(in crate::engine) async fn bucket_slots(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    timeframe: Timeframe,
) -> Result<BucketSlots, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    if !guard.head(tx)?.is_corrected {
        return Ok(BucketSlots::default());
    }
    let scan = schema::calendar_days(tx.account, customer, timeframe, limits::SCAN_ROWS);
    let rows = guard.range_all(tx, scan).await?;
    let days = rows.iter().map(|(key, document)| {
        let (day, entry) = schema::read_calendar_day(key, document)?;
        Ok((day, entry.bucket_slot))
    });
    Ok(BucketSlots { counting: days.collect::<Result<_, Error>>()?, is_built: false })
}

/// Reads the backfills that are reflected within a timeframe.
pub(in crate::engine) async fn overlays(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    timeframe: Timeframe,
) -> Result<Overlays, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    if !guard.head(tx)?.is_corrected {
        return Ok(Overlays::default());
    }
    let scan = schema::overlays(tx.account, customer, timeframe, limits::SCAN_ROWS);
    let mut entries = BTreeMap::new();
    for (key, document) in guard.range_all(tx, scan).await? {
        let (id, entry) = schema::read_overlay(&key, &document)?;
        entries.insert(id, entry);
    }
    let slots: Vec<_> = entries.keys().map(|id| schema::backfill(tx.account, *id)).collect();
    let backfills = guard.get_all(tx, &slots).await?;
    let overlays = entries.into_values().zip(backfills).map(|(entry, backfill)| {
        let missing = || Error::corrupt("an overlay names no backfill");
        Ok(Overlay { accepted: entry.accepted, backfill: backfill.ok_or_else(missing)? })
    });
    Ok(Overlays(overlays.collect::<Result<_, Error>>()?))
}

/// Begins a walk over the places of a timeframe at which a customer has events: behind one of
/// them, or with the first.
pub(in crate::engine) async fn walk_events(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    timeframe: Timeframe,
    behind: Option<&EventPlace>,
) -> Result<EventWalk, Error> {
    let overlays = overlays(tx, customer, timeframe).await?;
    walk_events_under(tx, overlays, customer, timeframe, behind).await
}

/// The same where other backfills were reflected than there are.
pub(in crate::engine) async fn walk_events_under(
    tx: &mut Transaction<'_>,
    overlays: Overlays,
    customer: CustomerId,
    timeframe: Timeframe,
    behind: Option<&EventPlace>,
) -> Result<EventWalk, Error> {
    let guard = tx.guard(customer).await?;
    let from = behind.map_or(timeframe.start(), |behind| behind.at.max(timeframe.start()));
    let rest = Timeframe::nothing_at(from).until(timeframe.end());
    let sources = [None].into_iter().chain(overlays.bringing(timeframe).map(Some));
    let sources = sources.map(|backfill_id| Source {
        backfill_id,
        rest: Some(event_blocks::event_blocks(tx, backfill_id, customer, rest)),
        ahead: BTreeMap::new(),
        minute: None,
    });
    let sources = sources.collect();
    Ok(EventWalk { guard, overlays, timeframe, behind: behind.cloned(), sources })
}

/// Goes on with a walk: some places more, and none where it ends.
pub(in crate::engine) async fn walk_on(
    tx: &Transaction<'_>,
    walk: &mut EventWalk,
) -> Result<Vec<WalkedSlot>, Error> {
    let EventWalk { guard, overlays, timeframe, behind, sources } = walk;
    let is_ahead = |place: &EventPlace| {
        timeframe.contains(place.at) && behind.as_ref().is_none_or(|last| last < place)
    };
    for source in &mut *sources {
        while source.has_run_out() {
            read_on(tx, guard, source, is_ahead).await?;
        }
    }
    let (mut walked, terms) = (Vec::new(), overlays.terms());
    // Where one has run out, an event of it that is still to be read may come first.
    while walked.len() < WALKED_SLOTS && !sources.iter().any(Source::has_run_out) {
        let Some(place) = sources.iter().filter_map(Source::next).min().cloned() else { break };
        tx.pace.spend(Pace::ROW.saturating_add(terms)).await;
        let mut event: Option<SourcedEvent> = None;
        for source in &mut *sources {
            let Some(found) = source.take(&place) else { continue };
            let fields = Fields::new(&found.event_name, place.at, &found.properties);
            let is_hidden = overlays.hide(found.accepted, source.backfill_id, &fields);
            let is_first = event.as_ref().is_none_or(|first| found.accepted < first.event.accepted);
            if is_first && !found.deprecated && !is_hidden {
                event = Some(SourcedEvent { backfill_id: source.backfill_id, event: found });
            }
        }
        walked.push(WalkedSlot { place, event });
    }
    Ok(walked)
}

/// Ends a walk before its end: lets go of what was read in pieces, for a minute may have any number
/// of events.
pub(in crate::engine) async fn leave(tx: &Transaction<'_>, walk: EventWalk) {
    for mut source in walk.sources {
        while source.ahead.pop_first().is_some() {
            tx.pace.spend(Pace::KEY).await;
        }
    }
}

async fn read_on(
    tx: &Transaction<'_>,
    guard: &Guard<CustomerHead>,
    source: &mut Source,
    is_ahead: impl Fn(&EventPlace) -> bool,
) -> Result<(), Error> {
    let Some(scan) = source.rest.take() else { return Ok(()) };
    let part = guard.range(tx, &scan).await?;
    for (key, document) in part.rows {
        tx.pace.spend_bytes(document.as_str().len()).await;
        let (minute, events) = event_blocks::read_event_block(source.backfill_id, &key, &document)?;
        source.minute = Some(minute);
        source.ahead.extend(events.into_iter().filter(|(place, _)| is_ahead(place)));
    }
    source.rest = part.rest;
    Ok(())
}

/// Reads the events of a customer that count within a timeframe, oldest first, with what each
/// contributes to some meters, until it is refused to read on.
pub(in crate::engine) async fn each_event(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    timeframe: Timeframe,
    meters: &Meters,
    mut read: impl FnMut(&Fields<'_>, Vec<Reading>) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut walk = walk_events(tx, customer, timeframe, None).await?;
    let known = &mut KnownIds::default();
    loop {
        let walked = walk_on(tx, &mut walk).await?;
        if walked.is_empty() {
            return Ok(());
        }
        for WalkedSlot { place: EventPlace { at, key }, event } in walked {
            let Some(SourcedEvent { event, .. }) = event else { continue };
            let fields = Fields::new(&event.event_name, at, &event.properties);
            let readings = readings(tx, meters, known, &fields, &key).await;
            read(&fields, readings)?;
        }
    }
}

/// Returns what an event contributes to some meters.
pub(in crate::engine) async fn readings(
    tx: &Transaction<'_>,
    meters: &Meters,
    known: &mut KnownIds,
    fields: &Fields<'_>,
    key: &EventKey,
) -> Vec<Reading> {
    tx.pace.spend(meters.terms_of_filter()).await;
    if !meters.take(fields) {
        return Vec::new();
    }
    let mut readings = Vec::with_capacity(meters.metrics.len());
    for metric in &meters.metrics {
        meters.read(metric, fields, key, (&mut *known, &mut readings));
        tx.pace.spend(meters.terms_of(metric)).await;
    }
    readings
}
