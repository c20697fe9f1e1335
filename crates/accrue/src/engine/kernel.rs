//! The kernel: runs a command and commits it, once under each idempotency key, for whichever domain.
//!
//! A [`Transaction`] turns reads into preconditions and buffers writes; [`apply`] is the one loop that
//! commits. What time has brought somebody comes before a command that finds it: who does that is told to
//! the kernel when it is made ([`CatchUp`]).

mod apply;
mod audit;
mod call;
mod decoded;
mod guard;
mod handle;
mod in_flight;
mod keyed;
mod known;
mod patience;
mod resident;
mod shared;
mod stripes;
mod together;
mod trace;
mod transaction;

/// Boxes the future of an `async fn`, so that who awaits it sees no more of it than that.
///
/// It stands on each function that an operation begins with. A future that is awaited as it is would be compiled once more, with
/// all that it awaits, in each crate from which it can be reached, and that is where hosts call
/// (`docs/decisions/the-engine-is-compiled-once.md`).
pub(super) use async_recursion::async_recursion as boxed;

pub(super) use self::{
    apply::{Command, Op, Open, Request, Work, apply_open, apply_step, written},
    decoded::{Decoded, Says},
    guard::Guard,
    patience::Patience,
    shared::{CatchUp, Shared},
    transaction::{Stop, Touched, Transaction},
};
pub use self::{
    call::Call,
    handle::{Account, Billing},
    keyed::{Attempt, KeyedCall},
};
