//! The main job: a trace of usage goes through a billing engine that is embedded in this process.
//!
//! Read [`run`] first, then `setup`, which is what a host configures once, and `replay`, which is
//! what it does all day, `go_on`, which is what it does until that is invoiced, and `backfill`, which
//! is what it does when something was lost.
//! [`year`](fn@year) is a second example: twelve months of credits and invoices.

mod alerts;
mod backfill;
mod bill;
mod catch_up;
mod cost;
mod credits;
mod error;
mod figures;
mod go_on;
mod home;
mod invoices;
mod mail;
mod money;
mod options;
mod pages;
mod reading;
mod replay;
mod report;
mod run;
mod setup;
mod standing;
mod table;
mod trace;
mod year;

pub use self::{
    alerts::FiredAlert,
    backfill::{BackfillReport, Loss},
    bill::Bill,
    cost::{CostLine, CustomerCost},
    credits::{CustomerCredits, LedgerLine},
    error::Error,
    figures::Figures,
    invoices::{BilledLine, InvoiceReport},
    money::Money,
    options::{BatchSize, Customers, Options, StoreAt},
    report::{CustomerReport, Report, SecondPass},
    run::{Outcome, run},
    standing::{Difference, Standing},
    trace::{Problem, Row, Trace, TraceError},
    year::{Books, CustomerYear, Month, Week, Year, year},
};
