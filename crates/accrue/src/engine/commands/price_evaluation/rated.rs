//! Prices under evaluation, and the events that are read for them.

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    CustomerId, Error, EventKey, MetricId, Timeframe,
    cost::{EvaluatedGroup, EvaluatedPrice, EvaluationEntry, EvaluationPrice, PriceEvaluations},
    customer::Customer,
    engine::{
        commands::prices,
        kernel::Transaction,
        rows::{
            self,
            comparisons::Comparisons,
            figures::Running,
            visible::{self, SourcedEvent, WalkedSlot},
        },
    },
    expression::Fields,
    limits,
    meter::KnownIds,
    price::{Charge, Price},
    schema,
    usage::{Event, EventPlace, Figures, Meters, PropertyValue, Total},
};

/// Usage that is rated.
#[derive(Clone, Copy)]
pub(super) enum Usage<'a> {
    /// That of the events that were ingested.
    Ingested,
    /// That of these events alone.
    Preview(&'a [Event]),
}

/// A price under evaluation.
pub(super) struct Rated<'a> {
    pub(super) meters: Meters,
    entry: &'a EvaluationEntry,
    price: Price,
    /// Figures that it rates.
    figures: Figures,
    /// Groups of the events that are read; none where aggregates of all of them are kept.
    groups: Option<BTreeMap<Vec<PropertyValue>, Running>>,
}

impl<'a> Rated<'a> {
    pub(super) async fn find(
        tx: &mut Transaction<'_>,
        place: usize,
        entry: &'a EvaluationEntry,
        usage: Usage<'_>,
    ) -> Result<Self, Error> {
        let field = PriceEvaluations::field(place);
        let (price, name) = match &entry.price {
            EvaluationPrice::Stored(id) => {
                let price = rows::prices::price(tx, id).await?;
                let name = format!("the price {}", price.id);
                (price, name)
            }
            EvaluationPrice::Inline(new) => {
                let price = prices::decide_price(tx, new).await;
                let (price, _) = price.map_err(|error| error.within(&format!("{field}.price")))?;
                (price, format!("the price of {field}"))
            }
        };
        let Charge::Usage { metric_id, .. } = price.charge else {
            let what = if price.charge.is_fixed() { "fixed" } else { "composite" };
            let detail = format!("{name} is a {what} price: it rates no usage");
            return Err(Error::constraint(detail));
        };
        let is_stored = matches!(entry.price, EvaluationPrice::Stored(_));
        let (meters, are_kept) = meters_of(tx, &price, metric_id).await?;
        if is_stored && !are_kept {
            return Err(Error::corrupt("the meter of a price is missing"));
        }
        let has_aggregates = are_kept && matches!(usage, Usage::Ingested);
        if has_aggregates && entry.is_of_all_events() {
            return Ok(Self {
                entry,
                figures: Figures::of(&price, None),
                price,
                meters,
                groups: None,
            });
        }
        let meters = meters.of_events(entry.filter.clone()).and_terms(entry.grouping_terms());
        let groups = Some(BTreeMap::new());
        Ok(Self { entry, figures: Figures::of(&price, None), price, meters, groups })
    }

    pub(super) const fn reads_events(&self) -> bool {
        self.groups.is_some()
    }

    /// Rates its groups, or the total of what is added up as a whole.
    pub(super) fn rate(self, total: &Total) -> EvaluatedPrice {
        let Self { entry, price, groups, .. } = self;
        let groups = match groups {
            None => vec![EvaluatedGroup::rate(&price, Vec::new(), total)],
            Some(groups) => {
                let groups = groups.into_iter();
                let rate =
                    |(values, of): (_, Running)| EvaluatedGroup::rate(&price, values, &of.total);
                groups.map(rate).collect()
            }
        };
        let currency = price.currency.clone();
        let is_stored = matches!(entry.price, EvaluationPrice::Stored(_));
        EvaluatedPrice { price: is_stored.then_some(price), currency, groups }
    }
}

/// Returns the meters of a price: its metric, and the meters that divide it; and whether they are kept.
pub(in crate::engine::commands) async fn meters_of(
    tx: &mut Transaction<'_>,
    price: &Price,
    metric_id: MetricId,
) -> Result<(Meters, bool), Error> {
    let mut meters = Meters::one(rows::metrics::metric(tx, metric_id).await?);
    let mut are_kept = true;
    for own in price.rated_meters(None, 0) {
        let slot = schema::meter(tx.account, own.id);
        let kept = rows::account::guard(tx).await?.get(tx, &slot).await?;
        let kept = kept.and_then(|meter| meter.with_parts(&own.parts()));
        are_kept &= kept.is_some();
        meters.divided.push(kept.unwrap_or(own));
    }
    Ok((meters, are_kept))
}

/// Reading of events one by one, for the prices that need it, by the groups that they belong to.
pub(super) struct EventReading<'r, 'a> {
    rated: &'r mut [Rated<'a>],
    /// Number of events.
    events: usize,
    comparisons: Comparisons,
    known: KnownIds,
    size: Size,
}

/// Size of all groups.
#[derive(Default)]
struct Size {
    groups: usize,
    /// Bytes of all values.
    bytes: usize,
}

impl<'r, 'a> EventReading<'r, 'a> {
    /// Begins it; none where no price needs it.
    pub(super) fn of(rated: &'r mut [Rated<'a>]) -> Result<Option<Self>, Error> {
        if !rated.iter().any(Rated::reads_events) {
            return Ok(None);
        }
        let mut size = Size::default();
        for of in &mut *rated {
            match &mut of.groups {
                None => size.add(&[])?,
                Some(groups) if of.entry.grouping.is_empty() => {
                    size.group(groups, Vec::new())?;
                }
                Some(_) => {}
            }
        }
        let meters = rated.iter().filter(|of| of.reads_events()).map(|of| &of.meters);
        let comparisons = Comparisons::of(meters);
        Ok(Some(Self { rated, events: 0, comparisons, known: KnownIds::default(), size }))
    }

    /// Reads the events of a timeframe that a customer has.
    pub(super) async fn read_ingested(
        &mut self,
        tx: &mut Transaction<'_>,
        customer_id: CustomerId,
        timeframe: Timeframe,
    ) -> Result<(), Error> {
        let mut walk = visible::walk_events(tx, customer_id, timeframe, None).await?;
        loop {
            let walked = visible::walk_on(tx, &mut walk).await?;
            if walked.is_empty() {
                return Ok(());
            }
            for WalkedSlot { place: EventPlace { at, key }, event } in walked {
                let Some(SourcedEvent { event, .. }) = event else { continue };
                let fields = Fields::new(&event.event_name, at, &event.properties);
                self.add(tx, &fields, &key).await?;
            }
        }
    }

    /// Reads those of some events that are of the customer and lie in the timeframe.
    pub(super) async fn read(
        &mut self,
        tx: &Transaction<'_>,
        events: &[Event],
        customer: &Customer,
        timeframe: Timeframe,
    ) -> Result<(), Error> {
        let counts = |event: &&Event| {
            timeframe.contains(event.timestamp) && customer.is_named(&event.customer)
        };
        for event in events.iter().filter(counts) {
            let fields = Fields::new(&event.event_name, event.timestamp, &event.properties);
            self.add(tx, &fields, &event.idempotency_key).await?;
        }
        Ok(())
    }

    /// Adds what an event contributes to each price.
    async fn add(
        &mut self,
        tx: &Transaction<'_>,
        fields: &Fields<'_>,
        key: &EventKey,
    ) -> Result<(), Error> {
        self.events = self.events.saturating_add(1);
        check_events(self.events)?;
        self.comparisons.add_event()?;
        for of in &mut *self.rated {
            let Some(groups) = &mut of.groups else { continue };
            let readings = visible::readings(tx, &of.meters, &mut self.known, fields, key).await;
            if !readings.iter().any(|reading| of.figures.count(reading.place())) {
                continue;
            }
            let group = self.size.group(groups, of.entry.values_of(fields))?;
            readings.iter().for_each(|reading| group.add(reading, fields.timestamp()));
        }
        Ok(())
    }
}

impl Size {
    /// Finds a group, or begins one more.
    fn group<'g>(
        &mut self,
        groups: &'g mut BTreeMap<Vec<PropertyValue>, Running>,
        values: Vec<PropertyValue>,
    ) -> Result<&'g mut Running, Error> {
        match groups.entry(values) {
            Entry::Occupied(group) => Ok(group.into_mut()),
            Entry::Vacant(vacant) => {
                self.add(vacant.key())?;
                Ok(vacant.insert(Running::default()))
            }
        }
    }

    /// Adds a group of some values.
    fn add(&mut self, values: &[PropertyValue]) -> Result<(), Error> {
        self.groups = self.groups.saturating_add(1);
        let bytes = values.iter().map(PropertyValue::bytes);
        self.bytes = bytes.fold(self.bytes, usize::saturating_add);
        let most = limits::RESULT_ROWS;
        if self.groups > most {
            return Err(Error::too_many(format!("there are more than {most} groups of events")));
        }
        let most = limits::EVALUATION_BYTES;
        if self.bytes > most {
            let detail = format!("the values of the groups of events have more than {most} bytes");
            return Err(Error::too_many(detail));
        }
        Ok(())
    }
}

/// Refuses to read more events.
pub(in crate::engine::commands) fn check_events(found: usize) -> Result<(), Error> {
    let most = limits::EVALUATION_EVENTS;
    if found <= most {
        return Ok(());
    }
    Err(Error::too_many(format!(
        "the timeframe has more than {most} events to filter or group: a shorter one helps"
    )))
}
