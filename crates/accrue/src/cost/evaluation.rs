use std::time::Duration;

use crate::{
    CustomerId, Decimal, Error, ExternalId, IdOr, PriceId, PricingUnit, Timeframe, Timestamp,
    expression::{ComputedProperty, Expression, Fields},
    limits,
    price::{NewPrice, Price},
    usage::{Figures, PropertyValue, Total},
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

/// Evaluation of several prices: the usage of a customer to rate by each of them (subscriptions 9.1).
///
/// ```
/// use accrue::{
///     ExternalId, Timeframe, Timestamp, cost::{EvaluationEntry, PriceEvaluations},
///     expression::ComputedProperty,
/// };
///
/// let (start, end) = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
/// let march = Timeframe::new(Timestamp::parse(start)?, Timestamp::parse(end)?)?;
/// let whole = EvaluationEntry::new(ExternalId::parse("tokens")?);
/// let mut by_model = whole.clone();
/// by_model.grouping = vec![ComputedProperty::parse("model")?];
/// let both = PriceEvaluations {
///     customer: ExternalId::parse("ada")?.into(),
///     timeframe: march,
///     price_evaluations: vec![whole, by_model],
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceEvaluations {
    /// Customer whose usage is rated.
    pub customer: IdOr<CustomerId>,
    /// Timeframe of the usage.
    pub timeframe: Timeframe,
    /// Prices to rate it by, 1 to 100, each with a filter and groups of its own. The same one may be there
    /// several times.
    pub price_evaluations: Vec<EvaluationEntry>,
}

/// One price of an evaluation, and the usage to rate by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationEntry {
    /// Price to rate by.
    pub price: EvaluationPrice,
    /// Filter of the events that count: those for which it is true; all where none is given.
    pub filter: Option<Expression>,
    /// Computed properties to group by, at most 64 and each once: one group for each combination of
    /// their values. All events are one group where none is given.
    pub grouping: Vec<ComputedProperty>,
}

/// Price of an evaluation: one that is stored, or one that comes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationPrice {
    /// Price that is stored.
    Stored(IdOr<PriceId>),
    /// Price that is judged as one to create, and not stored: its external id may be one that is used.
    Inline(Box<NewPrice>),
}

/// Price that was evaluated, and what usage costs by it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvaluatedPrice {
    /// Price that is stored; none for one that came with the evaluation.
    pub price: Option<Price>,
    /// Currency or pricing unit of the amounts.
    pub currency: PricingUnit,
    /// Groups of events, in the order of their values.
    pub groups: Vec<EvaluatedGroup>,
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
        let used = Figures::of(price, None).quantity(Some(used));
        Self {
            grouping_values,
            quantity: price.charge.model().line_quantity(&used),
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

    /// Checks its grouping, and its timeframe.
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Error> {
        check_grouping(&self.grouping)?;
        check_start(self.timeframe, now)
    }

    /// Returns the evaluation of this one price.
    pub(crate) fn of(&self, price: impl Into<IdOr<PriceId>>) -> PriceEvaluations {
        let (filter, grouping) = (self.filter.clone(), self.grouping.clone());
        let entry = EvaluationEntry { filter, grouping, ..EvaluationEntry::new(price.into()) };
        PriceEvaluations {
            customer: self.customer.clone(),
            timeframe: self.timeframe,
            price_evaluations: vec![entry],
        }
    }
}

impl PriceEvaluations {
    /// Checks its prices, and its timeframe.
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Error> {
        self.check_entries()?;
        check_start(self.timeframe, now)
    }

    /// Checks its prices alone: how many there are, and what each is grouped by.
    pub(crate) fn check_entries(&self) -> Result<(), Error> {
        let (most, found) = (limits::EVALUATION_PRICES, self.price_evaluations.len());
        if !(1..=most).contains(&found) {
            let message = format!("has {found}, expected 1 to {most}");
            return Err(Error::invalid("price_evaluations", message));
        }
        for (place, entry) in self.price_evaluations.iter().enumerate() {
            check_grouping(&entry.grouping).map_err(|error| error.within(&Self::field(place)))?;
        }
        Ok(())
    }

    /// Returns the field of one of its prices.
    pub(crate) fn field(place: usize) -> String {
        format!("price_evaluations[{place}]")
    }
}

impl EvaluationEntry {
    /// Creates the evaluation of a price over all usage, as one group.
    #[must_use]
    pub fn new(price: impl Into<EvaluationPrice>) -> Self {
        Self { price: price.into(), filter: None, grouping: Vec::new() }
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

impl From<PriceId> for EvaluationPrice {
    fn from(id: PriceId) -> Self {
        Self::Stored(id.into())
    }
}

impl From<ExternalId> for EvaluationPrice {
    fn from(id: ExternalId) -> Self {
        Self::Stored(id.into())
    }
}

impl From<IdOr<PriceId>> for EvaluationPrice {
    fn from(id: IdOr<PriceId>) -> Self {
        Self::Stored(id)
    }
}

impl From<NewPrice> for EvaluationPrice {
    fn from(new: NewPrice) -> Self {
        Self::Inline(Box::new(new))
    }
}

fn check_grouping(grouping: &[ComputedProperty]) -> Result<(), Error> {
    let (most, found) = (limits::EVALUATION_GROUPINGS, grouping.len());
    if found > most {
        let message = format!("found {found} properties, expected at most {most}");
        return Err(Error::invalid("grouping", message));
    }
    for (place, key) in grouping.iter().enumerate() {
        if grouping.iter().take(place).any(|earlier| earlier.is_like(key)) {
            let message = format!("found {key} more than once, expected each property once");
            return Err(Error::invalid("grouping", message));
        }
    }
    Ok(())
}

fn check_start(timeframe: Timeframe, now: Timestamp) -> Result<(), Error> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let oldest = now.saturating_sub(DAY.saturating_mul(limits::EVALUATION_DAYS));
    let start = timeframe.start();
    if start < oldest {
        let message = format!("found {start}, expected {oldest} or later");
        return Err(Error::invalid("timeframe.start", message));
    }
    Ok(())
}
