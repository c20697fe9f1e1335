//! Evaluation of a price: rates the usage of a customer in any timeframe, filtered and grouped.

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    CustomerId, Error, IdOr, PriceId,
    cost::{EvaluatedGroup, PriceEvaluation},
    engine::{
        Account,
        kernel::{Transaction, boxed},
        rows::{
            self,
            comparisons::Comparisons,
            figures::{self, Running},
            visible,
        },
    },
    expression::Fields,
    limits,
    price::{Charge, Price},
    schema,
    usage::{Meters, PropertyValue, Reading, Total},
};

impl Account {
    /// Rates the usage of a customer in a timeframe by a price, whether or not it is one of a plan
    /// that the customer is subscribed to (wire 5.1): as one group, or one for each combination of
    /// values of some properties. Nothing is written.
    ///
    /// A group is rated as if it were all there is: tiers and packages begin anew in each. Its cost is
    /// the amount of the model, before discounts, minima and maxima. An event that contributes nothing
    /// to the metric makes no group; without grouping there always is one, with the quantity zero where
    /// there are no events. Groups are in the order of their values: null, booleans, numbers, strings.
    ///
    /// Without filter and groups it costs the aggregates of the timeframe, and the events of at most
    /// two windows of 15 minutes; otherwise its events.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such price or
    /// customer; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the price is a
    /// fixed one, which rates no usage; [`RequestValidation`](crate::ErrorKind::RequestValidation)
    /// where the timeframe starts more than 100 days ago, more than 64 properties are grouped by, or
    /// one of them twice; [`TooManyResults`](crate::ErrorKind::TooManyResults) where there would be
    /// more than 10,000 groups, the values of all groups would have more than
    /// [8 MiB](limits::EVALUATION_BYTES), or more than 100,000 events are to be read one by one, or so
    /// many that all comparisons of the filter and the metric are more than ten million.
    pub async fn evaluate_price(
        &self,
        price: impl Into<IdOr<PriceId>>,
        evaluation: &PriceEvaluation,
    ) -> Result<Vec<EvaluatedGroup>, Error> {
        let price = price.into();
        let mut held = self.shared().stripes.hold_none();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let found = evaluate(&mut tx, &price, evaluation).await;
            let holds = tx.holds().await?;
            match found {
                found if holds => return found.map(|(_, groups)| groups),
                Ok((customer_id, _)) => held.keep_out_writers(self.id(), customer_id).await,
                Err(_) => {}
            }
        }
        Err(Error::contended())
    }
}

/// Aggregates of events, by the values that they are grouped by.
#[derive(Default)]
struct Groups {
    by_values: BTreeMap<Vec<PropertyValue>, Running>,
    /// Bytes of all values.
    bytes: usize,
}

#[boxed]
async fn evaluate(
    tx: &mut Transaction<'_>,
    price: &IdOr<PriceId>,
    evaluation: &PriceEvaluation,
) -> Result<(CustomerId, Vec<EvaluatedGroup>), Error> {
    evaluation.check(tx.now)?;
    let price = rows::prices::price(tx, price).await?;
    let customer_id = rows::customers::customer(tx, &evaluation.customer).await?.id;
    let meters = meters_of(tx, &price).await?;
    let groups = if evaluation.is_of_all_events() {
        let total = figures::total_between(tx, customer_id, &meters, evaluation.timeframe).await?;
        vec![(Vec::new(), total)]
    } else {
        evaluated_groups(tx, customer_id, &price, meters, evaluation).await?
    };
    let groups =
        groups.into_iter().map(|(values, total)| EvaluatedGroup::rate(&price, values, &total));
    Ok((customer_id, groups.collect()))
}

/// Returns the meters of a price: its metric, and the meter that divides it.
async fn meters_of(tx: &mut Transaction<'_>, price: &Price) -> Result<Meters, Error> {
    let Charge::Usage { metric_id, .. } = price.charge else {
        let detail = format!("the price {} is a fixed price: it rates no usage", price.id);
        return Err(Error::constraint(detail));
    };
    let mut meters = Meters::one(rows::metrics::metric(tx, metric_id).await?);
    if let Some(own) = price.meter(0) {
        let slot = schema::meter(tx.account, own.id);
        let meter = rows::account::guard(tx).await?.get(tx, &slot).await?;
        let own = meter.and_then(|meter| meter.with_parts(&own.parts()));
        meters.divided.push(own.ok_or_else(|| Error::corrupt("the meter of a price is missing"))?);
    }
    Ok(meters)
}

/// Adds up the events of the timeframe one by one, by the groups that they belong to.
async fn evaluated_groups(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    price: &Price,
    meters: Meters,
    evaluation: &PriceEvaluation,
) -> Result<Vec<(Vec<PropertyValue>, Total)>, Error> {
    let meters = meters.of_events(evaluation.filter.clone()).and_terms(evaluation.grouping_terms());
    let (mut groups, cells) = (Groups::default(), price.cells());
    if evaluation.grouping.is_empty() {
        groups.group(Vec::new())?;
    }
    let mut events = 0_usize;
    let mut comparisons = Comparisons::of(&meters);
    let add = |fields: &Fields<'_>, readings: Vec<Reading>| {
        events = events.saturating_add(1);
        check_events(events)?;
        comparisons.add_event()?;
        if !readings.iter().any(|reading| cells.contains(&reading.cell)) {
            return Ok(());
        }
        let group = groups.group(evaluation.values_of(fields))?;
        readings.into_iter().for_each(|reading| group.add(reading));
        Ok(())
    };
    visible::each_event(tx, customer_id, evaluation.timeframe, &meters, add).await?;
    let groups = groups.by_values.into_iter();
    Ok(groups.map(|(values, running)| (values, running.total)).collect())
}

impl Groups {
    /// Finds a group, or begins one more.
    fn group(&mut self, values: Vec<PropertyValue>) -> Result<&mut Running, Error> {
        let found = self.by_values.len();
        match self.by_values.entry(values) {
            Entry::Occupied(group) => Ok(group.into_mut()),
            Entry::Vacant(vacant) => {
                let bytes = vacant.key().iter().map(PropertyValue::bytes);
                self.bytes = bytes.fold(self.bytes, usize::saturating_add);
                check_groups(found.saturating_add(1), self.bytes)?;
                Ok(vacant.insert(Running::default()))
            }
        }
    }
}

fn check_groups(found: usize, bytes: usize) -> Result<(), Error> {
    let most = limits::RESULT_ROWS;
    if found > most {
        return Err(Error::too_many(format!("there are more than {most} groups of events")));
    }
    let most = limits::EVALUATION_BYTES;
    if bytes > most {
        let detail = format!("the values of the groups of events have more than {most} bytes");
        return Err(Error::too_many(detail));
    }
    Ok(())
}

fn check_events(found: usize) -> Result<(), Error> {
    let most = limits::EVALUATION_EVENTS;
    if found <= most {
        return Ok(());
    }
    Err(Error::too_many(format!(
        "the timeframe has more than {most} events to filter or group: a shorter one helps"
    )))
}
