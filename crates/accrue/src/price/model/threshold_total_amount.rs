use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating, tiers::check_rows};
use crate::{
    Decimal, Error, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// Stair steps: one amount for all units, by the last threshold that their number has passed (price models
/// 3.11).
///
/// A quantity that is exactly a threshold has not passed it; without one that is passed nothing is charged. One
/// part: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdTotalAmount {
    /// Steps, two or more, by rising thresholds.
    pub consumption_table: Vec<ThresholdStep>,
    /// True if usage is prorated to the days that it is served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorate: bool,
}

/// Step of an amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdStep {
    /// Quantity above which the amount is charged, at least 0.
    pub threshold: WrittenDecimal,
    /// Amount for all units. It need not rise from step to step.
    pub total_amount: WrittenDecimal,
}

impl Rates for ThresholdTotalAmount {
    fn check(&self) -> Result<(), Error> {
        check_rows("consumption_table", self.consumption_table.len(), 2)?;
        let mut before: Option<&Decimal> = None;
        for (place, step) in self.consumption_table.iter().enumerate() {
            let at = |field: &str| format!("consumption_table[{place}].{field}");
            let threshold = step.threshold.number();
            check_not_negative(&at("threshold"), threshold)?;
            check_bounds(at("total_amount"), step.total_amount.number())?;
            if let Some(before) = before.filter(|before| threshold <= *before) {
                let message = format!("found {threshold}, expected more than {before}");
                return Err(Error::invalid(at("threshold"), message));
            }
            before = Some(threshold);
        }
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let quantity = quantity.billable();
        let passed = self.consumption_table.iter().rfind(|of| *of.threshold.number() < quantity);
        let part = passed.map(|step| {
            let amount = step.total_amount.number();
            Part::of_group(PartOf::Whole, quantity, amount.clone(), amount.clone())
        });
        Rating::of(part.into_iter().collect())
    }

    fn is_prorated(&self) -> bool {
        self.prorate
    }

    fn only_rises(&self) -> bool {
        let amounts = self.consumption_table.iter().map(|step| step.total_amount.number());
        let zero = Decimal::zero();
        [&zero].into_iter().chain(amounts).is_sorted()
    }
}
