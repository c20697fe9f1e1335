//! The engine: the handles that a host embeds, and one file per resource that loads, decides and
//! saves.
//!
//! The way of an operation: [`Account`] makes a [`Call`], `apply` runs its command in a `Transaction` of
//! (reads become preconditions, writes are buffered) and commits it, under an idempotency key
//! together with the answer; `trace` tells what that took. What time has brought a customer comes first,
//! in `transitions`, and before that what corrects it, in `corrections`.
//!
//! Events come in through `events`, in order and each once; those of `backfills` lie apart until they
//! count. `visible` tells which events count, and which figures do, in a walk over a timeframe;
//! `places` tells it of one place.
//!
//! Where figures come from: `tallies` are the buckets and distinct values that events are added to, and
//! `groups` the groups that there are; `periods` loads and saves the states of billing periods, which every
//! event advances ([`Periods`](crate::period::Periods)); `figures` are what any timeframe adds up to, from
//! buckets. `costs`, `usage_series` and `price_evaluation` answer with them. `event_volume` counts events
//! whatever they measure.
//!
//! How they are corrected: `corrections` adds the days of a backfill up anew, in steps, and makes them
//! count in one commit, and measures earlier events by later metrics; `amendments` writes one event
//! anew, and `windows` adds up what that has moved. Both end in `recount`, which sums billing periods
//! anew and moves alerts and credits.
//!
//! What usage costs is drawn from `ledgers`, in the same commit, and `balance_alerts` are what watches
//! those; `credits` and `credit_blocks` are the operations on them. A `preview` runs an operation and
//! drops its commit.

mod account;
mod active;
mod alerts;
mod amendments;
mod api_keys;
mod backfills;
mod balance_alerts;
mod billing;
mod comparisons;
mod corrections;
mod costs;
mod credit_blocks;
mod credits;
mod customers;
mod event_blocks;
mod event_volume;
mod events;
mod figures;
mod garbage;
mod groups;
mod items;
mod kernel;
mod ledgers;
mod lists;
mod messages;
mod metrics;
mod periods;
mod places;
mod plan_versions;
mod plans;
mod preview;
mod price_evaluation;
mod prices;
mod recount;
mod related;
mod resolve;
mod subscription_changes;
mod subscription_rows;
mod subscriptions;
mod tallies;
mod tick;
mod time;
mod transitions;
mod usage;
mod usage_series;
mod visible;
mod windows;

pub use self::{
    garbage::Collected,
    kernel::{Account, Admitted, Attempt, Billing, Call, KeyedCall},
    preview::{BalanceChange, CostChange, PeriodChange, Preview, PreviewedMessage, UsageChange},
    tick::Tick,
};
