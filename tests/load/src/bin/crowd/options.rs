use accrue_load_tests::ServerOptions;
use clap::{Parser, ValueEnum as _};

use crate::kinds::Kind;

/// Measures how a healthy client fares beside expensive requests.
#[derive(Clone, Debug, Parser)]
#[command(version)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) server: ServerOptions,

    /// Which expensive requests, each kind alone and then all of them at once; all where none is named
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<Kind>,

    /// How many connections send expensive requests
    #[arg(long, default_value_t = 8)]
    pub(crate) connections: usize,

    /// How many pings a healthy client sends a second, and how many ingests
    #[arg(long, default_value_t = 50)]
    pub(crate) rate: u32,

    /// How long each kind is sent
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u64,

    /// How many comparisons a condition has at most: fewer where the text is full or the server would refuse
    #[arg(long, default_value_t = 600)]
    pub(crate) ors: usize,

    /// How many metrics have such a condition
    #[arg(long, default_value_t = 99)]
    pub(crate) metrics: usize,

    /// How many events a batch has at most: fewer where the server refuses
    #[arg(long, default_value_t = 1_000)]
    pub(crate) events: usize,

    /// How many events the customer has that is evaluated and read
    #[arg(long, default_value_t = 100_000)]
    pub(crate) stored: usize,

    /// How many subscriptions a list has at most: fewer where the server refuses
    #[arg(long, default_value_t = 100)]
    pub(crate) listed: usize,

    /// How many bytes the properties of a large event have; a fifth more is refused
    #[arg(long, default_value_t = 16_000)]
    pub(crate) event_bytes: usize,

    /// How many bytes a packed body expands to
    #[arg(long, default_value_t = 20 * 1024 * 1024)]
    pub(crate) unpacked_bytes: usize,

    /// How many empty members a packed body has
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) members: usize,

    /// How many events a backfill brings
    #[arg(long, default_value_t = 20_000)]
    pub(crate) backfilled: usize,
}

impl Options {
    /// Returns the kinds, each once, those that make every ingest dearer last.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let all = Kind::value_variants().iter().copied();
        all.filter(|kind| self.kinds.is_empty() || self.kinds.contains(kind)).collect()
    }
}
