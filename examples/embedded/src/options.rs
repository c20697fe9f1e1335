use std::{fmt, num::NonZeroU64, path::PathBuf, str::FromStr};

use accrue::limits;

/// Replays a trace of usage through the billing engine, embedded in this process.
///
/// Every row of the trace is a usage event: row i (from 0) belongs to customer i modulo the
/// number of customers. Five metrics measure the events, and a plan prices them: 20 USD a
/// month in advance, output tokens in tiers, input tokens by the unit; a request takes 0.0025
/// of the 5 credits that every customer is given first. Plan alerts watch the output tokens
/// of every customer (100,000; 250,000; 400,000) and the cost (21; 22.5; 25 USD), an alert on
/// each subscription its requests (1,000), alerts on each customer the credits: that they are
/// low (2.5; 1), gone, and there again. Then the same trace goes in a second time: all of it
/// is known already, and nothing changes. A durable store is closed, opened again, and asked
/// once more.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "embedded", version, verbatim_doc_comment)]
pub struct Options {
    /// The trace, a CSV file [default: a small sample, the same every time]
    ///
    /// Its columns are TIMESTAMP (UTC), ContextTokens and GeneratedTokens, its rows in order
    /// of time.
    #[arg(value_name = "TRACE.csv", verbatim_doc_comment)]
    pub trace: Option<PathBuf>,

    /// Where everything is stored [default: fjall in target/embedded-fjall]
    ///
    /// `memory`, or `fjall:DIR` or `sled:DIR` with a folder that is new or empty. The folder of
    /// the default lies in the current one, and every run makes it anew.
    #[arg(long, value_name = "memory|fjall:DIR|sled:DIR", verbatim_doc_comment)]
    pub store: Option<StoreAt>,

    /// How many customers share the rows
    #[arg(long, value_name = "N", default_value = "8")]
    pub customers: Customers,

    /// How many events go in at once, at most 1,000
    ///
    /// The outcome does not depend on it.
    #[arg(long, value_name = "N", default_value = "500")]
    pub batch: BatchSize,

    /// Write the figures, alerts, cost, credits and invoices to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Lose a quarter of an hour besides, backfill it, and revert that
    ///
    /// It is the one before that in which the trace ends, of an account of its own in the same
    /// store, and comes back two days later. With the backfill every figure has to be that of
    /// another engine, in memory, that lost nothing; once it is reverted, that of before. The
    /// report has all three.
    #[arg(long, verbatim_doc_comment)]
    pub backfill: bool,

    /// Go on until the usage is invoiced, and show an invoice
    ///
    /// After the trace days go by, one by one, until two billing periods and the day of grace have
    /// passed since the start. The report has the invoices of every customer; the one with the
    /// greatest total is shown.
    #[arg(long, verbatim_doc_comment)]
    pub invoices: bool,

    /// Bill a year instead: made usage of five customers, month by month
    ///
    /// In memory, and the same every time: monthly plans in five time zones, credits that
    /// expire and are renewed or bought, a customer that leaves at a date, and one that nobody
    /// touches for months. They are invoiced, and most of it is paid. It takes none of the above.
    #[arg(
        long,
        conflicts_with_all = [
            "trace", "store", "customers", "batch", "report", "backfill", "invoices",
        ],
        verbatim_doc_comment
    )]
    pub year: bool,
}

/// Where the run is asked to store everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// In memory, gone at the end.
    Memory,
    /// On an engine with a disk, in a folder that is new or empty.
    Folder(Engine, PathBuf),
}

/// What keeps a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The default.
    Fjall,
    /// The other.
    Sled,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        })
    }
}

impl FromStr for StoreAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (engine, folder) = match text.split_once(':') {
            None if text == "memory" => return Ok(Self::Memory),
            Some(("fjall", folder)) if !folder.is_empty() => (Engine::Fjall, folder),
            Some(("sled", folder)) if !folder.is_empty() => (Engine::Sled, folder),
            _ => return Err("expected `memory`, `fjall:DIR` or `sled:DIR`".to_owned()),
        };
        Ok(Self::Folder(engine, folder.into()))
    }
}

/// How many customers share the rows: 1 to [`Customers::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Customers(NonZeroU64);

impl Customers {
    /// The most customers: each costs seven commits before the first event.
    pub const MOST: u64 = 100_000;

    /// Returns how many they are.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0.get()
    }

    /// Returns the number of the customer that a row belongs to.
    #[must_use]
    pub const fn of_row(self, row: u64) -> u64 {
        row % self.count()
    }
}

impl FromStr for Customers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.parse().ok().filter(|count: &NonZeroU64| count.get() <= Self::MOST);
        count.map(Self).ok_or_else(|| format!("expected a number from 1 to {}", Self::MOST))
    }
}

/// How many events go in at once: 1 to [`limits::BATCH_EVENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSize(usize);

impl BatchSize {
    /// Returns how many.
    #[must_use]
    pub const fn events(self) -> usize {
        self.0
    }
}

impl FromStr for BatchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let events = text.parse().ok().filter(|events| (1..=limits::BATCH_EVENTS).contains(events));
        let expected = || format!("expected a number from 1 to {}", limits::BATCH_EVENTS);
        events.map(Self).ok_or_else(expected)
    }
}
