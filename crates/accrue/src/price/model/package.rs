use serde::{Deserialize, Serialize};

use super::{
    Part, PartOf, Quantity, Rates, Rating,
    arithmetic::{check_package_size, started_packages},
};
use crate::{Decimal, Error, WrittenDecimal, price::check_bounds};

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
}

impl Rates for Package {
    fn check(&self) -> Result<(), Error> {
        check_bounds("package_amount", self.package_amount.number())?;
        check_package_size(self.package_size)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let packages = started_packages(&quantity.total(), self.package_size);
        Rating::of(vec![Part::new(PartOf::Whole, packages, self.package_amount.number())])
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        started_packages(&quantity.total(), self.package_size) * self.package_amount.number()
    }

    fn only_rises(&self) -> bool {
        !self.package_amount.number().is_negative()
    }
}
