use std::{collections::BTreeSet, sync::Arc};

use super::Accrual;
use crate::{
    Decimal, MetricId, Timeframe, Timestamp,
    price::{Charge, Cycle, Model, Price, Quantity, Rated},
    subscription::Subscription,
    usage::{MeterId, Split, Total},
};

/// A subscription's prices, ready to rate what it used.
#[derive(Clone, Debug)]
pub(crate) struct Tariff {
    pub(crate) subscription: Subscription,
    pub(crate) prices: Vec<Priced>,
}

/// A price, and what its quantity is added up under: nothing for a fee, one meter for each cell of
/// a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Priced {
    pub(crate) price: Arc<Price>,
    pub(crate) meters: Vec<MeterId>,
}

impl Tariff {
    pub(crate) fn new(subscription: Subscription, prices: Vec<Arc<Price>>) -> Self {
        let prices = prices.into_iter().map(Priced::new).collect();
        Self { subscription, prices }
    }

    /// Returns the metrics whose figures it prices.
    pub(crate) fn metrics(&self) -> BTreeSet<MetricId> {
        let metrics = self.prices.iter().filter_map(|Priced { price, .. }| match price.charge {
            Charge::Usage { metric_id, .. } => Some(metric_id),
            Charge::Fixed { .. } => None,
        });
        metrics.collect()
    }

    /// Returns the cycles at whose turns something is charged: a fee, or what a minimum adds.
    pub(crate) fn turns(&self) -> Vec<Cycle> {
        let own = self.subscription.cycle;
        let turns = self.prices.iter().filter_map(|Priced { price, .. }| match price.charge {
            Charge::Fixed { .. } => Some(price.cadence.cycle().unwrap_or(own)),
            Charge::Usage { .. } => price.adjustments.minimum.as_ref().map(|_| own),
        });
        turns.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns what a billing period has come to at an instant, on what was used in it.
    pub(crate) fn accrue(&self, period: Timeframe, used: &Total, until: Timestamp) -> Accrual {
        Accrual::new(self, period, used, until)
    }
}

impl Priced {
    fn new(price: Arc<Price>) -> Self {
        let meters = match &price.charge {
            Charge::Usage { metric_id, model: Model::Matrix(matrix) } => {
                Split::of(*metric_id, matrix, 0).meters_of(matrix)
            }
            Charge::Usage { metric_id, .. } => vec![(*metric_id).into()],
            Charge::Fixed { .. } => Vec::new(),
        };
        Self { price, meters }
    }

    /// Tells whether anything was used that it prices.
    pub(crate) fn is_used(&self, used: &Total) -> bool {
        self.meters.iter().any(|meter| used.figure(*meter).is_some())
    }

    /// Rates what was used.
    pub(crate) fn rate(&self, used: &Total) -> Rated {
        let figure = |meter: &MeterId| used.figure(*meter).unwrap_or_default();
        let quantity = match self.meters.as_slice() {
            [] => Quantity::One(Decimal::zero()),
            [meter] => Quantity::One(figure(meter)),
            cells => Quantity::Cells(cells.iter().map(figure).collect()),
        };
        self.price.adjustments.rate(self.price.charge.model(), &quantity)
    }
}
