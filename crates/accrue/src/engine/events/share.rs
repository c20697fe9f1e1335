//! A customer's share of a batch: what its events are added to, loaded and saved.

use std::collections::{BTreeMap, BTreeSet};

use super::sort::New;
use crate::{
    CustomerId, Error, MetricId, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Watched},
    engine::{
        active::ActiveSubscriptions,
        figures::Running,
        ledgers::Ledgers,
        standings::{INSTANT, oldest_judged},
        tallies::Indexed,
        transaction::Transaction,
        visible::BucketSlots,
    },
    expression::Fields,
    limits,
    schema::{self, EventCount},
    store::Key,
    subscription::SubscriptionEntry,
    usage::{Event, Hour, MeterId, Meters, Reading, Tally},
};

/// One customer's share of a batch: its new events, and the billing periods that they fall in.
pub(super) struct Share<'a> {
    pub(super) customer_id: CustomerId,
    /// Those that count, with what they contribute.
    pub(super) events: Vec<(&'a Event, Vec<Reading>)>,
    /// All of them.
    new: Vec<&'a New<'a>>,
    bucket_slots: BucketSlots,
    periods: Vec<(SubscriptionEntry, Vec<Timeframe>)>,
    /// In which currencies and pricing units usage draws credits, of subscriptions that draw any.
    draws_in: BTreeMap<SubscriptionId, Vec<PricingUnit>>,
    /// The metrics that some event adds to.
    moved: BTreeSet<MeterId>,
}

impl<'a> Share<'a> {
    /// Splits a batch by customer. Within one, the order of the batch stays.
    ///
    /// Refuses one that would take too much work: the comparisons of the metrics for each event, which
    /// are [few enough](limits::METRIC_TERMS) for the largest batch, and what each adds to for each
    /// subscription.
    pub(super) async fn split(
        tx: &Transaction<'_>,
        active: Vec<ActiveSubscriptions>,
        new: &'a [New<'a>],
        meters: &Meters,
    ) -> Result<Vec<Self>, Error> {
        let mut work = meters.terms().saturating_mul(new.len());
        let mut all: BTreeMap<CustomerId, Vec<_>> = BTreeMap::new();
        let mut events: BTreeMap<CustomerId, Vec<_>> = BTreeMap::new();
        for new in new {
            all.entry(new.customer_id).or_default().push(new);
            if new.counts {
                let fields = Fields::from(new.event);
                let readings = tx.readings(meters, &fields, &new.event.idempotency_key).await;
                events.entry(new.customer_id).or_default().push((new.event, readings));
            }
        }
        let mut shares = Vec::with_capacity(active.len());
        for ActiveSubscriptions { customer_id, entries, .. } in active {
            let events = events.remove(&customer_id).unwrap_or_default();
            let mut periods = Vec::with_capacity(entries.len());
            for entry in entries {
                let found = periods_of(&entry, &events);
                tx.pace.spend(events.len()).await;
                if !found.is_empty() {
                    periods.push((entry, found));
                }
            }
            let readings = || events.iter().flat_map(|(_, readings)| readings);
            let moved = readings().map(|reading| reading.meter).collect();
            work = work.saturating_add(readings().count().saturating_mul(periods.len()));
            check_work(work)?;
            shares.push(Self {
                customer_id,
                events,
                new: all.remove(&customer_id).unwrap_or_default(),
                bucket_slots: BucketSlots::default(),
                periods,
                draws_in: BTreeMap::new(),
                moved,
            });
        }
        Ok(shares)
    }

    /// Writes the events. The head was read.
    pub(super) async fn accept(&self, tx: &mut Transaction<'_>, metrics: u64) -> Result<(), Error> {
        tx.accept(self.customer_id, None, &self.new, metrics).await
    }

    /// Finds out which bucket slots the events are added to.
    pub(super) async fn find_bucket_slots(
        &mut self,
        tx: &mut Transaction<'_>,
    ) -> Result<(), Error> {
        let instants = || self.events.iter().map(|(event, _)| event.timestamp);
        if let (Some(first), Some(last)) = (instants().min(), instants().max()) {
            let timeframe = Timeframe::nothing_at(first).until(last.saturating_add(INSTANT));
            self.bucket_slots = tx.bucket_slots(self.customer_id, timeframe).await?;
        }
        Ok(())
    }

    /// Finds out which ledgers the events draw on. The customer's credits were fetched.
    pub(super) async fn find_ledgers(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(credits) = tx.row(&schema::credits(tx.account, self.customer_id))? else {
            return Ok(());
        };
        for (entry, _) in &self.periods {
            let version = tx.plan_version_of(entry).await?;
            let moves = |metric: MetricId| self.moved.contains(&metric.into());
            let draws_in = credits.drawn_by(&version, moves);
            if !draws_in.is_empty() {
                self.draws_in.insert(entry.subscription.id, draws_in);
            }
        }
        Ok(())
    }

    /// The ledgers that the events draw on.
    fn units(&self) -> BTreeSet<&PricingUnit> {
        self.draws_in.values().flatten().collect()
    }

    /// Loads what the events are added to. Its rows were fetched.
    pub(super) async fn load(
        &self,
        tx: &mut Transaction<'_>,
        meters: &Meters,
    ) -> Result<(Tally, Vec<Watched>), Error> {
        let customer_id = self.customer_id;
        let oldest_taken = tx.oldest_taken().await?;
        let (bucket_slots, readings) = (&self.bucket_slots, self.readings());
        let tally =
            tx.load_tally(customer_id, bucket_slots, readings, Indexed::Yes, oldest_taken).await?;
        let mut watched = Vec::with_capacity(self.periods.len());
        for (entry, periods) in &self.periods {
            let alerts = self.alerts(tx, entry).await?;
            let splits = tx.plan_version_of(entry).await?.splits;
            let mut standings = Vec::with_capacity(periods.len());
            let oldest_judged = oldest_judged(&entry.subscription, tx.now);
            let draws_in = self.draws_in.get(&entry.subscription.id);
            let is_rated = alerts.iter().any(|alert| alert.condition.is_on_cost());
            let card = match is_rated || draws_in.is_some() {
                true => Some(tx.card(entry).await?),
                false => None,
            };
            for period in periods {
                let standing = tx.standing_unrated(entry, period.start(), &alerts).await?;
                let Some(mut standing) = standing else { continue };
                if let Some(card) = &card {
                    standing.accrue(card, &alerts, tx.now);
                }
                standing.is_judged = oldest_judged <= period.start();
                if standing.needs_distinct_values(tally.indexes.values()) {
                    let meters = meters.with_splits(&splits).only_distinct();
                    let mut running = Running::default();
                    tx.run_on(&mut running, customer_id, &meters, *period).await?;
                    standing.distinct = Some(running.distinct);
                }
                standings.push(standing);
            }
            let subscription_id = entry.subscription.id;
            let draws_in = draws_in.cloned().unwrap_or_default();
            watched.push(Watched { subscription_id, splits, alerts, draws_in, standings });
        }
        Ok((tally, watched))
    }

    /// Opens the ledgers that the events draw on.
    pub(super) async fn ledgers(&self, tx: &mut Transaction<'_>) -> Result<Ledgers, Error> {
        let mut ledgers = Ledgers::new();
        for currency in self.units() {
            if let Some(ledger) = tx.ledger(self.customer_id, currency).await? {
                ledgers.insert(currency.clone(), ledger);
            }
        }
        Ok(ledgers)
    }

    /// Saves what has moved.
    pub(super) async fn save(
        &self,
        tx: &mut Transaction<'_>,
        tally: &Tally,
        watched: &[Watched],
    ) -> Result<(), Error> {
        let (account, customer_id) = (tx.account, self.customer_id);
        tx.save_tally(customer_id, &self.bucket_slots, tally, Indexed::Yes).await?;
        for (hour, more) in self.hours() {
            let slot = schema::event_volume(account, hour, customer_id);
            let EventCount { events } = tx.row(&slot)?.unwrap_or_default();
            tx.put(&slot, &EventCount { events: events.saturating_add(more) })?;
        }
        for ((entry, _), watched) in self.periods.iter().zip(watched) {
            for standing in &watched.standings {
                tx.save_standing(entry, standing)?;
            }
        }
        Ok(())
    }

    /// Returns the alerts that watch a metric which some event adds to.
    async fn alerts(
        &self,
        tx: &mut Transaction<'_>,
        entry: &SubscriptionEntry,
    ) -> Result<Vec<Alert>, Error> {
        let mut alerts = tx.watching(entry).await?;
        alerts.retain(|alert| match alert.condition.metric_id() {
            Some(metric_id) => self.moved.contains(&metric_id.into()),
            None => true,
        });
        Ok(alerts)
    }

    /// How many of the events count in each hour that has any.
    fn hours(&self) -> BTreeMap<Hour, u64> {
        let mut hours = BTreeMap::<_, u64>::new();
        for New { event, counts, .. } in &self.new {
            let count = hours.entry(Hour::of(event.timestamp)).or_default();
            *count = count.saturating_add(u64::from(*counts));
        }
        hours
    }

    fn readings(&self) -> impl Iterator<Item = (Timestamp, &Reading)> {
        self.events
            .iter()
            .flat_map(|(event, readings)| readings.iter().map(|reading| (event.timestamp, reading)))
    }
}

/// Refuses a batch that takes more work than one request may.
fn check_work(work: usize) -> Result<(), Error> {
    let most = limits::BATCH_WORK;
    if work <= most {
        return Ok(());
    }
    Err(Error::too_large(format!(
        "holding the batch against all metrics and subscriptions would take more than {most} \
         comparisons: a split into smaller requests helps"
    )))
}

/// The billing periods of a subscription that some events fall in.
fn periods_of(entry: &SubscriptionEntry, events: &[(&Event, Vec<Reading>)]) -> Vec<Timeframe> {
    let all = entry.subscription.periods();
    let mut found: Vec<Timeframe> = Vec::new();
    for (event, _) in events {
        if !found.iter().any(|period| period.contains(event.timestamp)) {
            found.extend(all.containing(event.timestamp));
        }
    }
    found
}

/// The rows of the alerts that watch the subscriptions. Those of their plans were fetched.
pub(super) fn alert_keys(tx: &Transaction<'_>, shares: &[Share<'_>]) -> Result<Vec<Key>, Error> {
    let mut keys = BTreeSet::new();
    for (entry, _) in shares.iter().flat_map(|share| &share.periods) {
        let of = &entry.subscription;
        let version = schema::plan_version(tx.account, of.plan_id, of.plan_version);
        let shared = tx.row(&version)?.unwrap_or_default().alerts;
        let ids = entry.alerts.iter().chain(&shared);
        keys.extend(ids.map(|id| schema::alert(tx.account, *id).key().clone()));
    }
    Ok(keys.into_iter().collect())
}

/// The rows that events are added to. Those of the alerts were fetched.
pub(super) async fn figure_keys(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<Vec<Key>, Error> {
    let account = tx.account;
    let mut keys = Vec::new();
    for share in shares {
        let customer_id = share.customer_id;
        let volume = |hour| schema::event_volume(account, hour, customer_id).key().clone();
        keys.extend(share.hours().into_keys().map(volume));
        let (bucket_slots, readings) = (&share.bucket_slots, share.readings());
        keys.extend(tx.tally_keys(customer_id, bucket_slots, readings, Indexed::Yes).await);
        for (entry, periods) in &share.periods {
            let id = entry.subscription.id;
            let alerts = share.alerts(tx, entry).await?;
            let has_cells = !tx.plan_version_of(entry).await?.splits.is_empty();
            for start in periods.iter().map(|period| period.start()) {
                let state = |alert: &Alert| schema::alert_state(account, id, start, alert.id);
                keys.push(schema::total(account, id, start).key().clone());
                if has_cells {
                    keys.push(schema::cell_total(account, id, start).key().clone());
                }
                keys.extend(alerts.iter().map(|alert| state(alert).key().clone()));
            }
        }
    }
    Ok(keys)
}

/// Reads the ledgers that events draw on, in as few calls of the store as for one.
pub(super) async fn fetch_ledgers(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let account = tx.account;
    let (mut ledgers, mut drawn) = (Vec::new(), Vec::new());
    for share in shares {
        ledgers.extend(share.units().into_iter().map(|unit| (share.customer_id, unit)));
        for (entry, periods) in &share.periods {
            let id = entry.subscription.id;
            for unit in share.draws_in.get(&id).into_iter().flatten() {
                let slot = |of: &Timeframe| schema::drawn(account, id, of.start(), unit);
                drawn.extend(periods.iter().map(|period| slot(period).key().clone()));
            }
        }
    }
    tx.fetch_guarded(&drawn).await?;
    tx.fetch_ledgers(&ledgers).await
}
