//! Sends the rows of the trace as events, batch by batch, and takes what messages come of them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use accrue::{
    Account, Clock as _, EventKey, EventName, ExternalId, ManualClock, PropertyName, Timestamp,
    limits,
    usage::{Event, Properties},
};
use indicatif::ProgressBar;

use crate::{
    Error,
    alerts::FiredAlert,
    error::Doing as _,
    options::BatchSize,
    setup::Setup,
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
    pub(crate) async fn pass(&self) -> Result<Pass, Error> {
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

    fn event(&self, row: &Row) -> Event {
        let property = |name: &str, value: u64| {
            (PropertyName::parse(name).expect("a short text"), value.into())
        };
        Event {
            idempotency_key: EventKey::parse(format!("row-{}", row.number)).expect("a short text"),
            event_name: EventName::parse("completion").expect("a short text"),
            timestamp: row.at,
            properties: Properties::from_iter([
                property("input_tokens", row.input_tokens),
                property("output_tokens", row.output_tokens),
                property("row", row.number),
            ]),
            customer: self.setup.customer_of_row(row.number).into(),
        }
    }
}

impl Inbox {
    /// Takes every message that waits: a host would send them on before it acknowledges them.
    pub(crate) async fn deliver(&mut self, account: &Account, setup: &Setup) -> Result<(), Error> {
        loop {
            let waiting = account.messages(limits::SCAN_ROWS).await.doing("read the messages")?;
            if waiting.is_empty() {
                return Ok(());
            }
            self.messages += waiting.len();
            for message in &waiting {
                let customer = message.customer.external_customer_id.clone();
                if let (Some(customer), Some(alert)) = (customer, FiredAlert::read(message, setup))
                {
                    self.alerts.entry(customer).or_default().push(alert);
                }
            }
            let places = waiting.iter().map(|message| message.place);
            account.acknowledge(places).await.doing("acknowledge the messages")?;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it measures the engine, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
