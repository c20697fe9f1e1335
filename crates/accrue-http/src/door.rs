//! The door: what a request passes before its operation sees it, in this order (§4.5, §5, §7).

mod bodies;
mod body;
mod deadline;
mod dry_run;
mod fingerprint;
mod key;
mod panics;
mod progress;

pub(crate) use self::{
    bodies::{Bodies, Share},
    body::Body,
    deadline::until,
    dry_run::{is_dry_run, say_dry_run},
    fingerprint::fingerprint,
    key::KeyHeader,
    panics::catch_panics,
    progress::Progress,
};
