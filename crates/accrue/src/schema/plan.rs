//! Documents of plans, of their prices, and of the metrics that measure them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AlertId, DimensionalPriceGroupId, MetricId, PlanId, PriceId, Timestamp,
    meter::MeterId,
    price::{Cycle, PricedUsage, ScopedAdjustment},
    subscription::SubscriptionEntry,
};

/// What every event of an account is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Catalogue {
    pub(crate) revision: u64,
    pub(crate) metrics: Vec<MetricId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) meters: Vec<MeterId>,
    /// Since when customers are looked for whose events are to be measured by more than they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deadline: Option<Timestamp>,
    /// Alerts on every subscription of the account.
    #[serde(default, skip_serializing_if = "SharedAlerts::is_none")]
    pub(crate) shared: SharedAlerts,
}

/// Whose alias it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PriceAlias {
    pub(crate) price_id: PriceId,
}

/// Whose alias it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DimensionalPriceGroupAlias {
    pub(crate) group_id: DimensionalPriceGroupId,
}

/// Whose alias it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanAlias {
    pub(crate) plan_id: PlanId,
}

/// Alerts that watch several subscriptions, and how often they have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedAlerts {
    pub(crate) revision: u64,
    /// The last revision that every subscription has applied: those up to it are gone.
    pub(crate) applied: u64,
    pub(crate) alerts: Vec<AlertId>,
    pub(crate) deadline: Option<Timestamp>,
}

impl SharedAlerts {
    /// Tells whether there never was one.
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A version of a plan: its prices, which never change, and the alerts on its subscriptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanVersionEntry {
    pub(crate) prices: Vec<PriceId>,
    /// Its adjustments, which never change either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) adjustments: Vec<ScopedAdjustment>,
    /// Prices of earlier versions by those that took their places.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) replaces: BTreeMap<PriceId, PriceId>,
    /// The usage that its prices are of.
    #[serde(flatten)]
    pub(crate) priced: PricedUsage,
    /// The billing cycle of its subscriptions.
    pub(crate) cycle: Cycle,
    pub(crate) created_at: Timestamp,
    #[serde(flatten)]
    pub(crate) shared: SharedAlerts,
}

impl PlanVersionEntry {
    /// Returns the usage that the prices of one of its subscriptions are of.
    pub(crate) fn priced_of<'a>(&'a self, entry: &'a SubscriptionEntry) -> &'a PricedUsage {
        entry.priced.as_ref().unwrap_or(&self.priced)
    }
}

impl Default for PlanVersionEntry {
    /// What is read of a version that was never created: nothing that is written rests on it.
    fn default() -> Self {
        Self {
            prices: Vec::new(),
            adjustments: Vec::new(),
            replaces: BTreeMap::new(),
            priced: PricedUsage::default(),
            cycle: Cycle::MONTH,
            created_at: Timestamp::MIN,
            shared: SharedAlerts::default(),
        }
    }
}
