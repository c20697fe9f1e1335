//! Usage of a billing period or of any timeframe, and the search for events.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    CustomerId, Decimal, Error, EventKey, IdOr, MetricId, SubscriptionId, Timeframe,
    engine::{Account, kernel::Transaction, rows::places::Known},
    limits, schema,
    usage::{EventPlace, EventSearch, EventSlot, FoundEvent, Meters, MetricUsage, Usage},
};

impl Account {
    /// Returns the usage of a subscription in its current billing period: of its first one where it
    /// has not begun, of its last one where it has ended.
    pub async fn subscription_usage(&self, id: SubscriptionId) -> Result<Usage, Error> {
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let usage = tx.usage(id).await?;
            if tx.holds().await? {
                return Ok(usage);
            }
        }
        Err(Error::contended())
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
        let customer = customer.into();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let customer_id = tx.customer(&customer).await?.id;
            let metric = tx.metric(metric_id).await?;
            tx.get(&schema::customer_head(self.id(), customer_id)).await?;
            let without_events = metric.figure_without_events();
            let meters = Meters::one(metric);
            let total = tx.total_between(customer_id, &meters, timeframe).await?;
            if tx.holds().await? {
                return Ok(total.figure(metric_id).or(without_events));
            }
        }
        Err(Error::contended())
    }

    /// Looks for events by their keys (wire 3.5). Those that are not there are left out,
    /// those that are asked for twice come once. The order is that of the keys.
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
            return Err(Error::invalid("/event_ids", message));
        }
        let mut asked = HashSet::new();
        let event_ids: Vec<_> =
            event_ids.into_iter().filter(|id| asked.insert(id.clone())).collect();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let start = timeframe_start.unwrap_or_else(|| tx.now.saturating_sub(WEEK));
            let timeframe = Timeframe::new(start, timeframe_end.unwrap_or(tx.now))
                .map_err(|error| Error::invalid("/timeframe_end", error.to_string()))?;
            let found = tx.search(&event_ids, timeframe).await?;
            // What is not there needs no agreement.
            if found.is_empty() || tx.holds().await? {
                return Ok(found);
            }
        }
        Err(Error::contended())
    }
}

impl Transaction<'_> {
    async fn search(
        &mut self,
        event_ids: &[EventKey],
        timeframe: Timeframe,
    ) -> Result<Vec<FoundEvent>, Error> {
        let keys: Vec<_> = event_ids.iter().map(|id| schema::event_key(self.account, id)).collect();
        let there = event_ids.iter().cloned().zip(self.get_all(&keys).await?);
        let there: Vec<_> = there.filter_map(|(id, entry)| Some((id, entry?.slots))).collect();
        self.fetch_searched(&there).await?;
        let mut found = Vec::with_capacity(there.len());
        for (id, slots) in there {
            let event = self.event_under(id, &slots).await?;
            found.extend(event.filter(|event| timeframe.contains(event.timestamp)));
        }
        Ok(found)
    }

    async fn usage(&mut self, id: SubscriptionId) -> Result<Usage, Error> {
        let entry = self.subscription_entry(id).await?;
        let timeframe = self.current_period(&entry);
        let customer_id = entry.subscription.customer_id;
        let head =
            self.get(&schema::customer_head(self.account, customer_id)).await?.unwrap_or_default();
        let meters = self.meters().await?.only_metrics();
        let mut total = self.billing_total(&entry, timeframe).await?;
        let later = meters.clone().since(head.measured.saturating_add(1)..=u64::MAX);
        if !later.is_empty() {
            let more = self.total_between(customer_id, &later, timeframe).await?;
            total.metrics.extend(more.metrics);
        }
        let metrics = meters.metrics.into_iter().map(|metric| MetricUsage {
            metric_id: metric.id,
            quantity: total.figure(metric.id).or_else(|| metric.figure_without_events()),
            name: metric.name,
        });
        Ok(Usage { timeframe, metrics: metrics.collect() })
    }

    /// Reads what most events need to be shown, in few calls of the store.
    async fn fetch_searched(&mut self, all: &[(EventKey, Vec<EventSlot>)]) -> Result<(), Error> {
        let account = self.account;
        let mut keys = Vec::new();
        for slot in all.iter().flat_map(|(_, slots)| slots) {
            keys.push(schema::customer_head(account, slot.customer_id).key().clone());
            keys.push(schema::customer(account, slot.customer_id).key().clone());
            keys.extend(self.block_of(slot).map(|slot| slot.key().clone()));
        }
        self.fetch(&keys).await
    }

    /// Returns the event that a key stands for: the one that counts, or else the first that did. One
    /// that only a pending or a reverted backfill has brought is not there.
    async fn event_under(
        &mut self,
        id: EventKey,
        slots: &[EventSlot],
    ) -> Result<Option<FoundEvent>, Error> {
        let (mut asked, mut first) = (HashSet::new(), None);
        for EventSlot { customer_id, timestamp: at, .. } in slots {
            let place = EventPlace { at: *at, key: id.clone() };
            if !asked.insert((*customer_id, *at)) {
                continue;
            }
            let known = self.events_at(*customer_id, &place, slots).await?;
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
        let customer = self.row(&schema::customer(self.account, customer_id))?;
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
}
