//! Pages, one file for each: what it reads of the engine, and what its forms do there.

pub(crate) mod accounts;
pub(crate) mod alerts;
pub(crate) mod audit;
pub(crate) mod backfills;
pub(crate) mod customer;
pub(crate) mod customers;
pub(crate) mod endpoints;
pub(crate) mod entrance;
pub(crate) mod events;
pub(crate) mod invoice;
pub(crate) mod invoices;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod overview;
pub(crate) mod password;
pub(crate) mod people;
mod period;
pub(crate) mod plans;
pub(crate) mod subscription;
pub(crate) mod webhooks;
pub(crate) mod why;
