use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Currency, Decimal, Error, LicenseTypeId, MetricId, PricingUnit, PropertyName,
    meter::Meter,
    price::{Price, PriceFilter, Worth},
    rating::{Amounts, RateCard, Running, Watched},
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
    /// Cost of the usage of each group in the billing period, by the prices alone, at or above a threshold:
    /// `cost_exceeded` with grouping keys (subscriptions 8).
    GroupedCostExceeded {
        /// Properties of events whose values tell the groups apart.
        grouping_keys: Vec<PropertyName>,
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
        /// Filters of the prices that count: a price must pass all of them.
        price_filters: Vec<PriceFilter>,
    },
    /// What each license has drawn from its pool in a period of its fee, in percent of the pool, at or above a threshold:
    /// `license_balance_threshold_reached` (subscriptions 7.6).
    LicenseBalanceThresholdReached {
        /// The type of the licenses; `None` for all types.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        license_type_id: Option<LicenseTypeId>,
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
            Self::CostExceeded { .. } | Self::GroupedCostExceeded { .. } => "cost_exceeded",
            Self::SpendExceeded { .. } => "spend_exceeded",
            Self::LicenseBalanceThresholdReached { .. } => "license_balance_threshold_reached",
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
            Self::UsageExceeded { .. }
            | Self::CostExceeded { .. }
            | Self::GroupedCostExceeded { .. }
            | Self::LicenseBalanceThresholdReached { .. }
            | Self::SpendExceeded { .. } => None,
        }
    }

    /// Returns the type of the licenses whose pools it watches; none of all types, or where it watches no licenses.
    #[must_use]
    pub const fn license_type_id(&self) -> Option<LicenseTypeId> {
        match self {
            Self::LicenseBalanceThresholdReached { license_type_id } => *license_type_id,
            _ => None,
        }
    }

    /// Returns the properties by which it groups what it watches; none where it does not.
    #[must_use]
    pub fn grouping_keys(&self) -> &[PropertyName] {
        match self {
            Self::GroupedCostExceeded { grouping_keys, .. } => grouping_keys,
            _ => &[],
        }
    }

    /// Returns the filters of the prices that count.
    #[must_use]
    pub fn price_filters(&self) -> &[PriceFilter] {
        match self {
            Self::GroupedCostExceeded { price_filters, .. }
            | Self::SpendExceeded { price_filters, .. } => price_filters,
            _ => &[],
        }
    }

    /// Tells whether it watches the cost of the usage and fees of a subscription, as a whole.
    pub(crate) const fn is_on_cost(&self) -> bool {
        matches!(self, Self::CostExceeded { .. } | Self::SpendExceeded { .. })
    }

    /// Tells whether it watches usage group by group: by the values of properties, or by license.
    pub(crate) const fn is_on_groups(&self) -> bool {
        matches!(self, Self::GroupedCostExceeded { .. }) || self.is_on_licenses()
    }

    /// Tells whether it watches the pools of licenses.
    pub(crate) const fn is_on_licenses(&self) -> bool {
        matches!(self, Self::LicenseBalanceThresholdReached { .. })
    }

    /// Tells whether it watches something that prices make of usage.
    pub(crate) const fn is_rated(&self) -> bool {
        self.is_on_cost() || self.is_on_groups()
    }

    /// Returns what it watches group by group; none where it does not.
    pub(crate) fn watched(&self, card: &RateCard) -> Option<Watched> {
        match self {
            Self::GroupedCostExceeded { grouping_keys, currency, price_filters } => {
                Some(Watched::Costs(card.watched(grouping_keys, currency, price_filters)))
            }
            Self::LicenseBalanceThresholdReached { license_type_id } => {
                Some(Watched::Pools(card.watched_pools(*license_type_id)))
            }
            _ => None,
        }
    }

    /// Returns the meters that it takes to watch groups, of a revision of the account's; none where it watches none.
    pub(crate) fn watched_meters(&self, card: &RateCard, since: u64) -> Vec<Meter> {
        let Self::GroupedCostExceeded { grouping_keys, currency, price_filters } = self else {
            return Vec::new();
        };
        card.watched_meters(grouping_keys, currency, price_filters, since)
    }

    /// Returns the meters that it takes to watch groups of the usage of a plan's prices; none where it watches none.
    pub(crate) fn watched_of(&self, prices: &[Price], invoiced_in: Currency) -> Vec<Meter> {
        let Self::GroupedCostExceeded { grouping_keys, currency, price_filters } = self else {
            return Vec::new();
        };
        let counts = |price: &&Price| {
            PriceFilter::all_pass(price_filters, price)
                && price.worth_in(currency, invoiced_in).is_some()
        };
        let counting = prices.iter().filter(counts);
        counting.flat_map(|price| price.watched_meters(None, grouping_keys, 0)).collect()
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
            (
                Self::GroupedCostExceeded { grouping_keys, currency, price_filters },
                Self::GroupedCostExceeded {
                    grouping_keys: other_keys,
                    currency: other,
                    price_filters: others,
                },
            ) => {
                let in_order =
                    |keys: &[PropertyName]| keys.iter().cloned().collect::<BTreeSet<_>>();
                in_order(grouping_keys) == in_order(other_keys)
                    && currency == other
                    && PriceFilter::are_the_same(price_filters, others)
            }
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
    /// Cost of each group: `cost_exceeded` with grouping keys (subscriptions 8).
    GroupedCostExceeded {
        /// Properties of events whose values tell the groups apart: 1 to [4](crate::limits::GROUPING_KEYS)
        /// different ones. A missing one is as an empty text.
        grouping_keys: Vec<PropertyName>,
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
        /// Filters of the prices that count: a price must pass all of them; all prices count where
        /// there is none.
        price_filters: Vec<PriceFilter>,
    },
    /// Cost before adjustments: `spend_exceeded`.
    SpendExceeded {
        /// The currency or pricing unit that the cost is in.
        currency: PricingUnit,
        /// Filters of the prices that count: a price must pass all of them; all prices count where
        /// there is none.
        price_filters: Vec<PriceFilter>,
    },
    /// What each license has drawn from its pool: `license_balance_threshold_reached` (subscriptions 7.6).
    LicenseBalanceThresholdReached {
        /// The type of the licenses; `None` for all types.
        license_type_id: Option<LicenseTypeId>,
    },
}

impl NewCondition {
    /// Returns the properties by which it is to group what it watches; none where it is not to.
    pub(crate) fn grouping_keys(&self) -> &[PropertyName] {
        match self {
            Self::GroupedCostExceeded { grouping_keys, .. } => grouping_keys,
            _ => &[],
        }
    }

    /// Returns the filters of the prices that are to count.
    pub(crate) fn price_filters(&self) -> &[PriceFilter] {
        match self {
            Self::SpendExceeded { price_filters, .. }
            | Self::GroupedCostExceeded { price_filters, .. } => price_filters,
            Self::UsageExceeded { .. }
            | Self::CostExceeded { .. }
            | Self::LicenseBalanceThresholdReached { .. } => &[],
        }
    }

    /// Decides on what is watched: what costs in all, in the currency of the invoices where no other one is given.
    pub(super) fn decide(self, invoiced_in: Option<Currency>) -> Result<Condition, Error> {
        Ok(match self {
            Self::UsageExceeded { metric_id } => Condition::UsageExceeded { metric_id },
            Self::CostExceeded { currency } => {
                let currency = currency.or(invoiced_in.map(Into::into));
                let missing = || Error::invalid("currency", "is missing");
                Condition::CostExceeded { currency: currency.ok_or_else(missing)? }
            }
            Self::SpendExceeded { currency, price_filters } => {
                Condition::SpendExceeded { currency, price_filters }
            }
            Self::GroupedCostExceeded { grouping_keys, currency, price_filters } => {
                Condition::GroupedCostExceeded { grouping_keys, currency, price_filters }
            }
            Self::LicenseBalanceThresholdReached { license_type_id } => {
                Condition::LicenseBalanceThresholdReached { license_type_id }
            }
        })
    }
}
