//! Figures of subscriptions, of whoever's usage counts for them (subscriptions 1.5).

use std::collections::HashSet;

use crate::{
    CustomerId, Error, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{
            figures::{self, Running},
            licenses,
        },
    },
    meter::{CellId, Source},
    schema::CustomerHead,
    subscription::Subscription,
    usage::{Digest, Meters, Total},
};

/// What the events of a growing timeframe add up to for a subscription, each source in cells of its own.
pub(in crate::engine) struct RunningSources {
    subscriber: CustomerId,
    sources: Vec<(Source, Running)>,
}

impl RunningSources {
    /// Begins without an event, to go on from an instant by some meters.
    pub(in crate::engine) async fn of(
        tx: &mut Transaction<'_>,
        subscription: &Subscription,
        meters: &Meters,
        since: Timestamp,
    ) -> Result<Self, Error> {
        let holders = licenses::holders(tx, subscription, &meters.divided, since).await?;
        let sources = subscription.sources().into_iter();
        let sources = sources.map(|of| (of, Running::of_holders(holders.clone())));
        Ok(Self { subscriber: subscription.customer_id, sources: sources.collect() })
    }

    /// Adds the events of a further timeframe.
    pub(in crate::engine) async fn run_on(
        &mut self,
        tx: &mut Transaction<'_>,
        meters: &Meters,
        timeframe: Timeframe,
    ) -> Result<(), Error> {
        for (source, running) in &mut self.sources {
            run_on(tx, running, source, meters, timeframe).await?;
        }
        Ok(())
    }

    /// Adds them by metrics up to a revision, by which those of the subscriber are measured: no event of hers is read
    /// but those of the windows that are cut.
    async fn run_on_measured(
        &mut self,
        tx: &mut Transaction<'_>,
        meters: &Meters,
        timeframe: Timeframe,
        revision: u64,
    ) -> Result<(), Error> {
        for (source, running) in &mut self.sources {
            for customer in source.customers() {
                let head = tx.guard::<CustomerHead>(*customer).await?.head(tx)?;
                if *customer == self.subscriber || revision <= head.measured {
                    figures::run_on_measured(tx, running, *customer, meters, timeframe).await?;
                } else {
                    figures::run_on(tx, running, *customer, meters, timeframe).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns what they add up to.
    pub(in crate::engine) fn total(&self) -> Total {
        let mut total = Total::default();
        for (source, running) in &self.sources {
            total.take(running.total.clone().of_source(source));
        }
        total
    }

    /// Returns the distinct values among them.
    pub(in crate::engine) fn distinct(self) -> HashSet<(CellId, Digest)> {
        let all = self.sources.into_iter().flat_map(|(source, running)| {
            running.distinct.into_iter().map(move |(cell, digest)| (source.cell(cell), digest))
        });
        all.collect()
    }
}

/// Returns what events add up to for a subscription within a timeframe.
pub(in crate::engine) async fn total_between(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<Total, Error> {
    let mut running = RunningSources::of(tx, subscription, meters, timeframe.start()).await?;
    running.run_on(tx, meters, timeframe).await?;
    Ok(running.total())
}

/// The same by metrics up to a revision, by all of which the events of the subscriber are measured.
pub(in crate::engine) async fn total_measured(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    meters: &Meters,
    timeframe: Timeframe,
    revision: u64,
) -> Result<Total, Error> {
    let meters = meters.since(0..=revision);
    let mut running = RunningSources::of(tx, subscription, &meters, timeframe.start()).await?;
    running.run_on_measured(tx, &meters, timeframe, revision).await?;
    Ok(running.total())
}

/// Returns what the events of one source add up to, in the cells of the meters.
pub(in crate::engine) async fn total_of(
    tx: &mut Transaction<'_>,
    source: &Source,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<Total, Error> {
    let mut running = Running::default();
    run_on(tx, &mut running, source, meters, timeframe).await?;
    Ok(running.total)
}

/// Adds what the events of a source add up to within a further timeframe.
pub(in crate::engine) async fn run_on(
    tx: &mut Transaction<'_>,
    running: &mut Running,
    source: &Source,
    meters: &Meters,
    timeframe: Timeframe,
) -> Result<(), Error> {
    for customer in source.customers() {
        figures::run_on(tx, running, *customer, meters, timeframe).await?;
    }
    Ok(())
}

/// Tells whether there may be events within a timeframe that count for a subscription.
pub(in crate::engine) async fn has_events(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    timeframe: Timeframe,
) -> Result<bool, Error> {
    for customer in subscription.sources().iter().flat_map(Source::customers) {
        if figures::has_events(tx, *customer, timeframe).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
