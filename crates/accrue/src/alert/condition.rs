use serde::{Deserialize, Serialize};

use crate::{
    Currency, Decimal, MetricId, PricingUnit,
    price::{Price, PriceFilter, Worth},
    rating::{Amounts, Running},
};

/// Condition that an alert watches (§2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// Usage of one metric in the billing period, at or above a threshold: `usage_exceeded`.
    UsageExceeded {
        /// The metric.
        metric_id: MetricId,
    },
    /// Cost of the billing period after adjustments and before credits, at or above a threshold:
    /// `cost_exceeded`.
    CostExceeded {
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
    },
    /// Cost of the billing period before adjustments and credits, at or above a threshold:
    /// `spend_exceeded` (wire 1.4).
    SpendExceeded {
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
        /// Filters of the prices that count: a price must pass all of them.
        price_filters: Vec<PriceFilter>,
    },
    /// Credit balance of a customer, at zero or below: `credit_balance_depleted`.
    CreditBalanceDepleted {
        /// The currency or pricing unit of the ledger.
        currency: PricingUnit,
    },
    /// Credit balance of a customer, at or below a threshold: `credit_balance_dropped`.
    CreditBalanceDropped {
        /// The currency or pricing unit of the ledger.
        currency: PricingUnit,
    },
    /// Credit balance of a customer, above zero again: `credit_balance_recovered`.
    CreditBalanceRecovered {
        /// The currency or pricing unit of the ledger.
        currency: PricingUnit,
    },
}

impl Condition {
    /// Returns the type of alert on the wire.
    #[must_use]
    pub const fn alert_type(&self) -> &'static str {
        match self {
            Self::UsageExceeded { .. } => "usage_exceeded",
            Self::CostExceeded { .. } => "cost_exceeded",
            Self::SpendExceeded { .. } => "spend_exceeded",
            Self::CreditBalanceDepleted { .. } => "credit_balance_depleted",
            Self::CreditBalanceDropped { .. } => "credit_balance_dropped",
            Self::CreditBalanceRecovered { .. } => "credit_balance_recovered",
        }
    }

    /// Returns the metric whose usage it watches.
    #[must_use]
    pub const fn metric_id(&self) -> Option<MetricId> {
        match self {
            Self::UsageExceeded { metric_id } => Some(*metric_id),
            _ => None,
        }
    }

    /// Returns the currency or pricing unit of the ledger of credits whose balance it watches.
    #[must_use]
    pub const fn ledger(&self) -> Option<&PricingUnit> {
        match self {
            Self::CreditBalanceDepleted { currency }
            | Self::CreditBalanceDropped { currency }
            | Self::CreditBalanceRecovered { currency } => Some(currency),
            Self::UsageExceeded { .. } | Self::CostExceeded { .. } | Self::SpendExceeded { .. } => {
                None
            }
        }
    }

    /// Tells whether it watches the cost of the usage and fees of a subscription.
    pub(crate) const fn is_on_cost(&self) -> bool {
        matches!(self, Self::CostExceeded { .. } | Self::SpendExceeded { .. })
    }

    /// Returns the cost of a billing period that it watches: none before the first event or fee
    /// that counts.
    pub(crate) fn cost(&self, running: &Running) -> Option<Decimal> {
        let counting = running.lines().filter_map(|(price, amounts)| {
            self.amount(amounts, &self.worth(price, running.card().invoiced_in)?)
        });
        counting.reduce(|sum, amount| sum + amount)
    }

    /// Returns the worth of amounts of a price, in its own unit; none where the price does not count.
    pub(super) fn worth(&self, price: &Price, invoiced_in: Currency) -> Option<Worth> {
        match self {
            Self::CostExceeded { currency } => price.worth_in(currency, invoiced_in),
            Self::SpendExceeded { currency, price_filters } => {
                let passes = PriceFilter::all_pass(price_filters, price);
                price.worth_in(currency, invoiced_in).filter(|_| passes)
            }
            _ => None,
        }
    }

    /// Returns the amount of a line that it counts, in its own unit.
    pub(super) fn amount(&self, amounts: &Amounts, worth: &Worth) -> Option<Decimal> {
        let in_tiers = amounts.in_tiers.as_ref();
        match self {
            Self::CostExceeded { .. } => {
                Some(worth.of(amounts.total.as_ref()?, in_tiers.map(|of| &of.total)))
            }
            Self::SpendExceeded { .. } => {
                Some(worth.of(amounts.subtotal.as_ref()?, in_tiers.map(|of| &of.subtotal)))
            }
            _ => None,
        }
    }

    /// Tells whether a subscription, a plan version or a customer can have only one of the two
    /// (wire 1.4).
    pub(super) fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::CostExceeded { .. }, Self::CostExceeded { .. }) => true,
            (
                Self::SpendExceeded { currency, price_filters },
                Self::SpendExceeded { currency: other, price_filters: others },
            ) => currency == other && PriceFilter::are_the_same(price_filters, others),
            _ => self == other,
        }
    }
}

/// Condition that a new alert watches (wire 1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NewCondition {
    /// Usage of one metric: `usage_exceeded`.
    UsageExceeded {
        /// The metric.
        metric_id: MetricId,
    },
    /// Cost after adjustments: `cost_exceeded`.
    CostExceeded {
        /// The currency or pricing unit that the cost is in; the one that the plan is invoiced in
        /// where none is given. Where no price counts in it, there is never a value.
        currency: Option<PricingUnit>,
    },
    /// Cost before adjustments: `spend_exceeded`.
    SpendExceeded {
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
        /// Filters of the prices that count: a price must pass all of them; all prices count where
        /// there is none.
        price_filters: Vec<PriceFilter>,
    },
}

impl NewCondition {
    /// Returns the filters of the prices that are to count.
    pub(crate) fn price_filters(&self) -> &[PriceFilter] {
        match self {
            Self::SpendExceeded { price_filters, .. } => price_filters,
            Self::UsageExceeded { .. } | Self::CostExceeded { .. } => &[],
        }
    }

    pub(super) fn decide(self, invoiced_in: Currency) -> Condition {
        match self {
            Self::UsageExceeded { metric_id } => Condition::UsageExceeded { metric_id },
            Self::CostExceeded { currency } => {
                Condition::CostExceeded { currency: currency.unwrap_or_else(|| invoiced_in.into()) }
            }
            Self::SpendExceeded { currency, price_filters } => {
                Condition::SpendExceeded { currency, price_filters }
            }
        }
    }
}
