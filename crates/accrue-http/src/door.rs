//! The door: what a request passes before its operation sees it, in this order (§4.5, §5, §7).

mod bodies;
mod body;
mod deadline;
mod fingerprint;
mod key;
mod panics;
mod progress;

pub(crate) use self::{
    bodies::{Bodies, Share},
    body::Body,
    deadline::until,
    fingerprint::fingerprint,
    key::KeyHeader,
    panics::catch_panics,
    progress::Progress,
};
