use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sort::New;
use crate::{
    CustomerId, Error, MetricId, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Watched},
    engine::{
        figures::Running, ledgers::Ledgers, rosters::Enrolled, standings::INSTANT, unit::Unit,
    },
    expression::Fields,
    schema::{self, Bucket, EventCount, Nothing},
    store::Key,
    subscription::{Enrolment, Subscription},
    usage::{Amount, Event, Hour, Membership, MeterId, Meters, Quarter, Reading, Tally},
};

/// One customer's share of a batch: its new events, and the billing periods that they fall in.
pub(super) struct Share<'a> {
    pub(super) customer_id: CustomerId,
    pub(super) events: Vec<(&'a Event, Vec<Reading>)>,
    periods: Vec<(Enrolment, Vec<Timeframe>)>,
    /// In which currencies and pricing units usage draws credits, of subscriptions that draw any.
    draws_in: BTreeMap<SubscriptionId, Vec<PricingUnit>>,
    /// The metrics that some event adds to.
    moved: BTreeSet<MeterId>,
}

impl<'a> Share<'a> {
    /// Splits a batch by customer. Within one, the order of the batch stays.
    pub(super) fn split(enrolled: Vec<Enrolled>, new: &[New<'a>], meters: &Meters) -> Vec<Self> {
        let mut events: BTreeMap<CustomerId, Vec<_>> = BTreeMap::new();
        for New { event, entry, .. } in new {
            let fields = Fields::from(*event);
            let readings = meters.readings(meters.generation, &fields, &event.idempotency_key);
            events.entry(entry.customer_id).or_default().push((*event, readings));
        }
        let shares = enrolled.into_iter().map(|Enrolled { customer_id, enrolments, .. }| {
            let events = events.remove(&customer_id).unwrap_or_default();
            let periods = enrolments.into_iter().map(|enrolment| {
                let periods = periods_of(&enrolment, &events);
                (enrolment, periods)
            });
            let periods = periods.filter(|(_, periods)| !periods.is_empty()).collect();
            let readings = events.iter().flat_map(|(_, readings)| readings);
            let moved = readings.map(|reading| reading.meter).collect();
            Self { customer_id, events, periods, draws_in: BTreeMap::new(), moved }
        });
        shares.collect()
    }

    /// Finds out which ledgers the events draw on. The customer's credits were fetched.
    pub(super) async fn find_ledgers(&mut self, unit: &mut Unit<'_>) -> Result<(), Error> {
        let Some(credits) = unit.row(&schema::credits(unit.account, self.customer_id))? else {
            return Ok(());
        };
        for (enrolment, _) in &self.periods {
            let version = unit.plan_roster_of(enrolment).await?;
            let moves = |metric: MetricId| self.moved.contains(&metric.into());
            let draws_in = credits.drawn_by(&version, moves);
            if !draws_in.is_empty() {
                self.draws_in.insert(enrolment.subscription.id, draws_in);
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
        unit: &mut Unit<'_>,
        meters: &Meters,
    ) -> Result<(Tally, Vec<Watched>), Error> {
        let (account, customer_id) = (unit.account, self.customer_id);
        let mut tally = Tally::new(unit.oldest_taken().await?);
        for (event, reading) in self.readings() {
            let (id, quarter) = (reading.meter, Quarter::of(event.timestamp));
            if !tally.buckets.contains_key(&(id, quarter))
                && let Some(row) = unit.row(&schema::bucket(account, customer_id, id, quarter))?
            {
                tally.buckets.insert((id, quarter), row.aggregate);
            }
            let Amount::Distinct(digest) = &reading.amount else { continue };
            let member = schema::member(account, customer_id, id, quarter, digest);
            if unit.row(&member)?.is_some() {
                tally.members.insert((id, quarter, *digest), Membership::Stored);
            }
            if !tally.sightings.contains_key(&(id, *digest))
                && let Some(seen) =
                    unit.row(&schema::sightings(account, customer_id, id, digest))?
            {
                tally.sightings.insert((id, *digest), seen);
            }
        }
        let mut watched = Vec::with_capacity(self.periods.len());
        for (enrolment, periods) in &self.periods {
            let alerts = self.alerts(unit, enrolment).await?;
            let splits = unit.plan_roster_of(enrolment).await?.splits;
            let mut standings = Vec::with_capacity(periods.len());
            let oldest_judged = oldest_judged(&enrolment.subscription, unit.now);
            let draws_in = self.draws_in.get(&enrolment.subscription.id);
            let is_rated = alerts.iter().any(|alert| alert.condition.is_on_cost());
            let tariff = match is_rated || draws_in.is_some() {
                true => Some(unit.tariff(enrolment).await?),
                false => None,
            };
            for period in periods {
                let standing = unit.standing_unrated(enrolment, period.start(), &alerts).await?;
                let Some(mut standing) = standing else { continue };
                if let Some(tariff) = &tariff {
                    standing.accrue(tariff, &alerts, unit.now);
                }
                standing.is_judged = oldest_judged <= period.start();
                if standing.needs_members(tally.sightings.values()) {
                    let meters = meters.with_splits(&splits).only_distinct();
                    let mut running = Running::default();
                    unit.run_on(&mut running, customer_id, &meters, *period).await?;
                    standing.members = Some(running.members);
                }
                standings.push(standing);
            }
            let subscription_id = enrolment.subscription.id;
            let draws_in = draws_in.cloned().unwrap_or_default();
            watched.push(Watched { subscription_id, splits, alerts, draws_in, standings });
        }
        Ok((tally, watched))
    }

    /// Opens the ledgers that the events draw on.
    pub(super) async fn ledgers(&self, unit: &mut Unit<'_>) -> Result<Ledgers, Error> {
        let mut ledgers = Ledgers::new();
        for currency in self.units() {
            if let Some(ledger) = unit.ledger(self.customer_id, currency).await? {
                ledgers.insert(currency.clone(), ledger);
            }
        }
        Ok(ledgers)
    }

    /// Saves what has moved.
    pub(super) fn save(
        &self,
        unit: &mut Unit<'_>,
        tally: &Tally,
        watched: &[Watched],
    ) -> Result<(), Error> {
        let (account, customer_id) = (unit.account, self.customer_id);
        for ((id, quarter), aggregate) in &tally.buckets {
            let bucket = Bucket { aggregate: aggregate.clone() };
            unit.put(&schema::bucket(account, customer_id, *id, *quarter), &bucket)?;
        }
        for ((id, quarter, digest), membership) in &tally.members {
            if *membership == Membership::Added {
                let member = schema::member(account, customer_id, *id, *quarter, digest);
                unit.put(&member, &Nothing {})?;
            }
        }
        for ((id, digest), seen) in &tally.sightings {
            unit.put(&schema::sightings(account, customer_id, *id, digest), seen)?;
        }
        for (hour, more) in self.hours() {
            let slot = schema::event_volume(account, hour, customer_id);
            let EventCount { events } = unit.row(&slot)?.unwrap_or_default();
            unit.put(&slot, &EventCount { events: events.saturating_add(more) })?;
        }
        for ((enrolment, _), watched) in self.periods.iter().zip(watched) {
            for standing in &watched.standings {
                unit.save_standing(enrolment, standing)?;
            }
        }
        Ok(())
    }

    /// Returns the alerts that watch a metric which some event adds to.
    async fn alerts(
        &self,
        unit: &mut Unit<'_>,
        enrolment: &Enrolment,
    ) -> Result<Vec<Alert>, Error> {
        let mut alerts = unit.watching(enrolment).await?;
        alerts.retain(|alert| match alert.condition.metric_id() {
            Some(metric_id) => self.moved.contains(&metric_id.into()),
            None => true,
        });
        Ok(alerts)
    }

    /// How many of the events lie in each hour.
    fn hours(&self) -> BTreeMap<Hour, u64> {
        let mut hours = BTreeMap::<_, u64>::new();
        for (event, _) in &self.events {
            let count = hours.entry(Hour::of(event.timestamp)).or_default();
            *count = count.saturating_add(1);
        }
        hours
    }

    fn readings(&self) -> impl Iterator<Item = (&Event, &Reading)> {
        self.events
            .iter()
            .flat_map(|(event, readings)| readings.iter().map(|reading| (*event, reading)))
    }
}

/// Returns the start of the billing period before the current one, or before the last one of what has
/// ended: events of older periods fire nothing.
fn oldest_judged(subscription: &Subscription, now: Timestamp) -> Timestamp {
    let periods = subscription.periods();
    let last = subscription.end_date.map_or(now, |end| end.saturating_sub(INSTANT).min(now));
    let current = periods.containing(last);
    let before = current.and_then(|of| periods.containing(of.start().saturating_sub(INSTANT)));
    before.or(current).map_or(Timestamp::MIN, Timeframe::start)
}

/// The billing periods of a subscription that some events fall in.
fn periods_of(enrolment: &Enrolment, events: &[(&Event, Vec<Reading>)]) -> Vec<Timeframe> {
    let all = enrolment.subscription.periods();
    let mut found: Vec<Timeframe> = Vec::new();
    for (event, _) in events {
        if !found.iter().any(|period| period.contains(event.timestamp)) {
            found.extend(all.containing(event.timestamp));
        }
    }
    found
}

/// The rows of the alerts that watch the subscriptions. Those of their plans were fetched.
pub(super) fn alert_keys(unit: &Unit<'_>, shares: &[Share<'_>]) -> Result<Vec<Key>, Error> {
    let mut keys = BTreeSet::new();
    for (enrolment, _) in shares.iter().flat_map(|share| &share.periods) {
        let of = &enrolment.subscription;
        let roster = schema::plan_roster(unit.account, of.plan_id, of.plan_version);
        let shared = unit.row(&roster)?.unwrap_or_default().alerts;
        let ids = enrolment.alerts.iter().chain(&shared);
        keys.extend(ids.map(|id| schema::alert(unit.account, *id).key().clone()));
    }
    Ok(keys.into_iter().collect())
}

/// The rows that events are added to. Those of the alerts were fetched.
pub(super) async fn figure_keys(
    unit: &mut Unit<'_>,
    shares: &[Share<'_>],
) -> Result<Vec<Key>, Error> {
    let account = unit.account;
    let mut keys = Vec::new();
    for share in shares {
        let customer_id = share.customer_id;
        let volume = |hour| schema::event_volume(account, hour, customer_id).key().clone();
        keys.extend(share.hours().into_keys().map(volume));
        let mut buckets = HashMap::new();
        for (event, reading) in share.readings() {
            let (id, quarter) = (reading.meter, Quarter::of(event.timestamp));
            buckets.entry((id, quarter)).or_insert_with(|| {
                keys.push(schema::bucket(account, customer_id, id, quarter).key().clone());
            });
            if let Amount::Distinct(digest) = &reading.amount {
                let member = schema::member(account, customer_id, id, quarter, digest);
                let seen = schema::sightings(account, customer_id, id, digest);
                keys.extend([member.key().clone(), seen.key().clone()]);
            }
        }
        for (enrolment, periods) in &share.periods {
            let id = enrolment.subscription.id;
            let alerts = share.alerts(unit, enrolment).await?;
            let has_cells = !unit.plan_roster_of(enrolment).await?.splits.is_empty();
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
pub(super) async fn fetch_ledgers(unit: &mut Unit<'_>, shares: &[Share<'_>]) -> Result<(), Error> {
    let account = unit.account;
    let (mut ledgers, mut drawn) = (Vec::new(), Vec::new());
    for share in shares {
        ledgers.extend(share.units().into_iter().map(|unit| (share.customer_id, unit)));
        for (enrolment, periods) in &share.periods {
            let id = enrolment.subscription.id;
            for unit in share.draws_in.get(&id).into_iter().flatten() {
                let slot = |of: &Timeframe| schema::drawn(account, id, of.start(), unit);
                drawn.extend(periods.iter().map(|period| slot(period).key().clone()));
            }
        }
    }
    unit.fetch_guarded(&drawn).await?;
    unit.fetch_ledgers(&ledgers).await
}
