//! What needs a hand on the step that makes a group durable.

mod absences;
mod conformance;
mod durable;
mod failure;
mod support;
