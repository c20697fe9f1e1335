//! Share of a customer in a batch: the figures that its events are added to, loaded and saved.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    CustomerId, Error, MetricId, Pace, PricingUnit, Timeframe, Timestamp,
    alert::Alert,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self,
            event_blocks::{self, New},
            figures::{self, Running},
            ledgers::{self, Ledgers},
            period_groups::Touched,
            periods::{self, Subscribed, Wanted},
            tallies::{self, Indexed, TallyPlaces},
            terms::{CustomerTerms, SubscriptionTerms},
            visible::{self, BucketSlots},
            volumes,
        },
        time::{drawing, recount::moved_by},
    },
    expression::Fields,
    limits,
    meter::{MeterId, Values},
    period::{Gathered, Periods, oldest_judged_on},
    schema::{self, CustomerHead},
    subscription::Threshold,
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
    /// Groups of meters that the events are in.
    groups: BTreeSet<(MeterId, Values)>,
    /// True where no figure of a group becomes smaller by any of the events.
    groups_rise: bool,
    /// Billing periods that the events move.
    moved: Vec<MovedPeriods>,
}

/// Billing periods of a subscription that some events move.
struct MovedPeriods {
    terms: Arc<SubscriptionTerms>,
    billing: Vec<Timeframe>,
    /// Alerts that watch what some event adds to.
    alerts: Vec<Alert>,
    /// Currencies and pricing units in which usage draws credits.
    draws_in: Vec<PricingUnit>,
    /// Threshold of what usage may come to before it is invoiced.
    threshold: Option<Threshold>,
}

impl MovedPeriods {
    /// Returns what is to be known of them where events are in some groups.
    fn wanted<'a>(&'a self, touched: Touched<'a>) -> Wanted<'a> {
        let Self { alerts, draws_in, threshold, .. } = self;
        Wanted { alerts, draws_in, threshold: threshold.as_ref(), touched: Some(touched) }
    }

    fn subscribed(&self) -> Subscribed<'_> {
        let SubscriptionTerms { entry, version, grid, card, .. } = &*self.terms;
        Subscribed { entry, version, grid, card: card.as_ref() }
    }
}

impl<'a> Share<'a> {
    /// Splits a batch by customer. Within one, the order of the batch stays.
    ///
    /// Refuses one that would take too much work: the comparisons of the metrics for each event, which
    /// are [few enough](limits::METRIC_TERMS) for the largest batch, and the additions of each for each
    /// subscription.
    pub(super) async fn split(
        tx: &Transaction<'_>,
        customers: &[Arc<CustomerTerms>],
        new: &'a [New<'a>],
        meters: &Meters,
        has_alerts: bool,
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
        let mut shares = Vec::with_capacity(customers.len());
        for of in customers {
            let CustomerTerms { customer_id, subscriptions, credits } = &**of;
            let events = events.remove(customer_id).unwrap_or_default();
            let readings = || events.iter().flat_map(|(_, readings)| readings);
            let mut places = TallyPlaces::default();
            for (event, readings) in &events {
                tx.pace.spend(Pace::KEY.saturating_mul(readings.len())).await;
                places.add(event.timestamp, readings);
            }
            let moves = |metric: MetricId| places.has(metric.into());
            let mut moved = Vec::with_capacity(subscriptions.len());
            for terms in subscriptions {
                let billing = periods_of(terms, &events, tx.now);
                tx.pace.spend(events.len()).await;
                if !billing.is_empty() {
                    let threshold = threshold(terms, &billing, tx.now);
                    let watching = terms.alerts.iter().filter(|_| has_alerts);
                    let watching =
                        watching.filter(|alert| alert.condition.metric_id().is_none_or(moves));
                    moved.push(MovedPeriods {
                        terms: Arc::clone(terms),
                        billing,
                        alerts: watching.cloned().collect(),
                        draws_in: credits.drawn_by(terms.version.priced_of(&terms.entry), moves),
                        threshold,
                    });
                }
            }
            let grouped = || readings().filter(|reading| reading.group.is_some());
            let groups = grouped().filter_map(|reading| reading.place().group);
            let groups = groups.map(|(meter, values)| (meter, values.clone())).collect();
            let groups_rise = grouped().all(|reading| reading.amount.only_rises());
            work = work.saturating_add(readings().count().saturating_mul(moved.len()));
            check_work(work)?;
            shares.push(Self {
                customer_id: *customer_id,
                events,
                new: all.remove(customer_id).unwrap_or_default(),
                places,
                bucket_slots: BucketSlots::default(),
                groups,
                groups_rise,
                moved,
            });
        }
        Ok(shares)
    }

    fn touched(&self) -> Touched<'_> {
        Touched { groups: &self.groups, only_rises: self.groups_rise }
    }

    /// Finds the events that would be in more groups of a meter than a period may have, with what is wrong with
    /// each.
    pub(super) fn beyond_groups(&self, periods: &[Periods]) -> Vec<(&'a Event, String)> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut begun: Vec<_> = periods.iter().map(|_| BTreeSet::new()).collect();
        let beyond = self.events.iter().filter_map(|(event, readings)| {
            let mut all = periods.iter().zip(&mut begun);
            let is_beyond =
                all.any(|(of, begun)| of.begins_too_many(event.timestamp, readings, begun));
            let most = limits::GROUPS;
            let reason = format!(
                "properties: would be in one more group of a meter than the {most} that a billing \
                 period of a customer can have"
            );
            is_beyond.then_some((*event, reason))
        });
        beyond.collect()
    }

    /// Writes the events.
    pub(super) async fn accept(&self, tx: &mut Transaction<'_>, metrics: u64) -> Result<(), Error> {
        event_blocks::accept(tx, self.customer_id, None, &self.new, metrics).await
    }

    /// Finds the bucket slots of the places that the events are added to.
    pub(super) async fn find_slots(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let instants = || self.events.iter().map(|(event, _)| event.timestamp);
        if let (Some(first), Some(last)) = (instants().min(), instants().max()) {
            let timeframe = Timeframe::nothing_at(first).until(last.saturating_add(INSTANT));
            self.bucket_slots = visible::bucket_slots(tx, self.customer_id, timeframe).await?;
        }
        Ok(())
    }

    /// Returns the currencies and pricing units of the ledgers that the events draw on.
    fn units(&self) -> BTreeSet<&PricingUnit> {
        self.moved.iter().flat_map(|of| &of.draws_in).collect()
    }

    /// Loads the figures that the events are added to. Their rows were fetched.
    pub(super) async fn load(
        &self,
        tx: &mut Transaction<'_>,
        meters: &Meters,
    ) -> Result<(Tally, Vec<Periods>), Error> {
        let customer_id = self.customer_id;
        let oldest_taken = rows::account::oldest_taken(tx).await?;
        let (slots, places) = (&self.bucket_slots, &self.places);
        let head = tx.guard::<CustomerHead>(customer_id).await?.head(tx)?;
        let tally =
            tallies::load_tally(tx, &head, customer_id, slots, places, Indexed::Yes, oldest_taken)
                .await?;
        drop(head);
        let mut all = Vec::with_capacity(self.moved.len());
        for moved in &self.moved {
            let MovedPeriods { terms, billing, .. } = moved;
            let entry = periods::begin_parts(tx, &terms.entry, billing).await?;
            let wanted = moved.wanted(self.touched());
            let subscribed = Subscribed { entry: &entry, ..moved.subscribed() };
            let mut loaded = periods::periods_of(tx, subscribed, billing, wanted, tx.now).await?;
            let oldest_judged = oldest_judged_on(&terms.grid, &entry.subscription, tx.now);
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
        Ok((tally, all))
    }

    /// Takes all events together, draws what they cost, and returns the billing periods with them; none
    /// where something may happen on the way, and nothing was drawn.
    pub(super) async fn taken_together(
        &self,
        tx: &mut Transaction<'_>,
        periods: &[Periods],
        ledgers: &mut Ledgers,
    ) -> Result<Option<Vec<Periods>>, Error> {
        if self.events.len() < 2 {
            return Ok(None);
        }
        let mut gathered: Vec<_> = periods.iter().map(Gathered::new).collect();
        for (event, readings) in &self.events {
            for gathered in &mut gathered {
                tx.pace.spend(readings.len()).await;
                gathered.add(event.timestamp, readings);
            }
        }
        let taken = gathered.into_iter().map(|gathered| gathered.taken(tx.now));
        let Some(taken) = taken.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (periods, draw_downs): (_, Vec<_>) = taken.into_iter().unzip();
        let are_drawn = drawing::draw_together(tx, ledgers, &draw_downs.concat(), tx.now).await?;
        Ok(are_drawn.then_some(periods))
    }

    /// Opens the ledgers that the events draw on.
    pub(super) async fn ledgers(&self, tx: &mut Transaction<'_>) -> Result<Ledgers, Error> {
        let mut ledgers = Ledgers::new();
        for currency in self.units() {
            if let Some(ledger) = ledgers::fetched_ledger(tx, self.customer_id, currency).await? {
                ledgers.insert(currency.clone(), ledger);
            }
        }
        Ok(ledgers)
    }

    /// Saves the figures that have moved.
    pub(super) async fn save(
        &self,
        tx: &mut Transaction<'_>,
        tally: Tally,
        periods: &[Periods],
    ) -> Result<(), Error> {
        let guard = tx.guard::<CustomerHead>(self.customer_id).await?;
        tallies::save_tally(tx, self.customer_id, &self.bucket_slots, tally, Indexed::Yes).await?;
        for (hour, more) in self.hours() {
            volumes::count_more(tx, &guard, hour, more).await?;
        }
        for periods in periods {
            periods::save_periods(tx, &guard, periods).await?;
        }
        periods::close(tx, &guard).await
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
    SubscriptionTerms { entry, grid: all, .. }: &SubscriptionTerms,
    events: &[(&Event, Vec<Reading>)],
    now: Timestamp,
) -> Vec<Timeframe> {
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

/// Returns the threshold of a subscription, where some of its billing periods are the current one.
fn threshold(
    SubscriptionTerms { entry, grid, threshold, .. }: &SubscriptionTerms,
    billing: &[Timeframe],
    now: Timestamp,
) -> Option<Threshold> {
    let amount = threshold.clone()?;
    let current = grid.containing(now).filter(|period| billing.contains(period))?;
    let last = entry.invoicing.as_ref().and_then(|of| of.reached.as_ref());
    Some(Threshold::new(amount, current, last))
}

/// Reads the rows that events are added to.
pub(super) async fn fetch_figures(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let account = tx.account;
    let guards = tx.guards::<CustomerHead>(shares.iter().map(|of| of.customer_id)).await?;
    let mut all = Vec::new();
    for (share, guard) in shares.iter().zip(&guards) {
        let (customer_id, mut keys) = (share.customer_id, Vec::new());
        let head = guard.head(tx)?;
        let volume = |hour| volumes::volume_key(account, &head, customer_id, hour);
        keys.extend(share.hours().into_keys().filter_map(volume));
        let (slots, places) = (&share.bucket_slots, &share.places);
        keys.extend(tallies::tally_keys(tx, &head, customer_id, slots, places, Indexed::Yes));
        for moved in &share.moved {
            let (of, wanted) = (moved.subscribed(), moved.wanted(share.touched()));
            keys.extend(periods::period_keys(account, &head, of, &moved.billing, wanted, tx.now));
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
        for MovedPeriods { terms, billing, draws_in, .. } in &share.moved {
            let id = terms.entry.subscription.id;
            for unit in draws_in {
                let slot = |start| schema::drawn(account, id, start, unit).key().clone();
                let starts = terms.entry.stretches_on(&terms.grid, billing, tx.now);
                let starts = starts.into_keys().map(|key| key.start);
                let starts: BTreeSet<_> = starts.collect();
                drawn.extend(starts.into_iter().map(|start| (guard, slot(start))));
            }
        }
    }
    Guard::fetch(tx, drawn.iter().map(|(guard, key)| (*guard, key))).await?;
    ledgers::fetch_ledgers(tx, &ledgers).await
}
