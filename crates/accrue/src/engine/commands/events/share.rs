//! Share of a family of customers in a batch: their events, and the billing periods that these move.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use smallvec::SmallVec;

use super::families::Family;
use crate::{
    CustomerId, Error, MetricId, Pace, PricingUnit, Timeframe, Timestamp,
    alert::Alert,
    engine::{
        kernel::Transaction,
        rows::{
            event_blocks::{self, New},
            period_groups::Touched,
            periods::{Subscribed, Wanted},
            tallies::TallyPlaces,
            terms::{CustomerTerms, SubscriptionTerms},
            visible::{self, BucketSlots},
        },
        time::recount::moved_by,
    },
    expression::Fields,
    limits,
    meter::KnownIds,
    schema::Credits,
    subscription::Threshold,
    time::INSTANT,
    usage::{Amount, Event, Hour, Meters, Reading, readings_of},
};

/// Share of a family in a batch.
pub(super) struct Share<'a> {
    /// Customers that have events.
    pub(super) members: SmallVec<[Member<'a>; 1]>,
    /// Events that count, in the order of the batch.
    pub(super) events: Vec<Taken<'a>>,
    /// Customers whose subscriptions they may count for.
    pub(super) subscribers: SmallVec<[Subscriber; 1]>,
}

/// A customer that has events in a batch.
pub(super) struct Member<'a> {
    pub(super) customer_id: CustomerId,
    /// All of its events.
    new: Vec<&'a New<'a>>,
    pub(super) places: TallyPlaces,
    pub(super) bucket_slots: BucketSlots,
}

/// Event that counts, with its contributions.
pub(super) struct Taken<'a> {
    /// Place of its customer among the members.
    pub(super) member: usize,
    pub(super) event: &'a Event,
    pub(super) readings: Vec<Reading>,
}

/// A customer whose subscriptions events count for.
pub(super) struct Subscriber {
    pub(super) customer_id: CustomerId,
    /// Billing periods that the events move.
    pub(super) moved: Vec<MovedPeriods>,
}

/// Billing periods of a subscription that some events move.
pub(super) struct MovedPeriods {
    pub(super) terms: Arc<SubscriptionTerms>,
    pub(super) billing: Vec<Timeframe>,
    /// Alerts that watch what some event adds to.
    pub(super) alerts: Vec<Alert>,
    /// Currencies and pricing units in which usage draws credits.
    pub(super) draws_in: Vec<PricingUnit>,
    /// Threshold of what usage may come to before it is invoiced.
    pub(super) threshold: Option<Threshold>,
    /// Groups that the events are in, of the meters that its prices rate.
    pub(super) touched: Touched,
    pub(super) counts: Counts,
}

/// Events of a share that count for a subscription.
pub(super) enum Counts {
    /// Those of a member, by its place.
    Own(Option<usize>),
    /// Those of whom its sources name, or of licenses: what each event of the share contributes, in cells of the
    /// subscription's own.
    Apart(Vec<Option<Vec<Reading>>>),
}

impl MovedPeriods {
    pub(super) fn subscribed(&self) -> Subscribed<'_> {
        let SubscriptionTerms { entry, version, grid, card, .. } = &*self.terms;
        Subscribed { entry, version, grid, card: card.as_ref() }
    }

    /// Tells whether some events have distinct values of licenses.
    pub(super) fn have_distinct_of_licenses(&self, events: &[Taken<'_>]) -> bool {
        let holders = self.terms.holders.as_ref();
        holders.is_some_and(|of| events.iter().any(|taken| of.have_distinct(&taken.readings)))
    }

    /// Returns what is to be known of them.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        let Self { terms, alerts, draws_in, threshold, touched, .. } = self;
        let watched_groups = &terms.watched_groups;
        Wanted {
            alerts,
            draws_in,
            threshold: threshold.as_ref(),
            watched_groups: Some(watched_groups),
            touched: Some(touched).filter(|_| !watched_groups.need_all()),
        }
    }
}

impl Counts {
    fn of(terms: &SubscriptionTerms, members: &[Member<'_>], events: &[Taken<'_>]) -> Self {
        let (subscriber, all) = (terms.entry.subscription.customer_id, &terms.sources);
        if all.is_empty() && terms.holders.is_none() {
            return Self::Own(members.iter().position(|of| of.customer_id == subscriber));
        }
        let readings = events.iter().map(|taken| {
            let customer = members.get(taken.member)?.customer_id;
            if !terms.count(customer) {
                return None;
            }
            let told = match &terms.holders {
                Some(holders) => holders.told(&taken.readings, taken.event.timestamp),
                None => Cow::Borrowed(taken.readings.as_slice()),
            };
            if all.is_empty() {
                return Some(told.into_owned());
            }
            let sources = all.iter().filter(|of| of.includes(customer));
            Some(sources.map(|of| readings_of(of, &told)).collect::<Vec<_>>().concat())
        });
        Self::Apart(readings.collect())
    }

    /// Returns what an event contributes, by its place; none where it does not count.
    pub(super) fn readings_of<'r>(
        &'r self,
        place: usize,
        taken: &'r Taken<'_>,
    ) -> Option<&'r [Reading]> {
        match self {
            Self::Own(member) => (*member == Some(taken.member)).then_some(&taken.readings),
            Self::Apart(readings) => readings.get(place)?.as_deref(),
        }
    }
}

impl<'a> Member<'a> {
    fn new(customer_id: CustomerId) -> Self {
        let (places, bucket_slots) = (TallyPlaces::default(), BucketSlots::default());
        Self { customer_id, new: Vec::new(), places, bucket_slots }
    }

    /// Counts its events that count, by hour.
    pub(super) fn hours(&self) -> BTreeMap<Hour, u64> {
        let mut hours = BTreeMap::<_, u64>::new();
        for New { event, counts, .. } in &self.new {
            let count = hours.entry(Hour::of(event.timestamp)).or_default();
            *count = count.saturating_add(u64::from(*counts));
        }
        hours
    }

    /// Writes its events.
    pub(super) async fn accept(&self, tx: &mut Transaction<'_>, metrics: u64) -> Result<(), Error> {
        event_blocks::accept(tx, self.customer_id, None, &self.new, metrics).await
    }

    /// Finds the bucket slots of the places that its events are added to.
    async fn find_slots(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let counting = self.new.iter().filter(|new| new.counts);
        let instants = counting.map(|new| new.event.timestamp);
        if let (Some(first), Some(last)) = (instants.clone().min(), instants.max()) {
            let timeframe = Timeframe::nothing_at(first).until(last.saturating_add(INSTANT));
            self.bucket_slots = visible::bucket_slots(tx, self.customer_id, timeframe).await?;
        }
        Ok(())
    }
}

impl<'a> Share<'a> {
    /// Splits a batch by family, with the terms of all subscribers, in the order of their ids. Within one, the order of
    /// the batch stays.
    ///
    /// Refuses one that would take too much work: the comparisons of the metrics for each event, which
    /// are [few enough](limits::METRIC_TERMS) for the largest batch, and the additions of each for each
    /// subscription.
    pub(super) async fn split(
        tx: &Transaction<'_>,
        families: &[Family],
        terms: &[Arc<CustomerTerms>],
        new: &'a [New<'a>],
        meters: &Meters,
        has_alerts: bool,
    ) -> Result<Vec<Self>, Error> {
        let mut work = meters.terms().saturating_mul(new.len());
        let mut shares: Vec<_> = families.iter().map(Self::of).collect();
        let mut places = BTreeMap::new();
        for (at, share) in shares.iter().enumerate() {
            let members = share.members.iter().enumerate();
            places.extend(members.map(|(member, of)| (of.customer_id, (at, member))));
        }
        let known = &mut KnownIds::default();
        for new in new {
            let Some((at, place)) = places.get(&new.customer_id).copied() else { continue };
            let Some(share) = shares.get_mut(at) else { continue };
            let Some(member) = share.members.get_mut(place) else { continue };
            member.new.push(new);
            if new.counts {
                let (event, fields) = (new.event, Fields::from(new.event));
                let readings =
                    visible::readings(tx, meters, known, &fields, &event.idempotency_key).await;
                tx.pace.spend(Pace::KEY.saturating_mul(readings.len())).await;
                member.places.add(event.timestamp, &readings);
                share.events.push(Taken { member: place, event, readings });
            }
        }
        for (share, family) in shares.iter_mut().zip(families) {
            let terms_of =
                |id| terms.get(terms.binary_search_by_key(id, |of| of.customer_id).ok()?);
            let own = family.subscribers.iter().filter_map(terms_of);
            work = share.find_moved(tx, own, has_alerts, work).await?;
        }
        Ok(shares)
    }

    fn of(family: &Family) -> Self {
        let members = family.members.iter().map(|id| Member::new(*id)).collect();
        Self { members, events: Vec::new(), subscribers: SmallVec::new() }
    }

    /// Finds the billing periods that its events move, after so much work. Returns how much it is with that.
    async fn find_moved<'t>(
        &mut self,
        tx: &Transaction<'_>,
        terms: impl Iterator<Item = &'t Arc<CustomerTerms>> + Send,
        has_alerts: bool,
        mut work: usize,
    ) -> Result<usize, Error> {
        for of in terms {
            let CustomerTerms { customer_id, subscriptions, credits } = &**of;
            let mut moved = Vec::with_capacity(subscriptions.len());
            for terms in subscriptions {
                tx.pace.spend(self.events.len()).await;
                let with_its = work.saturating_add(self.work_of(terms));
                if !terms.sources.is_empty() {
                    check_work(with_its)?;
                }
                if let Some(of) = self.moved_of(terms, credits, has_alerts, tx.now) {
                    moved.push(of);
                    work = with_its;
                    check_work(work)?;
                }
            }
            self.subscribers.push(Subscriber { customer_id: *customer_id, moved });
        }
        Ok(work)
    }

    /// Returns the work that its events are for a subscription: additions, and for each source that counts a distinct
    /// value what tells for each customer when it was seen.
    fn work_of(&self, terms: &SubscriptionTerms) -> usize {
        let work = self.events.iter().map(|taken| {
            let Some(member) = self.members.get(taken.member) else { return 0 };
            if terms.sources.is_empty() {
                let is_own = member.customer_id == terms.entry.subscription.customer_id;
                return if is_own { taken.readings.len() } else { 0 };
            }
            let is_distinct = |of: &&Reading| matches!(of.amount, Amount::Distinct(_));
            let distinct = taken.readings.iter().filter(is_distinct).count();
            let sources = terms.sources.iter().filter(|of| of.includes(member.customer_id));
            let each = sources.map(|of| {
                let seen = distinct.saturating_mul(of.customers().len());
                taken.readings.len().saturating_add(seen.saturating_mul(Pace::ROW))
            });
            each.fold(0, usize::saturating_add)
        });
        work.fold(0, usize::saturating_add)
    }

    /// Finds the billing periods of a subscription that its events move; none where they move none.
    fn moved_of(
        &self,
        terms: &Arc<SubscriptionTerms>,
        credits: &Credits,
        has_alerts: bool,
        now: Timestamp,
    ) -> Option<MovedPeriods> {
        let counts = Counts::of(terms, &self.members, &self.events);
        let billing = self.periods_of(terms, &counts, now);
        if billing.is_empty() {
            return None;
        }
        let counting = self.members.iter().enumerate().filter(|(place, of)| match &counts {
            Counts::Own(member) => *member == Some(*place),
            Counts::Apart(_) => terms.count(of.customer_id),
        });
        let counting: SmallVec<[_; 1]> = counting.map(|(_, of)| &of.places).collect();
        let moves = |metric: MetricId| counting.iter().any(|of| of.has(metric.into()));
        let watching = terms.alerts.iter().filter(|_| has_alerts);
        let watching = watching.filter(|alert| alert.condition.metric_id().is_none_or(moves));
        let priced = terms.version.priced_of(&terms.entry);
        let events = self.events.iter().enumerate();
        let readings = events.filter_map(|(place, taken)| counts.readings_of(place, taken));
        Some(MovedPeriods {
            alerts: watching.cloned().collect(),
            draws_in: credits.drawn_by(priced, moves),
            threshold: threshold(terms, &billing, now),
            touched: Touched::by(readings.flatten(), &terms.grouped())
                .with_watched(&terms.watched_groups),
            terms: Arc::clone(terms),
            billing,
            counts,
        })
    }

    /// Finds the bucket slots of the places that the events are added to.
    pub(super) async fn find_slots(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        for member in &mut self.members {
            member.find_slots(tx).await?;
        }
        Ok(())
    }

    /// Returns the billing periods of a subscription that its events move.
    fn periods_of(
        &self,
        SubscriptionTerms { entry, grid: all, .. }: &SubscriptionTerms,
        counts: &Counts,
        now: Timestamp,
    ) -> Vec<Timeframe> {
        let mut found = BTreeSet::new();
        for (place, taken) in self.events.iter().enumerate() {
            let at = taken.event.timestamp;
            if counts.readings_of(place, taken).is_some()
                && !found.iter().any(|period: &Timeframe| period.contains(at))
            {
                found.extend(all.containing(at));
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
}

impl Subscriber {
    /// Returns the currencies and pricing units of the ledgers that the events draw on.
    pub(super) fn units(&self) -> BTreeSet<&PricingUnit> {
        self.moved.iter().flat_map(|of| &of.draws_in).collect()
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
