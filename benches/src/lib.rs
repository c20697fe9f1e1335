//! The workload that the benches share: batches of 500 events with three metrics and two alerts
//! each, and a tap that keeps what the engine commits, so that the same rows can be written without
//! it.

mod tap;
mod workload;

use accrue::store::{Batch, Store};

pub use self::{
    tap::{Log, Tap, now},
    workload::{Watch, Workload},
};

/// How many events one batch has.
pub const BATCH: u64 = 500;

/// What a bench ends with that could not go on.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

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
