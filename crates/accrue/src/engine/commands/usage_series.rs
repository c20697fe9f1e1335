//! Usage over a timeframe, cut into days and grouped.

use std::collections::BTreeMap;

use crate::{
    CustomerId, Error, PropertyName, SubscriptionId, Timeframe,
    engine::{
        Account,
        commands::costs,
        kernel::{Transaction, boxed},
        rows::{self, comparisons::Comparisons, figures::Running, sources, visible},
    },
    expression::Fields,
    limits,
    subscription::{Subscription, SubscriptionEntry},
    usage::{
        Meters, PropertyGroup, Reading, Slots, Total, UsageMetrics, UsageQuery, UsageSeries,
        UsageSlot, View,
    },
};

impl Account {
    /// Computes the usage of a subscription: in the current billing period or in any timeframe, as one
    /// or day by day, by metric and by the values of a property (wire 5.1).
    ///
    /// A figure is that of the events of its slot alone: a day's greatest, a day's distinct values.
    /// Without groups it costs the aggregates of the timeframe, and the events of at most two
    /// windows of 15 minutes for each instant at which it is cut; with groups, its events.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such metric;
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where there would be more than 10,000
    /// figures; or, with groups, so many events that all comparisons of the metrics are more than ten
    /// million.
    pub async fn subscription_usage_over(
        &self,
        id: SubscriptionId,
        query: &UsageQuery,
    ) -> Result<Vec<UsageSeries>, Error> {
        let mut held = self.shared().stripes.hold_none();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let found = usage_series(&mut tx, id, query).await;
            let holds = tx.holds().await?;
            match found {
                found if holds => return found.map(|(_, series)| series),
                Ok((customer_id, _)) => held.keep_out_writers(self.id(), customer_id).await,
                Err(_) => {}
            }
        }
        Err(Error::contended())
    }
}

/// Aggregates of one group of events, slot by slot.
type Totals = Vec<Total>;

#[boxed]
async fn usage_series(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    query: &UsageQuery,
) -> Result<(CustomerId, Vec<UsageSeries>), Error> {
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    let subscription = &entry.subscription;
    let meters = meters(tx, &entry, query.metrics).await?;
    let (current, zone) = (costs::current_period(tx, &entry), &subscription.timezone);
    let cut = Slots::of(query.timeframe, query.view, current, tx.now, zone)?;
    let slots = &cut.slots;
    check_count(slots.len().saturating_mul(meters.metrics.len()))?;
    let groups = if query.is_of_all_events() {
        let totals = totals(tx, subscription, &meters, slots, query.view).await?;
        BTreeMap::from([(None, totals)])
    } else {
        grouped(tx, subscription, &meters, slots, query).await?
    };
    let series = groups.len().saturating_mul(meters.metrics.len());
    check_count(slots.len().saturating_mul(series))?;
    let mut series = Vec::new();
    for metric in &meters.metrics {
        for (value, totals) in &groups {
            let usage = slots.iter().zip(totals).map(|(slot, total)| UsageSlot {
                timeframe: cut.shown(match (query.view, slots.first()) {
                    (View::Cumulative, Some(first)) => first.until(slot.end()),
                    _ => *slot,
                }),
                quantity: total.figure(metric.id).or_else(|| metric.figure_without_events()),
            });
            let group = query.group_by.clone();
            series.push(UsageSeries {
                metric_id: metric.id,
                name: metric.name.clone(),
                group: group.map(|property| PropertyGroup { property, value: value.clone() }),
                usage: usage.collect(),
            });
        }
    }
    Ok((subscription.customer_id, series))
}

/// Returns the metrics to compute.
async fn meters(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    wanted: UsageMetrics,
) -> Result<Meters, Error> {
    let mut meters = rows::metrics::meters(tx).await?.only_metrics();
    match wanted {
        UsageMetrics::All => {}
        UsageMetrics::Priced => {
            let priced = rows::prices::card(tx, entry).await?.metrics();
            meters.metrics.retain(|metric| priced.contains(&metric.id));
        }
        UsageMetrics::One(metric_id) => {
            rows::metrics::metric(tx, metric_id).await?;
            meters.metrics.retain(|metric| metric.id == metric_id);
        }
    }
    Ok(meters)
}

async fn totals(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    meters: &Meters,
    slots: &[Timeframe],
    view: View,
) -> Result<Totals, Error> {
    let mut totals = Vec::with_capacity(slots.len());
    let (source, mut running) = (subscription.source(), Running::default());
    for slot in slots {
        if view == View::Periodic {
            running = Running::default();
        }
        let part = lived(subscription, *slot);
        sources::run_on(tx, &mut running, &source, meters, part).await?;
        totals.push(running.total.clone());
    }
    Ok(totals)
}

/// Adds up the events of the slots that count, one by one, by the values of a property where one is
/// given.
async fn grouped(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    meters: &Meters,
    slots: &[Timeframe],
    query: &UsageQuery,
) -> Result<BTreeMap<Option<String>, Totals>, Error> {
    let mut running: BTreeMap<Option<String>, Running> = BTreeMap::new();
    let mut groups: BTreeMap<Option<String>, Totals> = BTreeMap::new();
    let (source, mut comparisons) = (subscription.source(), Comparisons::of([meters]));
    for (index, slot) in slots.iter().enumerate() {
        if query.view == View::Periodic {
            running.clear();
        }
        let mut add = |fields: &Fields<'_>, readings: Vec<Reading>| {
            comparisons.add_event()?;
            if let Some(group) = query.group_of(fields) {
                let group = running.entry(group).or_default();
                readings.iter().for_each(|reading| group.add(reading, fields.timestamp()));
            }
            Ok(())
        };
        let part = lived(subscription, *slot);
        for customer in source.customers() {
            visible::each_event(tx, *customer, part, meters, &mut add).await?;
        }
        for (value, group) in &running {
            let slots = groups.entry(value.clone()).or_default();
            slots.resize(index, Total::default());
            slots.push(group.total.clone());
        }
        check_count(groups.len())?;
    }
    if query.group_by.is_none() {
        groups.entry(None).or_default();
    }
    groups.values_mut().for_each(|totals| totals.resize(slots.len(), Total::default()));
    Ok(groups)
}

impl UsageQuery {
    const fn is_of_all_events(&self) -> bool {
        self.group_by.is_none() && self.dimensions.is_empty()
    }

    /// Returns the group that an event is in; none of an event that does not count.
    fn group_of(&self, fields: &Fields<'_>) -> Option<Option<String>> {
        let has = |(property, value): &(PropertyName, String)| {
            fields.text(property).as_ref() == Some(value)
        };
        if !self.dimensions.iter().all(has) {
            return None;
        }
        let Some(property) = &self.group_by else { return Some(None) };
        let value = fields.text(property);
        (value.is_some() || self.with_missing).then_some(value)
    }
}

/// Refuses an answer of too many figures.
fn check_count(figures: usize) -> Result<(), Error> {
    let most = limits::RESULT_ROWS;
    if figures <= most {
        return Ok(());
    }
    Err(Error::too_many(format!("there are {figures} figures or more, expected at most {most}")))
}

/// Cuts a timeframe to the life of a subscription.
fn lived(subscription: &Subscription, timeframe: Timeframe) -> Timeframe {
    let start = timeframe.start().max(subscription.start_date);
    let end = subscription.end_date.map_or(timeframe.end(), |end| end.min(timeframe.end()));
    Timeframe::new(start, end).unwrap_or(Timeframe::nothing_at(start))
}
