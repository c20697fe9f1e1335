//! Arithmetic that several models share: packages, pools of free units.

use std::num::NonZeroU64;

use crate::{Decimal, Error, limits};

/// Returns the number of packages of a size that a quantity starts. A size of 0 counts as 1.
pub(super) fn started_packages(quantity: &Decimal, package_size: u64) -> Decimal {
    let size = NonZeroU64::new(package_size).unwrap_or(NonZeroU64::MIN);
    quantity.clone().max(Decimal::zero()).div_ceil(size)
}

pub(super) fn check_package_size(package_size: u64) -> Result<(), Error> {
    let most = limits::PACKAGE_UNITS;
    if (1..=most).contains(&package_size) {
        return Ok(());
    }
    let message = format!("found {package_size}, expected a whole number of 1 to {most}");
    Err(Error::invalid("package_size", message))
}

/// Takes free units from the quantities of cells, in their order, until the allocation is used up. Returns how
/// many it took.
pub(super) fn draw<'a>(
    allocation: &Decimal,
    cells: impl IntoIterator<Item = &'a mut Decimal>,
) -> Decimal {
    let mut pool = allocation.clone();
    for units in cells {
        let free = (&*units).min(&pool).clone();
        *units -= &free;
        pool -= free;
    }
    allocation - &pool
}
