use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use accrue::{Decimal, ExternalId};
use serde::Serialize;

use crate::{CustomerCost, Figures, reading::Reading};

/// Where a customer stands: every figure that a backfill may move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Who it is.
    pub external_customer_id: ExternalId,
    /// What it used.
    pub metrics: Figures,
    /// What it owes.
    pub cost: CustomerCost,
    /// What is left of its credits.
    pub balance: Decimal,
}

/// A figure that is not what it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// After what.
    pub once: &'static str,
    /// Whose it is.
    pub customer: ExternalId,
    /// What it is called.
    pub figure: String,
    /// What it is.
    pub found: Option<Decimal>,
    /// What it has to be.
    pub expected: Option<Decimal>,
}

impl Standing {
    pub(crate) fn new(external_customer_id: ExternalId, reading: Reading) -> Self {
        let Reading { metrics, cost, credits, .. } = reading;
        Self { external_customer_id, metrics, cost, balance: credits.balance }
    }

    /// Lists the figures that are not as expected, of the same customer.
    pub(crate) fn differences(&self, expected: &Self, once: &'static str) -> Vec<Difference> {
        let (found, expected) = (self.figures(), expected.figures());
        let names: BTreeSet<_> = found.keys().chain(expected.keys()).collect();
        let of = |figures: &BTreeMap<String, Decimal>, name: &String| figures.get(name).cloned();
        let differences = names.into_iter().map(|name| Difference {
            once,
            customer: self.external_customer_id.clone(),
            figure: name.clone(),
            found: of(&found, name),
            expected: of(&expected, name),
        });
        differences.filter(|of| of.found != of.expected).collect()
    }

    fn figures(&self) -> BTreeMap<String, Decimal> {
        let metrics = self.metrics.named();
        let metrics = metrics.filter_map(|(name, figure)| Some((name.to_owned(), figure?.clone())));
        let lines = self.cost.lines.iter().flat_map(|line| {
            let (price, unit) = (&line.price, line.currency.as_str());
            [
                (format!("quantity of {price}"), line.quantity.clone()),
                (format!("{unit} for {price}"), line.amount.clone()),
            ]
        });
        let whole = [("total cost", &self.cost.total), ("balance", &self.balance)];
        let whole = whole.map(|(name, figure)| (name.to_owned(), figure.clone()));
        metrics.chain(lines).chain(whole).collect()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |figure: &Option<Decimal>| {
            figure.as_ref().map_or_else(|| "nothing".to_owned(), Decimal::to_string)
        };
        let Self { once, customer, figure, found, expected } = self;
        let (found, expected) = (shown(found), shown(expected));
        write!(f, "{customer}, {figure}: found {found} once {once}, expected {expected}")
    }
}

#[cfg(test)]
mod tests {
    use accrue::{Name, PricingUnit};

    use super::*;
    use crate::CostLine;

    fn standing(requests: Option<u64>, amount: u64, balance: &str) -> Standing {
        let line = CostLine {
            price: Name::parse("output tokens").unwrap(),
            currency: PricingUnit::parse("USD").unwrap(),
            quantity: Decimal::from(10),
            amount: amount.into(),
        };
        Standing {
            external_customer_id: ExternalId::parse("customer-3").unwrap(),
            metrics: Figures::named_so([("requests", requests.map(Decimal::from))]),
            cost: CustomerCost { lines: vec![line], total: amount.into() },
            balance: Decimal::parse(balance).unwrap(),
        }
    }

    #[test]
    fn every_figure_that_differs_is_named() {
        let check = |found: &Standing, expect: &[&str]| {
            let differences = found.differences(&standing(Some(7), 20, "-1"), "it was reverted");
            let told: Vec<_> = differences.iter().map(Difference::to_string).collect();
            assert_eq!(told, expect);
        };
        check(&standing(Some(7), 20, "-1"), &[]);
        check(
            &standing(None, 20, "-1"),
            &["customer-3, requests: found nothing once it was reverted, expected 7"],
        );
        check(
            &standing(Some(8), 21, "1"),
            &[
                "customer-3, USD for output tokens: found 21 once it was reverted, expected 20",
                "customer-3, balance: found 1 once it was reverted, expected -1",
                "customer-3, requests: found 8 once it was reverted, expected 7",
                "customer-3, total cost: found 21 once it was reverted, expected 20",
            ],
        );
    }
}
