use std::str::FromStr;

use accrue::Decimal;

/// The rate of a tax, out of 100.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxRate {
    percentage: Decimal,
    fraction: Decimal,
}

impl TaxRate {
    /// Returns it, out of 100.
    #[must_use]
    pub const fn percentage(&self) -> &Decimal {
        &self.percentage
    }

    /// Returns it, out of 1.
    #[must_use]
    pub const fn fraction(&self) -> &Decimal {
        &self.fraction
    }
}

impl FromStr for TaxRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a percentage from 0 to 100, as in 20 or 8.25".to_owned();
        let percentage = Decimal::parse(text).map_err(|_| expected())?;
        let hundredth = Decimal::parse("0.01").map_err(|_| expected())?;
        if percentage < Decimal::zero() || Decimal::from(100) < percentage {
            return Err(expected());
        }
        let fraction = &percentage * &hundredth;
        Ok(Self { percentage, fraction })
    }
}
