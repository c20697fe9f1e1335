//! The engine, in rooms: each may use and call those before it, and a test of the style holds that.
//!
//! - `kernel` runs a command and commits it: reads become preconditions, writes are buffered, and the answer
//!   is kept under the idempotency key in the same commit. It knows no domain.
//! - `rows` are what is stored, loaded and saved by aggregate: events lie in `event_blocks`, and `visible` and
//!   `places` tell which of them count; `tallies` are the buckets and distinct values that they are added
//!   to, `groups` the groups that there are, `figures` what any timeframe adds up to from buckets; `periods`
//!   loads and saves the states of billing periods, which every event advances
//!   ([`Periods`](crate::period::Periods)); usage draws on `ledgers`, which `balance_alerts` watch.
//! - `time` is what time brings, before whoever finds it: `transitions` of subscriptions and ledgers, in the
//!   order of their instants, and `corrections` of days and of new metrics, in steps, which end in `recount`;
//!   `judge` is for what no event moves. `current` makes sure that it is done.
//! - `commands` are the operations, a file for each resource: they load, decide and save. A `preview` runs one
//!   and drops its commit.

mod billing;
mod commands;
mod kernel;
mod rows;
mod time;

pub use self::{
    commands::{
        changed::ChangedResources,
        fan_out::{FannedOut, PayloadRenderer},
        garbage::Collected,
        payments::PaymentGateway,
        pending_changes::ChangedSubscription,
        preview::{
            BalanceChange, CostChange, PeriodChange, Preview, PreviewedMessage, UsageChange,
        },
        syncing::InvoicingProvider,
        taxes::TaxProvider,
        tick::Tick,
    },
    kernel::{Account, Attempt, Billing, Call, KeyedCall},
};
