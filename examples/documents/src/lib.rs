//! Invoices, receipts and credit notes as PDF files.
//!
//! A document is a function of what it is of, of who bills, and of an instant: asked for again, it is the
//! same, so that nothing has to be stored. [`Paper`] says what is on it, [`Paper::pdf`] sets it.

#![allow(clippy::float_arithmetic, reason = "places on paper: no amount is a float")]

mod fonts;
mod page;
mod paper;
mod pdf;
mod setting;
mod sheet;
mod words;

pub use self::{
    paper::{Entry, Fact, Figure, Paper, Party, Seller},
    pdf::PdfError,
};
