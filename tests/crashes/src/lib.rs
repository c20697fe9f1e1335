//! Processes that work on a durable store, are killed at random or lose their power, and what must be
//! there afterwards: every effect that was acknowledged, once.
//!
//! A [`Life`] is one folder and the processes that work in it, one after another. Each tells what it
//! is about to ask and what it was answered; [`Told`] is that of all of them, and judges the store.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

mod arrivals;
mod deliverers;
mod deliveries;
mod dice;
mod forgetful;
mod host;
mod life;
mod openings;
#[cfg(target_os = "linux")]
pub mod power;
mod told;
mod verdict;
mod work;

pub use self::{
    deliverers::{Delivered, Deliverers},
    deliveries::{Place, deliver},
    dice::Dice,
    host::{Host, Kind},
    life::{Ending, Figures, Life, kills},
    openings::{Openings, fill},
    told::{Asked, Told},
    work::work,
};
