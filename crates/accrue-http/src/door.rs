//! The door: what a request passes before its operation sees it, in this order (§4.5, §5, §7).

mod body;
mod fingerprint;
mod key;
mod panics;

pub(crate) use self::{body::Body, fingerprint::fingerprint, key::KeyHeader, panics::catch_panics};
