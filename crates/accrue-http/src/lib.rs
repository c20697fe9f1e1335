//! The billing API of accrue over HTTP, in any framework.
mod api;
mod auth;
mod bounds;
mod door;
mod json;
mod openapi;
mod operation;
mod operations;
mod problem;
mod query;
mod rate;
mod reply;
mod request;
mod router;
mod service;
mod shape;
mod wire;

pub use self::{
    api::{Api, ApiBuilder},
    auth::{ApiKeys, Authenticate, FixedKey},
    bounds::Bounds,
    operation::Category,
    rate::RateLimit,
};
