//! Usage of a billing period or of any timeframe, and the search for events.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    CustomerId, Decimal, Error, EventKey, IdOr, MetricId, SubscriptionId, Timeframe,
    engine::{
        Account,
        commands::costs,
        kernel::{Transaction, boxed},
        rows::{
            self, event_blocks, figures,
            places::{self, Known},
            sources, totals,
        },
    },
    limits,
    schema::{self, CustomerHead},
    usage::{
        EventKeyEntry, EventPlace, EventSearch, EventSlot, FoundEvent, Meters, MetricUsage, Usage,
    },
};

impl Account {
    /// Returns the usage of a subscription in its current billing period: of its first one where it
    /// has not begun, of its last one where it has ended.
    pub async fn subscription_usage(&self, id: SubscriptionId) -> Result<Usage, Error> {
        let find = |mut tx| async move {
            let found = usage(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Returns the figure of one metric for one customer between two instants, whether or not a
    /// subscription covers them: none where min, max or latest has no event.
    ///
    /// It costs the buckets of the timeframe and the events of at most two windows of 15 minutes.
    pub async fn usage_between(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        metric_id: MetricId,
        timeframe: Timeframe,
    ) -> Result<Option<Decimal>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = figure(&mut tx, customer, metric_id, timeframe).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Searches for events by their keys (wire 3.5). Those that are not there are left out, those that
    /// are asked for twice come once. The order is that of the keys.
    ///
    /// An event is shown as it was last amended. One that was deprecated, or replaced by a backfill,
    /// is there and is said not to count; one of a backfill is there once that is reflected.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are no keys or more
    /// than 500, or the timeframe ends before it starts.
    pub async fn search_events(&self, search: EventSearch) -> Result<Vec<FoundEvent>, Error> {
        const WEEK: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 60 * 60);
        let EventSearch { event_ids, timeframe_start, timeframe_end } = search;
        if event_ids.is_empty() || event_ids.len() > limits::SEARCH_EVENTS {
            let message =
                format!("found {}, expected 1 to {}", event_ids.len(), limits::SEARCH_EVENTS);
            return Err(Error::invalid("event_ids", message));
        }
        let mut asked = HashSet::new();
        let event_ids: Vec<_> =
            event_ids.into_iter().filter(|id| asked.insert(id.clone())).collect();
        let now = self.shared().now();
        let start = timeframe_start.unwrap_or_else(|| now.saturating_sub(WEEK));
        let timeframe = Timeframe::new(start, timeframe_end.unwrap_or(now))
            .map_err(|error| Error::invalid("timeframe_end", error.to_string()))?;
        let event_ids = &event_ids;
        let find = |mut tx| async move {
            let found = search_events(&mut tx, event_ids, timeframe).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }
}

#[boxed]
async fn figure(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    metric_id: MetricId,
    timeframe: Timeframe,
) -> Result<Option<Decimal>, Error> {
    let customer_id = rows::customers::customer(tx, customer).await?.id;
    let metric = rows::metrics::metric(tx, metric_id).await?;
    let without_events = metric.figure_without_events();
    let total = figures::total_between(tx, customer_id, &Meters::one(metric), timeframe).await?;
    Ok(total.figure(metric_id).or(without_events))
}

#[boxed]
async fn search_events(
    tx: &mut Transaction<'_>,
    event_ids: &[EventKey],
    timeframe: Timeframe,
) -> Result<Vec<FoundEvent>, Error> {
    let keys: Vec<_> = event_ids.iter().map(|id| schema::event_key(tx.account, id)).collect();
    let there = event_ids.iter().cloned().zip(tx.get_all(&keys).await?);
    let there: Vec<_> = there.filter_map(|(id, entry)| Some((id, entry?))).collect();
    fetch_searched(tx, &there).await?;
    let mut found = Vec::with_capacity(there.len());
    for (id, EventKeyEntry { slots }) in there {
        let event = event_under(tx, id, &slots).await?;
        found.extend(event.filter(|event| timeframe.contains(event.timestamp)));
    }
    Ok(found)
}

#[boxed]
async fn usage(tx: &mut Transaction<'_>, id: SubscriptionId) -> Result<Usage, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    let timeframe = costs::current_period(tx, &entry);
    let of = &entry.subscription;
    let head = tx.guard::<CustomerHead>(of.customer_id).await?.head(tx)?;
    let meters = rows::metrics::meters(tx).await?.only_metrics();
    let mut total = totals::billing_total(tx, &entry, timeframe).await?;
    let later = meters.since(head.measured.saturating_add(1)..=u64::MAX);
    if !later.is_empty() {
        total.take(sources::total_between(tx, of, &later, timeframe).await?);
    }
    let metrics = meters.metrics.into_iter().map(|metric| MetricUsage {
        metric_id: metric.id,
        quantity: total.figure(of.usage_cell(metric.id)).or_else(|| metric.figure_without_events()),
        name: metric.name,
    });
    Ok(Usage { timeframe, metrics: metrics.collect() })
}

/// Reads the rows that most events need to be shown, in few calls of the store.
async fn fetch_searched(
    tx: &mut Transaction<'_>,
    all: &[(EventKey, EventKeyEntry)],
) -> Result<(), Error> {
    let account = tx.account;
    let mut keys = Vec::new();
    for slot in all.iter().flat_map(|(_, entry)| &entry.slots) {
        keys.push(schema::customer_head(account, slot.customer_id).key().clone());
        keys.push(schema::customer(account, slot.customer_id).key().clone());
        keys.extend(event_blocks::block_of(tx, slot).map(|slot| slot.key().clone()));
    }
    tx.fetch(&keys).await
}

/// Returns the event that a key stands for: the one that counts, or else the first that did. One
/// that only a pending or a reverted backfill has brought is not there.
async fn event_under(
    tx: &mut Transaction<'_>,
    id: EventKey,
    slots: &[EventSlot],
) -> Result<Option<FoundEvent>, Error> {
    let (mut asked, mut first) = (HashSet::new(), None);
    for EventSlot { customer_id, timestamp: at, .. } in slots {
        let place = EventPlace { at: *at, key: id.clone() };
        if !asked.insert((*customer_id, *at)) {
            continue;
        }
        let known = places::events_at(tx, *customer_id, &place, slots).await?;
        let counts = known.iter().position(Known::may_count);
        if counts.is_some() || first.is_none() {
            let shown = known.into_iter().nth(counts.unwrap_or_default());
            first = shown.map(|known| (*customer_id, *at, known)).or(first);
        }
        if counts.is_some() {
            break;
        }
    }
    let Some((customer_id, timestamp, known)) = first else { return Ok(None) };
    let deprecated = !known.may_count();
    let event = known.sourced.event;
    let customer = tx.row(&schema::customer(tx.account, customer_id))?;
    let customer = customer.map(|entry| entry.customer);
    let external = customer.as_ref().and_then(|of| of.external_customer_id.clone());
    Ok(Some(FoundEvent {
        id,
        customer_id: customer.map(|customer| customer.id),
        external_customer_id: external.or(event.external_customer_id.map(Cow::into_owned)),
        event_name: event.event_name.into_owned(),
        properties: event.properties.into_owned(),
        timestamp,
        deprecated,
    }))
}
