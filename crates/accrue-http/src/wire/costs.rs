use accrue::{
    Decimal, JsonNumber, PricingUnit, Timeframe,
    cost::{self, CostQuery},
    related::Related,
    usage::View,
};

use super::prices::Price;
use crate::{
    problem::{Problem, Violations},
    shape::{Describe, Moment, Schema, choices, request, response},
};

request! {
    /// Which costs, and how they are cut.
    pub(crate) struct CostListQuery {
        /// From when on: from the begin of the current billing period where no timeframe is given.
        timeframe_start: Option<Moment>,
        /// Until before when: until the end of the current billing period where no timeframe is
        /// given.
        timeframe_end: Option<Moment>,
        /// Whether a row has what a day costs, or what everything costs up to its end.
        view_mode: Option<ViewMode>,
        /// What the totals are in: the currency that is invoiced where none is given.
        currency: Option<PricingUnit>,
    }
}

response! {
    /// What something costs between two instants.
    pub(crate) struct AggregatedCost {
        /// From when on.
        timeframe_start: Moment,
        /// Until before when.
        timeframe_end: Moment,
        /// The cost before adjustments.
        subtotal: Decimal,
        /// The cost after adjustments.
        total: Decimal,
        /// What each price costs.
        per_price_costs: Vec<PriceCost>,
    }

    /// What one price costs.
    pub(crate) struct PriceCost {
        /// The price.
        price: ItsPrice,
        /// Its id.
        price_id: String,
        /// How many were used, or owed.
        quantity: JsonNumber,
        /// The cost before adjustments, in what the price's amounts are in.
        subtotal: Decimal,
        /// The cost after adjustments, in what the price's amounts are in.
        total: Decimal,
    }
}

/// The price of a cost. It is always there: prices are never deleted.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct ItsPrice(Option<Price>);

impl Describe for ItsPrice {
    fn schema() -> Schema {
        Price::schema()
    }
}

/// How costs are cut into days.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ViewMode {
    Periodic,
    Cumulative,
}

choices! {
    ViewMode {
        "periodic" => ViewMode::Periodic,
        "cumulative" => ViewMode::Cumulative,
    }
}

impl TryFrom<CostListQuery> for CostQuery {
    type Error = Problem;

    fn try_from(query: CostListQuery) -> Result<Self, Problem> {
        let missing = |pointer, given| {
            let message = format!("is missing, {given} needs it");
            Err(Problem::invalid(Violations::one(pointer, message)))
        };
        let timeframe = match (query.timeframe_start, query.timeframe_end) {
            (None, None) => None,
            (Some(Moment(start)), Some(Moment(end))) => {
                let timeframe = Timeframe::new(start, end);
                let wrong = |error: accrue::TimeframeError| {
                    Violations::one("/timeframe_end", error.to_string())
                };
                Some(timeframe.map_err(wrong)?)
            }
            (Some(_), None) => return missing("/timeframe_end", "timeframe_start"),
            (None, Some(_)) => return missing("/timeframe_start", "timeframe_end"),
        };
        let view = match query.view_mode {
            Some(ViewMode::Periodic) => View::Periodic,
            Some(ViewMode::Cumulative) | None => View::Cumulative,
        };
        Ok(Self { timeframe, view, currency: query.currency })
    }
}

impl AggregatedCost {
    /// Writes a cost, with its prices.
    pub(crate) fn of(cost: &cost::Cost, related: &Related) -> Self {
        let lines = cost.lines.iter().map(|line| PriceCost {
            price: ItsPrice(related.price(line.price_id).map(|price| Price::of(price, related))),
            price_id: line.price_id.to_string(),
            quantity: JsonNumber(line.quantity.clone()),
            subtotal: line.subtotal.clone(),
            total: line.total.clone(),
        });
        Self {
            timeframe_start: cost.timeframe.start().into(),
            timeframe_end: cost.timeframe.end().into(),
            subtotal: cost.subtotal.clone(),
            total: cost.total.clone(),
            per_price_costs: lines.collect(),
        }
    }
}
