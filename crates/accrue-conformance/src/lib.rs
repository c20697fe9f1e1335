//! The suite that a storage backend of accrue must pass.
//!
//! It asks a backend for everything that the contract of [`Store`](accrue::store::Store) promises
//! and that can be seen from outside. A backend's author says how its store is opened, in a
//! [`Harness`], and writes one line, which becomes one test for each case:
//!
//! ```
//! use std::sync::Arc;
//!
//! use accrue::store::{MemoryStore, Store};
//! use accrue_conformance::{Durability, Harness};
//!
//! #[derive(Default)]
//! struct InMemory;
//!
//! impl Harness for InMemory {
//!     fn open(&self) -> Arc<dyn Store> {
//!         Arc::new(MemoryStore::new())
//!     }
//!
//!     fn durability(&self) -> Durability {
//!         Durability::Volatile
//!     }
//! }
//!
//! accrue_conformance::suite!(InMemory);
//! # fn main() {}
//! ```
//!
//! # What it cannot see
//!
//! That an answer shows durable state only (clause 2 of the contract) is seen only by who kills the
//! process or the disk. A backend's author tests that apart, on the log or the engine beneath.
//!
//! # Stores for other tests
//!
//! [`FaultyStore`] fails on purpose, [`RecordingStore`] remembers what it was asked and what it
//! answered, and [`BrokenStore`] breaks the contract in one way of your choice: the tests of this
//! crate show with it that every case can fail.

mod broken;
pub mod cases;
mod faulty;
mod fixtures;
mod handles;
mod harness;
mod peers;
mod place;
pub mod processes;
mod races;
mod recording;
mod split_mix;
mod subject;
mod suite;

pub use self::{
    broken::{BrokenHarness, BrokenStore, Flaw},
    faulty::{Calls, Fault, FaultyStore, Odds},
    handles::{Opened, Processes},
    harness::{Durability, Harness},
    recording::{Failure, Recorded, RecordingStore},
    suite::{Case, ProcessesCase, cases, processes_cases},
};
