//! Documents of credits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AlertId, Metadata, MetricId, PricingUnit, Timestamp, TopUpId, price::PricedUsage};

/// What a customer has of credits, by currency and pricing unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credits {
    pub(crate) units: BTreeMap<PricingUnit, CreditsIn>,
}

impl Credits {
    /// Returns the currencies and pricing units in which usage of some prices draws on them, where
    /// the metrics move that measure it.
    pub(crate) fn drawn_by(
        &self,
        priced: &PricedUsage,
        moves: impl Fn(MetricId) -> bool,
    ) -> Vec<PricingUnit> {
        let has_ledger = |unit: &PricingUnit| self.units.get(unit).is_some_and(|of| of.has_ledger);
        let units = priced.usage_units.iter();
        let moved = units.filter(|(_, metrics)| metrics.iter().any(|metric| moves(*metric)));
        moved.map(|(unit, _)| unit).filter(|unit| has_ledger(unit)).cloned().collect()
    }
}

/// What a customer has of credits in one currency or pricing unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreditsIn {
    /// Whether there is a ledger.
    pub(crate) has_ledger: bool,
    /// When the next block of it expires.
    pub(crate) next_expiry: Option<Timestamp>,
    /// The active top-up of the ledger, whether that is there or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_up: Option<TopUpId>,
    /// When it begins to watch the balance, where it has not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_up_from: Option<Timestamp>,
    /// The alerts on its balance.
    pub(crate) alerts: Vec<AlertId>,
}

impl CreditsIn {
    /// Returns when time brings the next thing: a block that expires, or a top-up that begins to watch.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        [self.next_expiry, self.top_up_from].into_iter().flatten().min()
    }

    /// Tells whether there is anything in it.
    pub(crate) const fn is_used(&self) -> bool {
        self.has_ledger || !self.alerts.is_empty() || self.top_up.is_some()
    }
}

/// The caller's own strings on a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockMetadata {
    pub(crate) metadata: Metadata,
}
