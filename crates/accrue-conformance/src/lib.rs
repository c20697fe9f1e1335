//! The suites that a storage backend of accrue must pass.
//!
//! The first asks a backend for everything that the contract of [`Store`](accrue::store::Store) promises
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
//! # Several processes
//!
//! The suite above judges one handle of a store. Where several processes have one store open at once, each
//! with connections and copies of its own, a second suite judges what they have in common: [`Processes`] says how one
//! more handle is opened, with the [turns](accrue::store::Turns) of its process where the backend has them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use accrue::store::{MemoryStore, MemoryTurns};
//! use accrue_conformance::{Opened, Processes};
//!
//! #[derive(Default)]
//! struct Shared {
//!     store: Arc<MemoryStore>,
//!     turns: Arc<MemoryTurns>,
//! }
//!
//! impl Processes for Shared {
//!     fn open(&self) -> Opened {
//!         let turns = Arc::clone(&self.turns);
//!         Opened { store: Arc::<MemoryStore>::clone(&self.store), turns: Some(turns) }
//!     }
//! }
//!
//! accrue_conformance::processes!(Shared::default());
//! # fn main() {}
//! ```
//!
//! Its first cases are about the store alone: what one handle commits is read and judged through all others at once.
//! The others run the engine on each handle ([`Billing`](accrue::Billing)), with clocks that the suite moves, also
//! apart: keys, events, figures, alerts, ticks and messages are what one process alone would make of them.
//!
//! `accrue-fjall` and `accrue-sled` lock their folder, so that one process has it at a time: there is nothing to be judged.
//!
//! # What they cannot see
//!
//! That an answer shows durable state only (clause 2 of the contract) is seen only by who kills the
//! process or the disk. A backend's author tests that apart, on the log or the engine beneath.
//!
//! # Stores for other tests
//!
//! [`FaultyStore`] fails on purpose, [`RecordingStore`] remembers what it was asked and what it
//! answered, and [`BrokenStore`] breaks the contract in one way of your choice, as [`BrokenProcesses`] do for several
//! handles: the tests of this crate show with them that every case can fail.

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
    broken::{BrokenHarness, BrokenProcesses, BrokenStore, Flaw, ProcessesFlaw},
    faulty::{Calls, Fault, FaultyStore, Odds},
    handles::{Opened, Processes},
    harness::{Durability, Harness},
    recording::{Failure, Recorded, RecordingStore},
    suite::{Case, ProcessesCase, cases, processes_cases},
};
