//! What the benches share: the workload of usage events, the stores that are measured, and taps on
//! them.

#[cfg(feature = "programs")]
mod backend;
mod customers;
mod json;
mod side;
mod stopwatch;
mod tap;
mod workload;

use std::time::Instant;

use accrue::store::{Batch, Store};

#[cfg(feature = "programs")]
pub use self::backend::Backend;
pub use self::{
    customers::{Priced, call, subscribe},
    json::{event_json, properties_json},
    side::{SIDE_BATCH, Side},
    stopwatch::Stopwatch,
    tap::Tap,
    workload::{Shape, Watch, Workload},
};

/// How many events one batch has.
pub const BATCH: u64 = 500;

/// What a bench ends with that could not go on.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Reads the clock, which a bench may.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
#[must_use]
pub fn now() -> Instant {
    Instant::now()
}

/// Writes the rows of a batch straight to a store: no reads, no preconditions.
///
/// # Errors
///
/// If the store fails.
pub fn write_raw(store: &dyn Store, batch: Batch) -> Outcome<()> {
    let batch = Batch { preconditions: Vec::new(), changes: batch.changes };
    pollster::block_on(store.commit(batch))?;
    Ok(())
}
