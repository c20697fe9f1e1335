//! What something costs, on the wire (wire 5.1).

use accrue::{
    JsonNumber, PricingUnit,
    cost::{Cost, CostLine, CostQuery},
    price::{self, PartOf},
    related::Related,
    usage::{QueryTimeframe, View},
};
use serde::Serialize;

use super::{
    amounts::Amount,
    dates::{self, instants_are_in_order},
    prices::ItsPrice,
};
use crate::{
    problem::Problem,
    shape::{Moment, Sparse, choices, request, response},
};

request! {
    /// Timeframe and unit of costs, and the division of the timeframe.
    pub(crate) struct CostsQuery => instants_are_in_order {
        /// Currency or pricing unit of the totals: the invoicing currency where none is given.
        currency: Option<PricingUnit>,
        /// Start of the timeframe: that of the current billing period where none is given.
        timeframe_start: Option<Moment>,
        /// End of the timeframe: now where none is given.
        timeframe_end: Option<Moment>,
        /// Division of the timeframe: day by day, or from its start to the end of each day, the
        /// default.
        view_mode: Option<ViewMode>,
    }
}

response! {
    /// The cost in a timeframe.
    pub(crate) struct AggregatedCost {
        /// Start of the timeframe.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Cost before adjustments.
        subtotal: Amount,
        /// Cost after adjustments.
        total: Amount,
        /// Cost of each price.
        per_price_costs: Vec<PerPriceCost>,
    }

    /// The cost of one price, in its own unit.
    pub(crate) struct PerPriceCost {
        /// Price.
        price: ItsPrice,
        /// Id of the price.
        price_id: String,
        /// Cost of each cell of a matrix, the default cell last; absent for other models.
        price_groups: Sparse<Vec<PriceGroup>>,
        /// Quantity that was used, or is owed.
        quantity: JsonNumber,
        /// Cost before adjustments.
        subtotal: Amount,
        /// Cost after adjustments.
        total: Amount,
    }
}

response! {
    /// The cost of the usage that shares the values of the properties of a matrix: the first two are
    /// shown.
    pub(crate) struct PriceGroup {
        /// First property.
        grouping_key: String,
        /// Its value; null where events have none, and for the default cell.
        grouping_value: Option<String>,
        /// Second property; null where there is one only.
        secondary_grouping_key: Option<String>,
        /// Its value; null where events have none, and for the default cell.
        secondary_grouping_value: Option<String>,
        /// Cost before adjustments.
        total: Amount,
    }
}

/// The division of a timeframe into days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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

impl TryFrom<CostsQuery> for CostQuery {
    type Error = Problem;

    fn try_from(query: CostsQuery) -> Result<Self, Problem> {
        Ok(Self {
            timeframe: query_timeframe(query.timeframe_start, query.timeframe_end)?,
            view: match query.view_mode {
                Some(ViewMode::Periodic) => View::Periodic,
                Some(ViewMode::Cumulative) | None => View::Cumulative,
            },
            currency: query.currency,
        })
    }
}

/// Makes the timeframe of a query, of which either end may be left out (wire 4.1).
pub(crate) fn query_timeframe(
    start: Option<Moment>,
    end: Option<Moment>,
) -> Result<QueryTimeframe, Problem> {
    Ok(match (start, end) {
        (None, None) => QueryTimeframe::Current,
        (Some(Moment(start)), None) => QueryTimeframe::From(start),
        (None, Some(Moment(end))) => QueryTimeframe::To(end),
        (Some(Moment(start)), Some(Moment(end))) => dates::timeframe(start, end)?.into(),
    })
}

impl AggregatedCost {
    /// Writes a cost, with the prices that it is made of.
    pub(crate) fn of(cost: Cost, related: &Related) -> Self {
        let lines = cost.lines.into_iter().map(|line| {
            let price = related.price(line.price_id);
            PerPriceCost {
                price: ItsPrice::of(price, related),
                price_id: line.price_id.to_string(),
                price_groups: Sparse(price.and_then(|price| groups(price, &line))),
                quantity: JsonNumber(line.quantity),
                subtotal: Amount::of(&line.subtotal, &line.currency),
                total: Amount::of(&line.total, &line.currency),
            }
        });
        Self {
            timeframe_start: cost.timeframe.start().into(),
            timeframe_end: cost.timeframe.end().into(),
            per_price_costs: lines.collect(),
            subtotal: Amount::of(&cost.subtotal, &cost.currency),
            total: Amount::of(&cost.total, &cost.currency),
        }
    }
}

/// Returns the cost of each cell, where a price has cells and its parts are these.
fn groups(price: &price::Price, line: &CostLine) -> Option<Vec<PriceGroup>> {
    let mut keys = price.charge.model().dimensions().into_iter().map(|name| name.to_string());
    let (first, second) = (keys.next()?, keys.next());
    let groups = line.parts.iter().filter_map(|part| {
        let mut values = match &part.of {
            PartOf::Cell { dimension_values } => dimension_values.iter().cloned(),
            PartOf::DefaultCell => [].iter().cloned(),
            _ => return None,
        };
        Some(PriceGroup {
            grouping_key: first.clone(),
            grouping_value: values.next().flatten(),
            secondary_grouping_key: second.clone(),
            secondary_grouping_value: values.next().flatten(),
            total: Amount::of(&part.amount, &line.currency),
        })
    });
    let groups: Vec<_> = groups.collect();
    (line.parts.is_empty() || !groups.is_empty()).then_some(groups)
}
