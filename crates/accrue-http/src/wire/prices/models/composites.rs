//! Models of what other prices come to.

use accrue::{JsonNumber, WrittenDecimal};

use super::both::configs;

configs! {
    /// A fraction of what the other prices of the subscription in its currency come to.
    Percent: PercentConfigIn, PercentConfig {
        /// Fraction, more than 0 and at most 1.
        percent: JsonNumber,
        /// Least amount of a billing period, once that is over.
        minimum_amount: Option<WrittenDecimal>,
        /// Greatest amount of a billing period.
        maximum_amount: Option<WrittenDecimal>,
        /// True if the least amount is prorated to the days that are served.
        prorated: bool,
    }

    /// What the other prices of the subscription in its currency lack of an amount, once the billing period is over.
    MinimumComposite: MinimumCompositeConfigIn, MinimumCompositeConfig {
        /// Amount that they and this one come to at least.
        minimum_amount: WrittenDecimal,
        /// True if it is prorated to the days that are served.
        prorated: bool,
    }
}
