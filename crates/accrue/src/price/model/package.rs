use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error, WrittenDecimal, limits, price::check_bounds};

/// One amount for each started package of units.
///
/// One part, whose quantity is the number of packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Amount for a package.
    pub package_amount: WrittenDecimal,
    /// Number of units of a package: a whole number, at least 1. A size of 0, which no price is created
    /// with, rates as 1.
    pub package_size: u64,
}

impl Package {
    /// Creates a configuration.
    pub fn new(package_amount: impl Into<WrittenDecimal>, package_size: u64) -> Self {
        Self { package_amount: package_amount.into(), package_size }
    }

    /// Returns the number of packages that a quantity starts.
    fn packages(&self, quantity: &Decimal) -> Decimal {
        let size = NonZeroU64::new(self.package_size).unwrap_or(NonZeroU64::MIN);
        quantity.clone().max(Decimal::zero()).div_ceil(size)
    }
}

impl Rates for Package {
    fn check(&self) -> Result<(), Error> {
        check_bounds("package_amount", self.package_amount.number())?;
        if self.package_size == 0 || self.package_size > limits::PACKAGE_UNITS {
            let (found, most) = (self.package_size, limits::PACKAGE_UNITS);
            let message = format!("found {found}, expected a whole number of 1 to {most}");
            return Err(Error::invalid("package_size", message));
        }
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let packages = self.packages(&quantity.total());
        Rating::of(vec![Part::new(PartOf::Whole, packages, self.package_amount.number())])
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        self.packages(&quantity.total()) * self.package_amount.number()
    }

    fn only_rises(&self) -> bool {
        !self.package_amount.number().is_negative()
    }
}
