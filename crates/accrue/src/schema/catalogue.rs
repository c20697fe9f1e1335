//! The rows of the catalogue, on four pages.

mod bills;
mod messages;
mod metering;
mod people;

pub(crate) use self::{bills::*, messages::*, metering::*, people::*};
use crate::store::Table;

pages! { bills, messages, metering, people }
