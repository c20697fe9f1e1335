//! The cases, by the idea that they are about. Each is run on the empty store of a harness, and
//! panics where the store breaks the contract of [`Store`](accrue::store::Store), whose clauses
//! they name (`store 3`).

pub mod batches;
pub mod documents;
pub mod failures;
pub mod inserts;
pub mod limits;
pub mod parallel;
pub mod preconditions;
pub mod random;
pub mod reads;
pub mod reopening;
pub mod scans;
pub mod versions;
