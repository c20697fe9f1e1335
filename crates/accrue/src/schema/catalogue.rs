//! The rows of the catalogue, on three pages.

mod bills;
mod messages;
mod metering;

pub(crate) use self::{bills::*, messages::*, metering::*};
use crate::store::Table;

pages! { bills, messages, metering }
