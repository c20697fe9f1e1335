use std::time::Duration;

use crate::{
    CustomerId, Decimal, Error, IdOr, PricingUnit, Timeframe, Timestamp,
    expression::{ComputedProperty, Expression, Fields},
    limits,
    price::{Price, Quantity},
    usage::{PropertyValue, Total},
};

/// Evaluation of a price: the usage of a customer to rate by it (wire 5.1).
///
/// ```
/// use accrue::{
///     ExternalId, Timeframe, Timestamp, cost::PriceEvaluation,
///     expression::{ComputedProperty, Expression},
/// };
///
/// let (start, end) = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
/// let march = Timeframe::new(Timestamp::parse(start)?, Timestamp::parse(end)?)?;
/// let mut by_model = PriceEvaluation::new(ExternalId::parse("ada")?, march);
/// by_model.filter = Some(Expression::parse("region = 'eu'")?);
/// by_model.grouping = vec![ComputedProperty::parse("model")?];
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceEvaluation {
    /// Customer whose usage is rated.
    pub customer: IdOr<CustomerId>,
    /// Timeframe of the usage; it starts at most 100 days ago.
    pub timeframe: Timeframe,
    /// Filter of the events that count: those for which it is true; all where none is given.
    pub filter: Option<Expression>,
    /// Computed properties to group by, at most 64 and each once: one group for each combination of
    /// their values. All events are one group where none is given.
    pub grouping: Vec<ComputedProperty>,
}

/// Usage of one group of events, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvaluatedGroup {
    /// Values of what was grouped by, in their order; null where an event has none.
    pub grouping_values: Vec<PropertyValue>,
    /// Figure of the metric, over the events of the group alone. For a matrix it is the sum of its
    /// cells.
    pub quantity: Decimal,
    /// Cost of the quantity by the model of the price, exact: no discount, minimum or maximum is
    /// applied.
    pub amount: Decimal,
    /// Currency or pricing unit of the amount.
    pub currency: PricingUnit,
}

impl EvaluatedGroup {
    /// Rates the usage of a group of events, by the model of a price alone.
    pub(crate) fn rate(price: &Price, grouping_values: Vec<PropertyValue>, used: &Total) -> Self {
        let figures = price.cells().into_iter();
        let used = Quantity::of(figures.map(|cell| used.figure(cell).unwrap_or_default()));
        Self {
            grouping_values,
            quantity: used.total(),
            amount: price.charge.model().rate(&used).amount,
            currency: price.currency.clone(),
        }
    }
}

impl PriceEvaluation {
    /// Creates an evaluation of all usage of a customer in a timeframe, as one group.
    #[must_use]
    pub fn new(customer: impl Into<IdOr<CustomerId>>, timeframe: Timeframe) -> Self {
        Self { customer: customer.into(), timeframe, filter: None, grouping: Vec::new() }
    }

    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Error> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let (most, found) = (limits::EVALUATION_GROUPINGS, self.grouping.len());
        if found > most {
            let message = format!("found {found} properties, expected at most {most}");
            return Err(Error::invalid("grouping", message));
        }
        for (place, key) in self.grouping.iter().enumerate() {
            if self.grouping.iter().take(place).any(|earlier| earlier.is_like(key)) {
                let message = format!("found {key} more than once, expected each property once");
                return Err(Error::invalid("grouping", message));
            }
        }
        let oldest = now.saturating_sub(DAY.saturating_mul(limits::EVALUATION_DAYS));
        let start = self.timeframe.start();
        if start < oldest {
            let message = format!("found {start}, expected {oldest} or later");
            return Err(Error::invalid("timeframe.start", message));
        }
        Ok(())
    }

    /// Tells whether every event counts, and all for one group.
    pub(crate) const fn is_of_all_events(&self) -> bool {
        self.filter.is_none() && self.grouping.is_empty()
    }

    /// Returns the most comparisons and calls that finding the group of an event makes.
    pub(crate) fn grouping_terms(&self) -> usize {
        self.grouping.iter().map(ComputedProperty::terms).fold(0, usize::saturating_add)
    }

    /// Returns the values of the group that an event belongs to.
    pub(crate) fn values_of(&self, event: &Fields<'_>) -> Vec<PropertyValue> {
        self.grouping.iter().map(|key| key.evaluate(event)).collect()
    }
}
