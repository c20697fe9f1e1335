//! Share of a customer in a batch: the figures that its events are added to, loaded and saved.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Error, MetricId, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::Alert,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self,
            active::{self, ActiveSubscriptions},
            event_blocks::{self, New},
            figures::{self, Running},
            ledgers::{self, Ledgers},
            periods::{self, Wanted},
            tallies::{self, Indexed, TallyPlaces},
            visible::{self, BucketSlots},
        },
        time::recount::moved_by,
    },
    expression::Fields,
    limits,
    meter::CellId,
    period::{Periods, oldest_judged},
    schema::{self, CustomerHead, EventCount},
    subscription::SubscriptionEntry,
    time::INSTANT,
    usage::{Event, Hour, Meters, Reading, Tally},
};

/// Share of one customer in a batch: its new events, and the billing periods that they fall in.
pub(super) struct Share<'a> {
    pub(super) customer_id: CustomerId,
    /// Events that count, with their contributions.
    pub(super) events: Vec<(&'a Event, Vec<Reading>)>,
    /// All events of the share.
    new: Vec<&'a New<'a>>,
    places: TallyPlaces,
    bucket_slots: BucketSlots,
    /// Billing periods that the events move, of each subscription that they count for.
    periods: Vec<(SubscriptionEntry, Vec<Timeframe>)>,
    /// Currencies and pricing units in which usage draws credits, of subscriptions that draw any.
    draws_in: BTreeMap<SubscriptionId, Vec<PricingUnit>>,
    /// Alerts that watch what some event adds to, of each of these subscriptions.
    alerts: BTreeMap<SubscriptionId, Vec<Alert>>,
    /// Metrics that some event adds to.
    moved: BTreeSet<CellId>,
}

impl<'a> Share<'a> {
    /// Splits a batch by customer. Within one, the order of the batch stays.
    ///
    /// Refuses one that would take too much work: the comparisons of the metrics for each event, which
    /// are [few enough](limits::METRIC_TERMS) for the largest batch, and the additions of each for each
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
                let readings =
                    visible::readings(tx, meters, &fields, &new.event.idempotency_key).await;
                events.entry(new.customer_id).or_default().push((new.event, readings));
            }
        }
        let mut shares = Vec::with_capacity(active.len());
        for ActiveSubscriptions { customer_id, entries, .. } in active {
            let events = events.remove(&customer_id).unwrap_or_default();
            let mut periods = Vec::with_capacity(entries.len());
            for entry in entries {
                let found = periods_of(&entry, &events, tx.now);
                tx.pace.spend(events.len()).await;
                if !found.is_empty() {
                    periods.push((entry, found));
                }
            }
            let readings = || events.iter().flat_map(|(_, readings)| readings);
            let moved = readings().map(|reading| reading.cell).collect();
            work = work.saturating_add(readings().count().saturating_mul(periods.len()));
            check_work(work)?;
            shares.push(Self {
                customer_id,
                events,
                new: all.remove(&customer_id).unwrap_or_default(),
                places: TallyPlaces::default(),
                bucket_slots: BucketSlots::default(),
                periods,
                draws_in: BTreeMap::new(),
                alerts: BTreeMap::new(),
                moved,
            });
        }
        Ok(shares)
    }

    /// Writes the events.
    pub(super) async fn accept(&self, tx: &mut Transaction<'_>, metrics: u64) -> Result<(), Error> {
        event_blocks::accept(tx, self.customer_id, None, &self.new, metrics).await
    }

    /// Finds the places that the events are added to, and their bucket slots.
    pub(super) async fn find_places(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        self.places = TallyPlaces::of(tx, self.readings()).await;
        let instants = || self.events.iter().map(|(event, _)| event.timestamp);
        if let (Some(first), Some(last)) = (instants().min(), instants().max()) {
            let timeframe = Timeframe::nothing_at(first).until(last.saturating_add(INSTANT));
            self.bucket_slots = visible::bucket_slots(tx, self.customer_id, timeframe).await?;
        }
        Ok(())
    }

    /// Finds the ledgers that the events draw on. The customer's credits were fetched.
    pub(super) async fn find_ledgers(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(credits) = tx.row(&schema::credits(tx.account, self.customer_id))? else {
            return Ok(());
        };
        for (entry, _) in &self.periods {
            let version = rows::plans::plan_version_of(tx, entry).await?;
            let moves = |metric: MetricId| self.moved.contains(&metric.into());
            let draws_in = credits.drawn_by(&version, moves);
            if !draws_in.is_empty() {
                self.draws_in.insert(entry.subscription.id, draws_in);
            }
        }
        Ok(())
    }

    /// Returns the currencies and pricing units of the ledgers that the events draw on.
    fn units(&self) -> BTreeSet<&PricingUnit> {
        self.draws_in.values().flatten().collect()
    }

    /// Loads the figures that the events are added to. Their rows were fetched.
    pub(super) async fn load(
        &mut self,
        tx: &mut Transaction<'_>,
        meters: &Meters,
    ) -> Result<(Tally, Vec<Periods>), Error> {
        let customer_id = self.customer_id;
        let oldest_taken = rows::account::oldest_taken(tx).await?;
        let (slots, places) = (&self.bucket_slots, &self.places);
        let tally =
            tallies::load_tally(tx, customer_id, slots, places, Indexed::Yes, oldest_taken).await?;
        let mut all = Vec::with_capacity(self.periods.len());
        let mut periods = std::mem::take(&mut self.periods);
        for (entry, billing) in &mut periods {
            periods::begin_parts(tx, entry, billing).await?;
            let alerts = self.alerts_of(entry);
            let draws_in = self.draws_in.get(&entry.subscription.id);
            let draws_in = draws_in.map(Vec::as_slice).unwrap_or_default();
            let wanted = Wanted { alerts, draws_in };
            let mut loaded = periods::periods(tx, entry, billing, wanted, tx.now).await?;
            let oldest_judged = oldest_judged(&entry.subscription, tx.now);
            for billing in &mut loaded.billing {
                billing.is_judged = oldest_judged <= billing.timeframe.start();
            }
            for state in loaded.states.values_mut() {
                if state.needs_distinct_values(tally.indexes.values()) {
                    let meters = meters.with_divided(&loaded.meters).only_distinct();
                    let mut running = Running::default();
                    figures::run_on(tx, &mut running, customer_id, &meters, state.timeframe)
                        .await?;
                    state.distinct = Some(running.distinct);
                }
            }
            all.push(loaded);
        }
        self.periods = periods;
        Ok((tally, all))
    }

    /// Opens the ledgers that the events draw on.
    pub(super) async fn ledgers(&self, tx: &mut Transaction<'_>) -> Result<Ledgers, Error> {
        let mut ledgers = Ledgers::new();
        for currency in self.units() {
            if let Some(ledger) = ledgers::ledger(tx, self.customer_id, currency).await? {
                ledgers.insert(currency.clone(), ledger);
            }
        }
        Ok(ledgers)
    }

    /// Saves the figures that have moved.
    pub(super) async fn save(
        &self,
        tx: &mut Transaction<'_>,
        tally: &Tally,
        periods: &[Periods],
    ) -> Result<(), Error> {
        let (account, customer_id) = (tx.account, self.customer_id);
        tallies::save_tally(tx, customer_id, &self.bucket_slots, tally, Indexed::Yes).await?;
        let guard = tx.guard::<CustomerHead>(customer_id).await?;
        for (hour, more) in self.hours() {
            let slot = schema::event_volume(account, hour, customer_id);
            let EventCount { events } = tx.row(&slot)?.unwrap_or_default();
            guard.put(tx, &slot, &EventCount { events: events.saturating_add(more) })?;
        }
        for periods in periods {
            periods::save_periods(tx, &guard, periods)?;
        }
        Ok(())
    }

    /// Finds the alerts that watch a metric which some event adds to. Their rows were fetched.
    async fn find_alerts(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        for (entry, _) in &self.periods {
            let mut alerts = active::watching(tx, entry).await?;
            alerts.retain(|alert| match alert.condition.metric_id() {
                Some(metric_id) => self.moved.contains(&metric_id.into()),
                None => true,
            });
            self.alerts.insert(entry.subscription.id, alerts);
        }
        Ok(())
    }

    fn alerts_of(&self, entry: &SubscriptionEntry) -> &[Alert] {
        self.alerts.get(&entry.subscription.id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Counts the events that count, by hour.
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

/// Returns the billing periods of a subscription that some events move.
fn periods_of(
    entry: &SubscriptionEntry,
    events: &[(&Event, Vec<Reading>)],
    now: Timestamp,
) -> Vec<Timeframe> {
    let all = entry.subscription.periods();
    let mut found = BTreeSet::new();
    for (event, _) in events {
        if !found.iter().any(|period: &Timeframe| period.contains(event.timestamp)) {
            found.extend(all.containing(event.timestamp));
        }
    }
    match found.first() {
        Some(first) if !entry.subscription.has_one_grid() => {
            found.extend(moved_by(entry, *first, now));
        }
        _ => {}
    }
    found.into_iter().collect()
}

/// Finds the alerts that watch the subscriptions, in as few calls of the store as for one.
pub(super) async fn find_alerts(
    tx: &mut Transaction<'_>,
    shares: &mut [Share<'_>],
) -> Result<(), Error> {
    let account = tx.account;
    let guards = tx.guards::<CustomerHead>(shares.iter().map(|of| of.customer_id)).await?;
    let (mut own, mut shared) = (Vec::new(), BTreeSet::new());
    for (share, guard) in shares.iter().zip(&guards) {
        for (entry, _) in &share.periods {
            let alerts = entry.alerts.iter().map(|id| schema::alert(account, *id).key().clone());
            own.extend(alerts.map(|key| (guard, key)));
            shared.extend(rows::plans::plan_version_of(tx, entry).await?.alerts.iter().copied());
        }
    }
    Guard::fetch(tx, own.iter().map(|(guard, key)| (*guard, key))).await?;
    rows::alerts::of_plan(tx, &shared.into_iter().collect::<Vec<_>>()).await?;
    for share in shares {
        share.find_alerts(tx).await?;
    }
    Ok(())
}

/// Reads the rows that events are added to. Those of the alerts were fetched.
pub(super) async fn fetch_figures(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let account = tx.account;
    let guards = tx.guards::<CustomerHead>(shares.iter().map(|of| of.customer_id)).await?;
    let mut all = Vec::new();
    for (share, guard) in shares.iter().zip(&guards) {
        let (customer_id, mut keys) = (share.customer_id, Vec::new());
        let volume = |hour| schema::event_volume(account, hour, customer_id).key().clone();
        keys.extend(share.hours().into_keys().map(volume));
        let (slots, places) = (&share.bucket_slots, &share.places);
        keys.extend(tallies::tally_keys(tx, customer_id, slots, places, Indexed::Yes));
        for (entry, periods) in &share.periods {
            let alerts = share.alerts_of(entry);
            keys.extend(periods::period_keys(tx, entry, periods, alerts, tx.now).await?);
        }
        all.extend(keys.into_iter().map(|key| (guard, key)));
    }
    Guard::fetch(tx, all.iter().map(|(guard, key)| (*guard, key))).await
}

/// Reads the ledgers that events draw on, in as few calls of the store as for one.
pub(super) async fn fetch_ledgers(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let account = tx.account;
    let (mut ledgers, mut drawn) = (Vec::new(), Vec::new());
    let guards = tx.guards::<CustomerHead>(shares.iter().map(|of| of.customer_id)).await?;
    for (share, guard) in shares.iter().zip(&guards) {
        ledgers.extend(share.units().into_iter().map(|unit| (share.customer_id, unit)));
        for (entry, periods) in &share.periods {
            let id = entry.subscription.id;
            for unit in share.draws_in.get(&id).into_iter().flatten() {
                let slot = |start| schema::drawn(account, id, start, unit).key().clone();
                let starts = entry.stretches(periods, tx.now).into_keys().map(|key| key.start);
                let starts: BTreeSet<_> = starts.collect();
                drawn.extend(starts.into_iter().map(|start| (guard, slot(start))));
            }
        }
    }
    Guard::fetch(tx, drawn.iter().map(|(guard, key)| (*guard, key))).await?;
    ledgers::fetch_ledgers(tx, &ledgers).await
}
