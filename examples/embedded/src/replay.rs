//! Sends the rows of the trace as events, batch by batch, and takes what messages come of them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use accrue::{Account, BackfillId, Clock as _, ExternalId, ManualClock, Timestamp, usage::Event};
use indicatif::ProgressBar;

use crate::{
    Error,
    alerts::FiredAlert,
    error::Doing as _,
    mail,
    options::BatchSize,
    setup::{Setup, completion},
    trace::{Row, Trace},
};

/// What it takes to send a trace.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    pub(crate) account: &'a Account,
    pub(crate) clock: &'a ManualClock,
    pub(crate) setup: &'a Setup,
    pub(crate) trace: &'a Trace,
    pub(crate) batch: BatchSize,
    pub(crate) bar: &'a ProgressBar,
}

/// What came of sending a trace once.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    pub(crate) ingested: usize,
    pub(crate) duplicates: usize,
    pub(crate) took: Duration,
    pub(crate) inbox: Inbox,
}

/// The messages that were delivered.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) messages: usize,
    /// Those that tell of an alert, in the order of each customer.
    pub(crate) alerts: BTreeMap<ExternalId, Vec<FiredAlert>>,
}

impl Replay<'_> {
    /// Sends every row once. The clock stands at the last row of each batch, and never goes back.
    pub(crate) async fn pass(&self, name: &'static str) -> Result<Pass, Error> {
        self.restart_bar(name);
        let mut pass = Pass::default();
        let began = now();
        for batch in self.trace.batches(self.batch.events()) {
            self.clock.set(batch.last().map_or(Timestamp::MIN, |row| row.at).max(self.clock.now()));
            let events = batch.iter().map(|row| self.event(row));
            let ingestion = self.account.ingest(events).await.doing("ingest a batch of events")?;
            pass.ingested += ingestion.ingested;
            pass.duplicates += ingestion.duplicates;
            pass.inbox.deliver(self.account, self.setup).await?;
            self.bar.inc(u64::try_from(batch.len()).unwrap_or(u64::MAX));
        }
        pass.took = began.elapsed();
        Ok(pass)
    }

    /// Sends every row into a backfill, whatever the clock shows.
    pub(crate) async fn fill(&self, id: BackfillId) -> Result<(), Error> {
        self.restart_bar("backfill");
        for batch in self.trace.batches(self.batch.events()) {
            let events = batch.iter().map(|row| self.event(row));
            self.account.ingest_backfill(id, events).await.doing("ingest into the backfill")?;
            self.bar.inc(u64::try_from(batch.len()).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    fn restart_bar(&self, name: &'static str) {
        self.bar.reset();
        self.bar.set_length(u64::try_from(self.trace.rows().len()).unwrap_or(u64::MAX));
        self.bar.set_message(name);
    }

    fn event(&self, row: &Row) -> Event {
        let tokens = [("input_tokens", row.input_tokens), ("output_tokens", row.output_tokens)];
        let key = format!("row-{}", row.number);
        let customer = self.setup.customer_of_row(row.number);
        completion(&key, row.at, customer, tokens.into_iter().chain([("row", row.number)]))
    }
}

impl Inbox {
    /// Takes every message that waits.
    pub(crate) async fn deliver(&mut self, account: &Account, setup: &Setup) -> Result<(), Error> {
        mail::deliver(account, async |message| {
            self.messages += 1;
            let customer = message.customer.as_ref().and_then(|of| of.external_customer_id.clone());
            let alert = FiredAlert::read(message, setup.metrics());
            if let (Some(customer), Some(alert)) = (customer, alert) {
                self.alerts.entry(customer).or_default().push(alert);
            }
            Ok(())
        })
        .await
    }
}

#[expect(clippy::disallowed_methods, reason = "it measures the engine, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
