//! Evaluation of prices: rates the usage of a customer in any timeframe, filtered and grouped, or
//! events that are not ingested.

mod rated;

use std::collections::BTreeSet;

use self::rated::{EventReading, Rated, Usage};
pub(super) use self::rated::{check_events, meters_of};
use crate::{
    CustomerId, Error, IdOr, Pace, PriceId, Violation,
    cost::{EvaluatedGroup, EvaluatedPrice, PriceEvaluation, PriceEvaluations},
    engine::{
        Account,
        kernel::{Transaction, boxed},
        rows::{self, figures},
    },
    limits,
    usage::{Event, Meters, PreviewEvent, Total},
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
        evaluation.check(self.shared().now())?;
        let found = self.evaluated(&evaluation.of(price), Usage::Ingested).await?;
        Ok(found.into_iter().flat_map(|price| price.groups).collect())
    }

    /// Rates the usage of a customer in a timeframe by several prices, stored ones and others
    /// (subscriptions 9.1), each as [`evaluate_price`](Self::evaluate_price) does: as they are asked for, in
    /// their order. Nothing is written.
    ///
    /// Those without filter and groups cost the aggregates of the timeframe once; for all others together
    /// its events are read once.
    ///
    /// # Errors
    ///
    /// Those of [`evaluate_price`](Self::evaluate_price), whose bounds are those of all prices together;
    /// those of [`create_price`](Self::create_price) for a price that is not stored, but for its external
    /// id, which may be used; and [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are
    /// no prices, or more than [100](limits::EVALUATION_PRICES).
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, Timeframe, Timestamp};
    /// # use accrue::{customer::NewCustomer, item::NewItem, metric::{MetricQuery, NewMetric}};
    /// # use accrue::{price::{Cadence, Model, NewPrice, Unit}, store::MemoryStore, Clock, SystemClock};
    /// use accrue::cost::{EvaluationEntry, PriceEvaluations};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("Model")?)).await?;
    /// # let sql = MetricQuery::parse("SELECT sum(tokens) FROM events")?;
    /// # let tokens = account.create_metric(NewMetric::new(Name::parse("Tokens")?, item.id, sql)).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let at = |amount| {
    /// #     let each = Model::Unit(Unit::new(Decimal::parse(amount)?));
    /// #     let new = NewPrice::builder(Name::parse("Tokens")?, item.id);
    /// #     Ok::<_, Box<dyn std::error::Error>>(new.billed(Cadence::Monthly, usd).usage(tokens.id, each))
    /// # };
    /// # let now = SystemClock.now();
    /// # let timeframe = Timeframe::new(now, now)?;
    /// // What the usage would cost at another price.
    /// let (today, tomorrow) = (account.create_price(at("0.10")?).await?, at("0.12")?);
    /// let both = PriceEvaluations {
    ///     customer: ada.id.into(),
    ///     timeframe,
    ///     price_evaluations: vec![EvaluationEntry::new(today.id), EvaluationEntry::new(tomorrow)],
    /// };
    /// let found = account.evaluate_prices(&both).await?;
    /// assert_eq!((&found[0].price, &found[1].price), (&Some(today), &None));
    /// assert_eq!(found[1].groups[0].amount, Decimal::zero());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn evaluate_prices(
        &self,
        evaluations: &PriceEvaluations,
    ) -> Result<Vec<EvaluatedPrice>, Error> {
        evaluations.check(self.shared().now())?;
        self.evaluated(evaluations, Usage::Ingested).await
    }

    /// Rates events that are not ingested by several prices (subscriptions 9.2), as
    /// [`evaluate_prices`](Self::evaluate_prices) would if these, and no others, had been: 1 to
    /// [500](limits::EVALUATION_PREVIEW_EVENTS), of which those of the customer within the timeframe count.
    /// Nothing is written.
    ///
    /// The timeframe and the events may lie anywhere, and two events that say the same are two. Of those at
    /// one instant the last one is the latest.
    ///
    /// # Errors
    ///
    /// Those of [`evaluate_prices`](Self::evaluate_prices), but for the start of the timeframe, and also where
    /// an event names a customer that is not there by its id; and
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are no events, or too many, or
    /// some exceed the bounds of [`ingest`](Self::ingest), each with its place.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, EventName, Name, PropertyName, Timeframe};
    /// # use accrue::{customer::NewCustomer, item::NewItem, metric::{MetricQuery, NewMetric}, Timestamp};
    /// # use accrue::{price::{Cadence, Model, NewPrice, Unit}, store::MemoryStore, usage::PreviewEvent};
    /// use accrue::cost::{EvaluationEntry, PriceEvaluations};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("Model")?)).await?;
    /// # let sql = MetricQuery::parse("SELECT sum(tokens) FROM events")?;
    /// # let tokens = account.create_metric(NewMetric::new(Name::parse("Tokens")?, item.id, sql)).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let each = Model::Unit(Unit::new(Decimal::parse("0.001")?));
    /// # let price = NewPrice::builder(Name::parse("Tokens")?, item.id);
    /// # let price = price.billed(Cadence::Monthly, Currency::parse("USD")?).usage(tokens.id, each);
    /// # let timestamp = Timestamp::parse("2030-03-01T08:00:00Z")?;
    /// # let timeframe = Timeframe::new(timestamp, Timestamp::parse("2030-04-01T00:00:00Z")?)?;
    /// let evaluations = PriceEvaluations {
    ///     customer: ada.id.into(),
    ///     timeframe,
    ///     price_evaluations: vec![EvaluationEntry::new(price)],
    /// };
    /// let event = PreviewEvent {
    ///     event_name: EventName::parse("completion")?,
    ///     timestamp,
    ///     properties: [(PropertyName::parse("tokens")?, 200_u64.into())].into_iter().collect(),
    ///     customer: None,
    /// };
    /// let found = account.evaluate_preview_events(&evaluations, vec![event; 5]).await?;
    /// assert_eq!(found[0].groups[0].quantity, Decimal::from(1_000));
    /// assert_eq!(found[0].groups[0].amount, Decimal::from(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn evaluate_preview_events(
        &self,
        evaluations: &PriceEvaluations,
        events: impl IntoIterator<Item = PreviewEvent>,
    ) -> Result<Vec<EvaluatedPrice>, Error> {
        evaluations.check_entries()?;
        let events = events.into_iter().enumerate();
        let events = events.map(|(place, event)| event.into_event(place, &evaluations.customer));
        let events: Vec<_> = events.collect();
        check_preview_events(&events).await?;
        self.evaluated(evaluations, Usage::Preview(&events)).await
    }

    async fn evaluated(
        &self,
        evaluations: &PriceEvaluations,
        usage: Usage<'_>,
    ) -> Result<Vec<EvaluatedPrice>, Error> {
        let mut held = self.shared().stripes.hold_none();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let found = evaluate(&mut tx, evaluations, usage).await;
            let holds = tx.holds().await?;
            match found {
                found if holds => return found.map(|(_, prices)| prices),
                Ok((customer_id, _)) => held.keep_out_writers(self.id(), customer_id).await,
                Err(_) => {}
            }
        }
        Err(Error::contended())
    }
}

#[boxed]
async fn evaluate<'a>(
    tx: &mut Transaction<'_>,
    evaluations: &'a PriceEvaluations,
    usage: Usage<'a>,
) -> Result<(CustomerId, Vec<EvaluatedPrice>), Error> {
    let timeframe = evaluations.timeframe;
    let mut rated = Vec::with_capacity(evaluations.price_evaluations.len());
    for (place, entry) in evaluations.price_evaluations.iter().enumerate() {
        rated.push(Rated::find(tx, place, entry, usage).await?);
    }
    let customer = rows::customers::customer(tx, &evaluations.customer).await?;
    if let Usage::Preview(events) = usage {
        check_customers(tx, events).await?;
    }
    let whole =
        Meters::together(rated.iter().filter(|of| !of.reads_events()).map(|of| &of.meters))?;
    let total = match whole.is_empty() {
        true => Total::default(),
        false => figures::total_between(tx, customer.id, &whole, timeframe).await?,
    };
    if let Some(mut reading) = EventReading::of(&mut rated)? {
        match usage {
            Usage::Ingested => reading.read_ingested(tx, customer.id, timeframe).await?,
            Usage::Preview(events) => reading.read(tx, events, &customer, timeframe).await?,
        }
    }
    Ok((customer.id, rated.into_iter().map(|of| of.rate(&total)).collect()))
}

/// Checks events that are not ingested: their number, and the bounds of each.
async fn check_preview_events(events: &[Event]) -> Result<(), Error> {
    let (most, found) = (limits::EVALUATION_PREVIEW_EVENTS, events.len());
    if !(1..=most).contains(&found) {
        return Err(Error::invalid("events", format!("has {found}, expected 1 to {most}")));
    }
    let (pace, mut violations) = (Pace::new(), Vec::new());
    for (place, event) in events.iter().enumerate() {
        let problems = event.problems(event.bytes()).into_iter();
        let field = format!("events[{place}]");
        violations.extend(problems.map(|message| Violation { field: field.clone(), message }));
        pace.spend_bytes(event.rough_bytes()).await;
    }
    if violations.is_empty() { Ok(()) } else { Err(Error::invalid_all(violations)) }
}

/// Checks that the customers exist that events name by their ids.
async fn check_customers(tx: &mut Transaction<'_>, events: &[Event]) -> Result<(), Error> {
    let named = events.iter().map(|event| &event.customer);
    for id in named.filter(|name| matches!(name, IdOr::Id(_))).collect::<BTreeSet<_>>() {
        rows::customers::customer(tx, id).await?;
    }
    Ok(())
}
