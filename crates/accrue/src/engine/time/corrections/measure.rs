//! Measures earlier events by later metrics (`docs/decisions/metrics-over-earlier-events.md`).

use super::build::Chunk;
use crate::{
    CustomerId, Error, SubscriptionId, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{
            self,
            periods::{self, Wanted},
            subscriptions,
            tallies::Indexed,
            visible,
        },
        time::{
            corrections::build,
            recount::{self, SummedBy},
        },
    },
    limits,
    schema::{self, CustomerHead, Progress},
    subscription::SubscriptionEntry,
    time::INSTANT,
    usage::{Day, EventPlace, Meters},
};

/// Measures more of the events of a customer by metrics that came after them, up to a revision of those.
///
/// Their rows are not read before all of them are there, so that they need no other slot.
pub(super) async fn measure(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    head: &CustomerHead,
    revision: u64,
    behind: Option<EventPlace>,
) -> Result<Option<Progress>, Error> {
    let from = head.measured.saturating_add(1);
    let meters = rows::metrics::meters(tx).await?.since(from..=revision);
    let chunk = unmeasured(tx, customer, &meters, behind).await?;
    if let Some(last) = chunk.last.clone() {
        let first = chunk.events.first().map_or(last.at, |(place, _)| place.at);
        let ends = Timeframe::nothing_at(first).until(last.at.saturating_add(INSTANT));
        let counting = visible::bucket_slots(tx, customer, ends).await?;
        build::add_chunk(tx, customer, &counting, &chunk, Indexed::Yes).await?;
        return Ok(Some(Progress::Measuring { revision, behind: Some(last) }));
    }
    Ok(Some(Progress::Totalling { revision, behind: None }))
}

/// Sums the billing periods of more subscriptions by the metrics of a revision too. Nothing is
/// priced by a metric before the customer is measured by it: no balance and no alert moves.
pub(super) async fn total_anew(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    revision: u64,
    behind: Option<SubscriptionId>,
) -> Result<Option<Progress>, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let entries = subscriptions::every_subscription(tx, customer).await?;
    let is_behind = |of: &SubscriptionEntry| Some(of.subscription.id) == behind;
    let done = entries.iter().position(is_behind).map_or(0, |last| last.saturating_add(1));
    let mut summed = 0_usize;
    for entry in entries.iter().skip(done) {
        let open = recount::open_periods(tx, &entry.subscription);
        let mut periods = periods::periods(tx, entry, &open, Wanted::default(), tx.now).await?;
        recount::sum_anew(tx, entry, &mut periods, SummedBy::Revision(revision)).await?;
        periods::save_periods(tx, &guard, &periods).await?;
        periods::close(tx, &guard).await?;
        summed = summed.saturating_add(periods.states.len());
        if summed >= limits::STEP_PERIODS {
            let behind = Some(entry.subscription.id);
            return Ok(Some(Progress::Totalling { revision, behind }));
        }
    }
    guard.head_mut(tx)?.measured = revision;
    Ok(None)
}

/// Reads the next events, day by day.
async fn unmeasured<'m>(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    meters: &'m Meters,
    behind: Option<EventPlace>,
) -> Result<Chunk<'m>, Error> {
    let mut chunk = Chunk::of(meters);
    let mut next = match &behind {
        Some(place) => Some(Day::of(place.at)),
        None => next_day(tx, customer, Timestamp::MIN).await?,
    };
    while let Some(day) = next.filter(|_| !chunk.is_full()) {
        let mut walk = visible::walk_events(tx, customer, day.timeframe(), behind.as_ref()).await?;
        if build::fill(tx, &mut chunk, &mut walk).await? {
            next = next_day(tx, customer, day.end()).await?;
        }
        visible::leave(tx, walk).await;
    }
    Ok(chunk)
}

/// Finds the next day on which a customer may have events, from an instant on.
async fn next_day(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    from: Timestamp,
) -> Result<Option<Day>, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let rest = Timeframe::nothing_at(from).until(Timestamp::MAX);
    let events = schema::events(tx.account, customer, rest, 1);
    let overlays = schema::overlays(tx.account, customer, rest, 1);
    let event = match guard.range(tx, &events).await?.rows.first() {
        Some((key, _)) => Some(Day::of(schema::event_minute(key)?.start())),
        None => None,
    };
    let overlay = match guard.range(tx, &overlays).await?.rows.first() {
        Some((key, _)) => Some(schema::overlay_day(key)?),
        None => None,
    };
    Ok(event.into_iter().chain(overlay).min())
}
