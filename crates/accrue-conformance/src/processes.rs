//! The cases for several processes, by the idea that they are about. Each is run on an empty store that
//! several handles have open, and panics where what they see does not hold together: by the contract of
//! [`Store`](accrue::store::Store), whose clauses they name (`store 1`), or by what
//! [`Billing`](accrue::Billing) promises of it.

pub mod clocks;
pub mod commits;
pub mod copies;
pub mod crowds;
pub mod events;
pub mod keys;
pub mod messages;
pub mod outcomes;
pub mod races;
pub mod stories;
pub mod ticks;
pub mod turns;
pub mod versions;
