//! What the durable stores of accrue share: one thread writes, for many callers at once.
//!
//! For authors of a [`Store`](accrue::store::Store) on an engine that keeps ordered keys and has
//! atomic batches. The author brings an [`Engine`]: how the version of a row is found, and how a
//! group of changes is written and made durable. A [`Writer`] does the rest of a commit. It takes
//! the batches that wait, judges them one after the other, hands those that are accepted to the
//! engine as **one** group, and answers them all when it is durable. Meanwhile the next group
//! gathers; there is no timer.
//!
//! How a store reads is its author's matter, since engines differ in when they show a write:
//! before it is durable ([`Writer::settled`] tells when it is) or after. A [`RowCache`] spares it
//! most of its look-ups.
//!
//! [`row`] says how a row lies in an engine that keeps bytes. [`make_folder`] makes a folder that a
//! power cut does not take away, and a [`Marker`] in it tells a store that is new from one that was lost.

mod cache;
mod engine;
mod folder;
mod health;
mod judge;
mod marker;
mod queue;
pub mod row;
mod versions;
mod writer;

#[cfg(test)]
mod tests;

pub use self::{
    cache::RowCache,
    engine::{Engine, Group, WriteError},
    folder::{flush_names, make_folder, private_file, replace_file},
    marker::{Marker, MarkerError},
    writer::Writer,
};
