use std::{collections::BTreeSet, sync::Arc};

use super::EvaluatedGroup;
use crate::{
    Decimal, MetricId,
    price::{Charge, Model, Price, Quantity, Rated},
    subscription::{Subscription, Turns},
    usage::{MeterId, PropertyValue, Split, Total},
};

/// A subscription's prices, ready to rate what it used.
#[derive(Clone, Debug)]
pub(crate) struct RateCard {
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

impl RateCard {
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

    /// Returns when something is charged: a fee, or what a minimum adds.
    pub(crate) fn turns(&self) -> Turns {
        let own = self.subscription.cycle;
        let mut turns = Turns::default();
        for Priced { price, .. } in &self.prices {
            match (&price.charge, price.cadence.cycle()) {
                (Charge::Fixed { .. }, Some(cycle)) => turns.add(cycle),
                (Charge::Fixed { .. }, None) => turns.once = true,
                (Charge::Usage { .. }, _) if price.adjustments.minimum.is_some() => turns.add(own),
                (Charge::Usage { .. }, _) => {}
            }
        }
        turns
    }
}

impl Priced {
    pub(crate) fn new(price: Arc<Price>) -> Self {
        let meters = match &price.charge {
            Charge::Usage { metric_id, model: Model::Matrix(matrix) } => {
                Split::of(*metric_id, matrix, 0).meters_of(matrix)
            }
            Charge::Usage { metric_id, .. } => vec![(*metric_id).into()],
            Charge::Fixed { .. } => Vec::new(),
        };
        Self { price, meters }
    }

    /// Rates what was used.
    pub(crate) fn rate(&self, used: &Total) -> Rated {
        self.price.adjustments.rate(self.price.charge.model(), &self.quantity(used))
    }

    /// Rates what a group of events has used, by the model alone.
    pub(crate) fn evaluate(
        &self,
        grouping_values: Vec<PropertyValue>,
        used: &Total,
    ) -> EvaluatedGroup {
        let used = self.quantity(used);
        EvaluatedGroup {
            grouping_values,
            quantity: used.total(),
            amount: self.price.charge.model().rate(&used).amount,
            currency: self.price.currency.clone(),
        }
    }

    fn quantity(&self, used: &Total) -> Quantity {
        let figure = |meter: &MeterId| used.figure(*meter).unwrap_or_default();
        match self.meters.as_slice() {
            [] => Quantity::One(Decimal::zero()),
            [meter] => Quantity::One(figure(meter)),
            cells => Quantity::Cells(cells.iter().map(figure).collect()),
        }
    }
}
