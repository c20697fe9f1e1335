use clap::ValueEnum;
use serde::Serialize;

/// What callers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    /// An ingest of one event under an idempotency key
    Commit,
    /// The same, of one customer for all callers
    OneCustomer,
    /// An ingest of 500 events under an idempotency key
    Batch,
    /// A customer by its id, of 1,000
    Fetch,
    /// The newest 20 of 1,000 customers
    Page,
}

impl Operation {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Commit => "keyed ingest of one event, calls per second",
            Self::OneCustomer => "the same, all callers on one customer",
            Self::Batch => "keyed ingest of batches of 500, events per second",
            Self::Fetch => "fetch of a customer by id, calls per second",
            Self::Page => "page of 20 customers, calls per second",
        }
    }

    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Commit | Self::OneCustomer | Self::Batch)
    }

    /// How many events a call ingests.
    pub(crate) const fn events(self) -> u64 {
        match self {
            Self::Commit | Self::OneCustomer => 1,
            Self::Batch => accrue_benches::BATCH,
            Self::Fetch | Self::Page => 0,
        }
    }

    /// How many of what is counted a call does.
    pub(crate) const fn counted(self) -> u64 {
        match self {
            Self::Batch => accrue_benches::BATCH,
            Self::Commit | Self::OneCustomer | Self::Fetch | Self::Page => 1,
        }
    }

    /// How many calls each caller makes in a round.
    pub(crate) const fn calls(self, callers: u64, quick: bool) -> u64 {
        if quick {
            return 3;
        }
        // So that a round takes from a part of a second to a few of them.
        let (fixed, shared) = match self {
            Self::Commit | Self::OneCustomer => (50, 1_000),
            Self::Batch => (2, 16),
            Self::Fetch => (500, 200_000),
            Self::Page => (50, 10_000),
        };
        fixed + shared / callers
    }

    /// How many customers the account has.
    pub(crate) const fn customers(self, callers: u64, quick: bool) -> u64 {
        match (self.writes(), quick) {
            (true, _) => callers,
            (false, true) => 50,
            (false, false) => 1_000,
        }
    }
}
