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

pub(super) use self::{
    apply::{Applied, Command, Op, Request, apply_open, apply_step, apply_unaudited},
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
