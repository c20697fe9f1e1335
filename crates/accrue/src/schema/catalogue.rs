//! The rows of the catalogue, in two parts.

mod bills;
mod metering;

pub(crate) use self::{bills::*, metering::*};
use crate::store::Table;

/// Every table that the engine writes.
pub const TABLES: &[Table] = &ALL;

const COUNT: usize = bills::TABLES.len() + metering::TABLES.len();

const ALL: [Table; COUNT] = {
    let mut all = [Table::new("none"); COUNT];
    let (first, second) = all.split_at_mut(bills::TABLES.len());
    first.copy_from_slice(bills::TABLES);
    second.copy_from_slice(metering::TABLES);
    all
};

/// Tells whether the copy of a guard keeps the rows of a table.
pub(crate) fn is_resident(table: Table) -> bool {
    bills::is_resident(table) || metering::is_resident(table)
}
