//! What the tests here share: an engine with a clock of its own, prices that are there, credits that were
//! given, and a store that counts its calls.

pub(crate) mod counting;
pub(crate) mod credited;
pub(crate) mod figures;
pub(crate) mod fixture;
pub(crate) mod priced;
pub(crate) mod slow;
