//! The rows of the catalogue, on two pages.

mod bills;
mod metering;

pub(crate) use self::{bills::*, metering::*};
use crate::store::Table;

pages! { bills, metering }
