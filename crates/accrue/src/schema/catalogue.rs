//! The rows of the catalogue, on five pages.

mod bills;
mod messages;
mod metering;
mod people;
mod plans;

pub(crate) use self::{bills::*, messages::*, metering::*, people::*, plans::*};
use crate::store::Table;

pages! { bills, messages, metering, people, plans }
