//! Figures that the events of a share are added to: read, moved event by event or together, and written.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::share::{Counts, Member, MovedPeriods, Share, Subscriber, Taken};
use crate::{
    CustomerId, Decimal, Error, Timestamp,
    alert::Cause,
    credit::DrawDown,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self, effects,
            ledgers::{self, Ledgers},
            periods::{self, Subscribed},
            sources::RunningSources,
            tallies::{self, Indexed},
            volumes,
        },
        time::{drawing, thresholds},
    },
    limits,
    meter::{CellId, Source},
    period::{Begun, Change, Gathered, Periods, oldest_judged_on},
    schema::{self, CustomerHead},
    store::Key,
    usage::{Amount, Digest, DistinctIndex, Event, Meters, Reading, Seen, Tally},
};

/// Figures of a family while events are added to them.
pub(super) struct Figures {
    /// What each member has used.
    tallies: SmallVec<[Tally; 1]>,
    subscribers: SmallVec<[SubscriberFigures; 1]>,
}

/// What the events move of a subscriber.
struct SubscriberFigures {
    customer_id: CustomerId,
    subscriptions: Vec<SubscriptionFigures>,
    ledgers: Ledgers,
}

/// What they move of a subscription.
struct SubscriptionFigures {
    periods: Periods,
    /// When distinct values were seen, of all whose usage counts, where that is not the subscriber's alone.
    seen: Option<Seen>,
}

impl Figures {
    /// Loads them. Their rows were fetched.
    pub(super) async fn load(
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
        meters: &Meters,
    ) -> Result<Self, Error> {
        let oldest_taken = rows::account::oldest_taken(tx).await?;
        let mut tallies = SmallVec::new();
        for Member { customer_id, places, bucket_slots, .. } in &share.members {
            let head = tx.guard::<CustomerHead>(*customer_id).await?.head(tx)?;
            let tally = tallies::load_tally(
                tx,
                &head,
                *customer_id,
                bucket_slots,
                places,
                Indexed::Yes,
                oldest_taken,
            );
            tallies.push(tally.await?);
        }
        let mut subscribers = SmallVec::new();
        for subscriber in &share.subscribers {
            let mut subscriptions = Vec::with_capacity(subscriber.moved.len());
            for moved in &subscriber.moved {
                subscriptions
                    .push(SubscriptionFigures::load(tx, share, moved, &tallies, meters).await?);
            }
            let mut ledgers = Ledgers::new();
            for unit in subscriber.units() {
                let ledger = ledgers::fetched_ledger(tx, subscriber.customer_id, unit).await?;
                ledgers.extend(ledger.map(|ledger| (unit.clone(), ledger)));
            }
            let customer_id = subscriber.customer_id;
            subscribers.push(SubscriberFigures { customer_id, subscriptions, ledgers });
        }
        Ok(Self { tallies, subscribers })
    }

    /// Finds the events that would be in more groups of a meter than a billing period may have, with what is wrong
    /// with each.
    pub(super) fn beyond_groups<'s>(&self, share: &'s Share<'_>) -> Vec<(&'s Event, String)> {
        let counted = self.subscribers.iter().zip(&share.subscribers).flat_map(|(figures, of)| {
            let moved = figures.subscriptions.iter().zip(&of.moved);
            moved.filter(|(of, moved)| of.periods.may_begin_too_many(moved.touched.len()))
        });
        let mut counted: Vec<_> =
            counted.map(|(figures, of)| (&figures.periods, &of.counts, Begun::new())).collect();
        if counted.is_empty() {
            return Vec::new();
        }
        let beyond = share.events.iter().enumerate().filter(|(place, taken)| {
            counted.iter_mut().any(|(periods, counts, begun)| {
                let readings = counts.readings_of(*place, taken).unwrap_or_default();
                periods.begins_too_many(taken.event.timestamp, readings, begun)
            })
        });
        let most = limits::GROUPS;
        let reason = format!(
            "properties: would be in one more group of a meter than the {most} that a billing period of a customer can \
             have"
        );
        beyond.map(|(_, taken)| (taken.event, reason.clone())).collect()
    }

    /// Adds all events of a share: together, where that comes to the same as one by one.
    pub(super) async fn take(
        &mut self,
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
    ) -> Result<(), Error> {
        if !self.take_together(tx, share).await? {
            return self.take_one_by_one(tx, share).await;
        }
        for Taken { member, event, readings } in &share.events {
            if let Some(tally) = self.tallies.get_mut(*member) {
                tally.add(event.timestamp, readings);
            }
        }
        Ok(())
    }

    /// Takes all events together, and draws what they cost; not where something may happen on the way, and nothing
    /// was drawn. Tells whether it did.
    async fn take_together(
        &mut self,
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
    ) -> Result<bool, Error> {
        if share.events.len() < 2 {
            return Ok(false);
        }
        let mut taken: SmallVec<[_; 1]> = SmallVec::new();
        for (figures, subscriber) in self.subscribers.iter().zip(&share.subscribers) {
            match figures.gathered(tx, share, subscriber).await {
                Some(of) => taken.push(of),
                None => return Ok(false),
            }
        }
        for place in 0..taken.len() {
            let draws = taken.get(place).zip(self.subscribers.get_mut(place));
            let Some((of, figures)) = draws else { continue };
            let draw_downs: Vec<_> = of.iter().flat_map(|(_, draws)| draws).cloned().collect();
            if !drawing::draw_together(tx, &mut figures.ledgers, &draw_downs, tx.now).await? {
                for drawn in self.subscribers.iter_mut().take(place) {
                    ledgers::read_anew(tx, &mut drawn.ledgers).await?;
                }
                return Ok(false);
            }
        }
        for (figures, taken) in self.subscribers.iter_mut().zip(taken) {
            for (of, (periods, _)) in figures.subscriptions.iter_mut().zip(taken) {
                of.periods = periods;
            }
        }
        Ok(true)
    }

    /// Takes the events one by one: alerts fire on the way, or credits are drawn.
    async fn take_one_by_one(
        &mut self,
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
    ) -> Result<(), Error> {
        for (place, taken) in share.events.iter().enumerate() {
            let Some(tally) = self.tallies.get(taken.member) else { continue };
            let mut effects: SmallVec<[_; 1]> = SmallVec::new();
            for (figures, subscriber) in self.subscribers.iter_mut().zip(&share.subscribers) {
                effects.push(figures.add(tx, subscriber, (place, taken), tally).await?);
            }
            if let Some(tally) = self.tallies.get_mut(taken.member) {
                tally.add(taken.event.timestamp, &taken.readings);
            }
            for (figures, effects) in self.subscribers.iter_mut().zip(effects) {
                figures.follow(tx, taken, effects).await?;
            }
        }
        Ok(())
    }

    /// Writes what has moved.
    pub(super) async fn save(
        self,
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
    ) -> Result<(), Error> {
        for (member, tally) in share.members.iter().zip(self.tallies) {
            let (id, slots) = (member.customer_id, &member.bucket_slots);
            let guard = tx.guard::<CustomerHead>(id).await?;
            tallies::save_tally(tx, id, slots, tally, Indexed::Yes).await?;
            for (hour, more) in member.hours() {
                volumes::count_more(tx, &guard, hour, more).await?;
            }
        }
        for SubscriberFigures { customer_id, subscriptions, ledgers } in self.subscribers {
            let guard = tx.guard::<CustomerHead>(customer_id).await?;
            for of in &subscriptions {
                periods::save_periods(tx, &guard, &of.periods).await?;
            }
            // Every member is one of them.
            periods::close(tx, &guard).await?;
            ledgers::save_ledgers(tx, customer_id, ledgers.values()).await?;
        }
        Ok(())
    }
}

impl SubscriptionFigures {
    async fn load(
        tx: &mut Transaction<'_>,
        share: &Share<'_>,
        moved: &MovedPeriods,
        tallies: &[Tally],
        meters: &Meters,
    ) -> Result<Self, Error> {
        let MovedPeriods { terms, billing, counts, .. } = moved;
        let (subscribed, wanted) = (moved.subscribed(), moved.wanted());
        let entry = periods::begin_parts(tx, subscribed, billing, wanted).await?;
        let subscribed = Subscribed { entry: &entry, ..subscribed };
        let mut periods = periods::periods_of(tx, subscribed, billing, wanted, tx.now).await?;
        let oldest_judged = oldest_judged_on(&terms.grid, &entry.subscription, tx.now);
        for billing in &mut periods.billing {
            billing.is_judged = oldest_judged <= billing.timeframe.start();
        }
        let (seen, own) = match counts {
            Counts::Own(member) => (None, *member),
            Counts::Apart(_) if terms.sources.is_empty() => {
                let subscriber = entry.subscription.customer_id;
                (None, share.members.iter().position(|of| of.customer_id == subscriber))
            }
            Counts::Apart(_) => (Some(seen_by(tx, share, &terms.sources).await?), None),
        };
        let own = own.and_then(|member| tallies.get(member));
        let is_seen_apart = moved.have_distinct_of_licenses(&share.events);
        let known = seen.as_ref().or(own.map(|tally| &tally.indexes));
        for state in periods.states.values_mut() {
            let known = known.into_iter().flat_map(Seen::values);
            if is_seen_apart || state.needs_distinct_values(known) {
                // Alerts watch groups that no price has.
                let counted = [&*periods.meters, &terms.watched_groups.parts()].concat();
                let meters = meters.with_divided(&counted).only_distinct();
                let (of, since) = (&entry.subscription, state.timeframe.start());
                let mut running = RunningSources::of(tx, of, &meters, since).await?;
                running.run_on(tx, &meters, state.timeframe).await?;
                state.distinct = Some(running.distinct());
            }
        }
        Ok(Self { periods, seen })
    }
}

/// Returns when the distinct values of a share were seen by sources, in the cells of those.
async fn seen_by(
    tx: &mut Transaction<'_>,
    share: &Share<'_>,
    sources: &[Source],
) -> Result<Seen, Error> {
    let mut seen = Seen::new();
    for (source, cell, digest) in distinct_in(share, sources) {
        let mut together = DistinctIndex::default();
        for customer in source.customers() {
            let guard = tx.guard::<CustomerHead>(*customer).await?;
            let slot = schema::distinct_index(tx.account, *customer, cell, &digest);
            if let Some(own) = guard.get(tx, &slot).await? {
                together.merge(own);
            }
        }
        if !together.is_empty() {
            seen.insert((source.cell(cell), digest), together);
        }
    }
    Ok(seen)
}

/// Lists the distinct values of a share that count for sources, each once, with its cell for a customer.
fn distinct_in<'s>(
    share: &'s Share<'_>,
    sources: &'s [Source],
) -> BTreeSet<(&'s Source, CellId, Digest)> {
    let mut found = BTreeSet::new();
    for Taken { member, readings, .. } in &share.events {
        let Some(customer) = share.members.get(*member).map(|of| of.customer_id) else { continue };
        let distinct = readings.iter().filter_map(|reading| match reading.amount {
            Amount::Distinct(digest) => Some((reading.cell, digest)),
            Amount::Plain(_) => None,
        });
        for (cell, digest) in distinct {
            let own = sources.iter().filter(|of| of.includes(customer));
            found.extend(own.map(|source| (source, cell, digest)));
        }
    }
    found
}

/// Notes that the values of an event were seen.
fn see(seen: &mut Seen, at: Timestamp, readings: &[Reading], oldest_taken: Timestamp) {
    for reading in readings {
        if let Amount::Distinct(digest) = reading.amount {
            seen.entry((reading.cell, digest)).or_default().add(at, oldest_taken);
        }
    }
}

/// What an event does to a subscriber.
#[derive(Default)]
struct Effects {
    draw_downs: Vec<DrawDown>,
    /// What usage has come to that reaches a threshold, with the place of the subscription.
    reached: Vec<(usize, Decimal)>,
}

impl SubscriberFigures {
    /// Gathers all events of a share. Returns the billing periods with them, and what they draw; none where they are to
    /// be taken one by one.
    async fn gathered(
        &self,
        tx: &Transaction<'_>,
        share: &Share<'_>,
        subscriber: &Subscriber,
    ) -> Option<Vec<(Periods, Vec<DrawDown>)>> {
        let gathered = self.subscriptions.iter().map(|of| Gathered::new(&of.periods));
        let mut gathered: Vec<_> = gathered.collect();
        for (place, taken) in share.events.iter().enumerate() {
            for (gathered, moved) in gathered.iter_mut().zip(&subscriber.moved) {
                if let Some(readings) = moved.counts.readings_of(place, taken) {
                    tx.pace.spend(readings.len()).await;
                    gathered.add(taken.event.timestamp, readings);
                }
            }
        }
        gathered.into_iter().map(|of| of.taken(tx.now)).collect()
    }

    /// Adds an event, by its place in the share, and tells of the alerts that it fires.
    async fn add(
        &mut self,
        tx: &mut Transaction<'_>,
        subscriber: &Subscriber,
        (place, taken): (usize, &Taken<'_>),
        tally: &Tally,
    ) -> Result<Effects, Error> {
        let (at, key) = (taken.event.timestamp, &taken.event.idempotency_key);
        let mut found = Effects::default();
        let all = self.subscriptions.iter_mut().zip(&subscriber.moved).enumerate();
        for (of, (figures, moved)) in all {
            let Some(readings) = moved.counts.readings_of(place, taken) else { continue };
            tx.pace.spend(readings.len()).await;
            let seen = figures.seen.as_ref().unwrap_or(&tally.indexes);
            let mut effects = figures.periods.advance(Change::Event { at, key, readings, seen });
            found.reached.extend(effects.reached.take().map(|evaluated| (of, evaluated)));
            let told = effects::tell(tx, self.customer_id, effects, tx.now).await?;
            if !told.disabled.is_empty() {
                let id = figures.periods.subscription_id;
                effects::save_disabled(tx, self.customer_id, id, &told).await?;
            }
            found.draw_downs.extend(told.draw_downs);
            if let Some(seen) = &mut figures.seen {
                see(seen, at, readings, tally.oldest_taken);
            }
        }
        Ok(found)
    }

    /// Draws what an event costs, and bills what reaches a threshold.
    async fn follow(
        &mut self,
        tx: &mut Transaction<'_>,
        taken: &Taken<'_>,
        Effects { draw_downs, reached }: Effects,
    ) -> Result<(), Error> {
        if !draw_downs.is_empty() {
            let (idempotency_key, timestamp) =
                (taken.event.idempotency_key.clone(), taken.event.timestamp);
            let cause = Cause::Event { idempotency_key, timestamp };
            drawing::draw(tx, &mut self.ledgers, &draw_downs, &cause, tx.now).await?;
        }
        for (place, evaluated) in reached {
            let Some(of) = self.subscriptions.get(place) else { continue };
            // What credits have paid for is not billed.
            ledgers::save_ledgers(tx, self.customer_id, self.ledgers.values()).await?;
            // It is rare: whoever reaches no threshold carries none of its state.
            Box::pin(thresholds::bill(tx, self.customer_id, &of.periods, evaluated)).await?;
            ledgers::read_anew(tx, &mut self.ledgers).await?;
        }
        Ok(())
    }
}

/// Rows of customers that are to be read, each with the place of its guard.
#[derive(Default)]
struct Rows {
    guards: Vec<Guard<CustomerHead>>,
    keys: Vec<(usize, Key)>,
}

impl Rows {
    async fn add(
        &mut self,
        tx: &mut Transaction<'_>,
        customer: CustomerId,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<(), Error> {
        let at = self.guards.len();
        self.guards.push(tx.guard(customer).await?);
        self.keys.extend(keys.into_iter().map(|key| (at, key)));
        Ok(())
    }

    /// Reads all of them in one call of the store.
    async fn fetch(&self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let rows = self.keys.iter().filter_map(|(at, key)| Some((self.guards.get(*at)?, key)));
        Guard::fetch(tx, rows.collect::<Vec<_>>()).await
    }
}

/// Reads the rows that events are added to.
pub(super) async fn fetch(tx: &mut Transaction<'_>, shares: &[Share<'_>]) -> Result<(), Error> {
    let (account, mut rows) = (tx.account, Rows::default());
    for share in shares {
        for member in &share.members {
            let id = member.customer_id;
            let head = tx.guard::<CustomerHead>(id).await?.head(tx)?;
            let (slots, places) = (&member.bucket_slots, &member.places);
            let mut keys = tallies::tally_keys(tx, &head, id, slots, places, Indexed::Yes);
            let volume = |hour| volumes::volume_key(account, &head, id, hour);
            keys.extend(member.hours().into_keys().filter_map(volume));
            rows.add(tx, id, keys).await?;
        }
        for Subscriber { customer_id: id, moved } in &share.subscribers {
            let head = tx.guard::<CustomerHead>(*id).await?.head(tx)?;
            let mut keys = Vec::new();
            for moved in moved {
                let MovedPeriods { terms, billing, .. } = moved;
                let (of, wanted) = (moved.subscribed(), moved.wanted());
                keys.extend(periods::period_keys(account, &head, of, billing, wanted, tx.now));
                for (source, cell, digest) in distinct_in(share, &terms.sources) {
                    for customer in source.customers() {
                        let slot = schema::distinct_index(account, *customer, cell, &digest);
                        rows.add(tx, *customer, [slot.key().clone()]).await?;
                    }
                }
            }
            rows.add(tx, *id, keys).await?;
        }
    }
    rows.fetch(tx).await
}

/// Reads the rows of the groups that may be new, as the rows show that were fetched.
pub(super) async fn fetch_groups(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let mut rows = Rows::default();
    for Member { customer_id: id, places, bucket_slots, .. } in
        shares.iter().flat_map(|of| &of.members)
    {
        let head = tx.guard::<CustomerHead>(*id).await?.head(tx)?;
        let keys = tallies::closed_group_keys(tx, &head, *id, bucket_slots, places);
        rows.add(tx, *id, keys).await?;
    }
    rows.fetch(tx).await
}

/// Reads the ledgers that events draw on, in as few calls of the store as for one.
pub(super) async fn fetch_ledgers(
    tx: &mut Transaction<'_>,
    shares: &[Share<'_>],
) -> Result<(), Error> {
    let (account, mut ledgers, mut drawn) = (tx.account, Vec::new(), Rows::default());
    for subscriber in shares.iter().flat_map(|of| &of.subscribers) {
        let customer_id = subscriber.customer_id;
        ledgers.extend(subscriber.units().into_iter().map(|unit| (customer_id, unit)));
        for MovedPeriods { terms, billing, draws_in, .. } in &subscriber.moved {
            let id = terms.entry.subscription.id;
            for unit in draws_in {
                let slot = |start| schema::drawn(account, id, start, unit).key().clone();
                let starts = terms.entry.stretches_on(&terms.grid, billing, tx.now);
                let starts: BTreeSet<_> = starts.into_keys().map(|key| key.start).collect();
                drawn.add(tx, customer_id, starts.into_iter().map(slot)).await?;
            }
        }
    }
    drawn.fetch(tx).await?;
    ledgers::fetch_ledgers(tx, &ledgers).await
}
