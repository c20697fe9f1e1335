//! Figures of any timeframe, from buckets and the events of the windows that are cut.

use std::{collections::HashSet, sync::Arc};

use crate::{
    CustomerId, Error, Pace, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{buckets, groups, visible},
    },
    expression::Fields,
    limits,
    meter::{CellId, InGroup},
    schema::{self, CustomerHead},
    usage::{Aggregate, Amount, Cut, Digest, Holders, Meters, Reading, Total},
};

/// What the events of a growing timeframe add up to.
#[derive(Default)]
pub(in crate::engine) struct Running {
    pub(in crate::engine) total: Total,
    /// The distinct values among them.
    pub(in crate::engine) distinct: HashSet<(CellId, Digest)>,
    /// Licenses that they are of, where those have allocations.
    holders: Option<Arc<Holders>>,
}

impl Running {
    /// Begins with the licenses that events are of.
    pub(in crate::engine) fn of_holders(holders: Option<Arc<Holders>>) -> Self {
        Self { holders, ..Self::default() }
    }

    /// Adds what an event at an instant contributes.
    pub(in crate::engine) fn add(&mut self, reading: &Reading, at: Timestamp) {
        self.add_in(reading.place(), at, &reading.amount);
    }

    /// Adds what is there of an instant, or of a window around it: no license begins or ends within one.
    fn add_in(&mut self, place: InGroup<'_>, at: Timestamp, amount: &Amount) {
        let told = self.holders.as_ref().and_then(|holders| holders.place(place, at));
        let place = match &told {
            Some((cell, meter, values)) => InGroup { cell: *cell, group: Some((*meter, values)) },
            None => place,
        };
        match amount {
            Amount::Plain(amount) => self.total.add_in(place, amount.clone()),
            Amount::Distinct(digest) if self.distinct.insert((place.cell, *digest)) => {
                self.total.add_in(place, Aggregate::Distinct(1));
            }
            Amount::Distinct(_) => {}
        }
    }
}

/// Returns what a customer's events add up to within a timeframe.
pub(in crate::engine) async fn total_between(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<Total, Error> {
    let mut running = Running::default();
    run_on(tx, &mut running, customer, meters, timeframe).await?;
    Ok(running.total)
}

/// Adds what a customer's events of a further timeframe add up to.
pub(in crate::engine) async fn run_on(
    tx: &mut Transaction<'_>,
    running: &mut Running,
    customer: CustomerId,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<(), Error> {
    let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
    let later = meters.since(head.measured.saturating_add(1)..=u64::MAX);
    if !later.is_empty() {
        let meters = meters.since(0..=head.measured);
        run_on_measured(tx, running, customer, &meters, timeframe).await?;
        return run_on_events(tx, running, customer, &later, timeframe).await;
    }
    run_on_measured(tx, running, customer, meters, timeframe).await
}

/// The same by metrics that the customer's events are not measured by yet: event by event.
async fn run_on_events(
    tx: &mut Transaction<'_>,
    running: &mut Running,
    customer: CustomerId,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<(), Error> {
    if timeframe.start() == timeframe.end() || !has_events(tx, customer, timeframe).await? {
        return Ok(());
    }
    add_events(tx, running, customer, meters, timeframe).await
}

/// Adds what the events of a timeframe contribute, one by one.
async fn add_events(
    tx: &mut Transaction<'_>,
    running: &mut Running,
    customer: CustomerId,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<(), Error> {
    let read = |fields: &Fields<'_>, readings: Vec<Reading>| {
        readings.iter().for_each(|reading| running.add(reading, fields.timestamp()));
        Ok(())
    };
    visible::each_event(tx, customer, timeframe, meters, read).await
}

/// The same by metrics that they are measured by: no event is read but those of the two windows that are cut.
pub(in crate::engine) async fn run_on_measured(
    tx: &mut Transaction<'_>,
    running: &mut Running,
    customer: CustomerId,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<(), Error> {
    if timeframe.start() == timeframe.end() || !has_events(tx, customer, timeframe).await? {
        return Ok(());
    }
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let cut = Cut::of(timeframe);
    let meters = groups::with_groups(tx, customer, meters, cut.whole).await?;
    let bucket_slots = visible::bucket_slots(tx, customer, cut.whole).await?;
    let (account, limit) = (tx.account, limits::SCAN_ROWS);
    for place in meters.added_up() {
        for (window, slot, aggregate) in
            buckets::buckets_between(tx, &guard, place.cell, cut.whole).await?
        {
            tx.pace.spend(Pace::ROW).await;
            if bucket_slots.of(window) == slot {
                running.add_in(place, window.start(), &Amount::Plain(aggregate));
            }
        }
    }
    for place in meters.distinct() {
        let scan = schema::distinct_values(account, customer, place.cell, cut.whole, limit);
        for (key, _) in guard.range_all(tx, scan).await? {
            tx.pace.spend(Pace::ROW).await;
            let (window, bucket_slot, digest) = schema::distinct_place(&key)?;
            if bucket_slots.of(window) == bucket_slot {
                running.add_in(place, window.start(), &Amount::Distinct(digest));
            }
        }
    }
    for timeframe in cut.partial {
        add_events(tx, running, customer, &meters, timeframe).await?;
    }
    Ok(())
}

/// Tells whether a customer may have events within a timeframe.
pub(in crate::engine) async fn has_events(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    timeframe: Timeframe,
) -> Result<bool, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    if guard.head(tx)?.is_corrected {
        return Ok(true);
    }
    let events = schema::events(tx.account, customer, timeframe, 1);
    Ok(!guard.range(tx, &events).await?.rows.is_empty())
}
