//! Costs of subscriptions and customers in any timeframe.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    CustomerId, Error, IdOr, Pace, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    cost::{Cost, CostQuery},
    engine::{
        Account,
        kernel::{Transaction, boxed},
        rows::{self, active, sources::RunningSources, totals},
    },
    limits,
    rating::{RateCard, rate},
    subscription::{Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::{Meters, QueryTimeframe, Slots, Total, View},
};

impl Account {
    /// Computes the cost of a subscription: in the current billing period, or in any timeframe; as
    /// one, or day by day (wire 5.1). Of the current billing period, days behind now are not shown.
    ///
    /// The current billing period is answered from running totals. For any other timeframe it reads
    /// the aggregates of the billing periods, and the events of at most two windows of 15 minutes
    /// for each instant at which the timeframe is cut, however long the history is.
    ///
    /// # Errors
    ///
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where the timeframe has more than 10,000
    /// days, and is to be cut into them.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::{BillingAnchor, NewSubscription}};
    /// use accrue::cost::CostQuery;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let mut pro = NewSubscription::new(ada.id, plan.id);
    /// pro.anchor = BillingAnchor::SubscriptionStart;
    /// let pro = account.create_subscription(pro).await?;
    /// let costs = account.subscription_costs(pro.id, &CostQuery::default()).await?;
    /// assert_eq!(costs[0].total, Decimal::from(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn subscription_costs(
        &self,
        id: SubscriptionId,
        query: &CostQuery,
    ) -> Result<Vec<Cost>, Error> {
        let find = |mut tx| async move {
            let found = subscription_costs(&mut tx, id, query).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Computes the cost of all subscriptions of a customer together, line by line for each price
    /// (wire 4.1): in any timeframe, or each in its own current billing period.
    ///
    /// # Errors
    ///
    /// As [`subscription_costs`](Self::subscription_costs).
    pub async fn customer_costs(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        query: &CostQuery,
    ) -> Result<Vec<Cost>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = customer_costs(&mut tx, customer, query).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }
}

#[boxed]
async fn subscription_costs(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    query: &CostQuery,
) -> Result<Vec<Cost>, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    let currency = entry.subscription.currency;
    let currency = query.currency.clone().unwrap_or_else(|| currency.into());
    let zone = &entry.subscription.timezone;
    let current = current_period(tx, &entry);
    let slots = Slots::of(query.timeframe, query.view, current, tx.now, zone)?;
    let costs = costs(tx, &entry, &slots.slots, &currency).await?;
    Ok(gather(costs, query.view, &slots))
}

#[boxed]
async fn customer_costs(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    query: &CostQuery,
) -> Result<Vec<Cost>, Error> {
    let customer = rows::customers::customer(tx, customer).await?;
    let zone = &customer.timezone;
    let live = live_subscriptions(tx, customer.id).await?;
    let current = current_periods(tx, &live)?;
    let slots = Slots::of(query.timeframe, query.view, current, tx.now, zone)?;
    let is_current = query.timeframe == QueryTimeframe::Current;
    let entries = if is_current {
        live
    } else {
        rows::subscriptions::every_subscription(tx, customer.id).await?
    };
    let invoiced = customer.currency.map(PricingUnit::from);
    let Some(currency) = query.currency.clone().or(invoiced) else {
        // Nothing was ever subscribed to.
        return Ok(Vec::new());
    };
    let mut costs: Vec<Cost> =
        slots.slots.iter().map(|slot| Cost::nothing(*slot, currency.clone())).collect();
    for entry in &entries {
        let slots = if is_current {
            within(&slots.slots, current_period(tx, entry))
        } else {
            slots.slots.clone()
        };
        let more = self::costs(tx, entry, &slots, &currency).await?;
        costs.iter_mut().zip(more).for_each(|(cost, more)| cost.add(more));
    }
    Ok(gather(costs, query.view, &slots))
}

/// Gathers the costs of slots as the view asks for.
fn gather(costs: Vec<Cost>, view: View, slots: &Slots) -> Vec<Cost> {
    let mut costs = Cost::gather(costs, view);
    costs.iter_mut().for_each(|cost| cost.timeframe = slots.shown(cost.timeframe));
    costs
}

/// Number of slots that are rated before others get their turn.
const SLOTS_TOGETHER: usize = 16;

/// Usage of a billing period from its start up to an instant.
struct Sum {
    running: RunningSources,
    to: Timestamp,
}

impl Sum {
    async fn of(
        tx: &mut Transaction<'_>,
        subscription: &Subscription,
        meters: &Meters,
        period: Timeframe,
    ) -> Result<Self, Error> {
        let to = period.start();
        Ok(Self { running: RunningSources::of(tx, subscription, meters, to).await?, to })
    }
}

/// Returns the instants of a billing period, behind its start, at which slots begin or end: the end of one that is over
/// before the first of them.
fn marks(all: &[Timeframe], period: Timeframe) -> BTreeSet<Timestamp> {
    let first = all.partition_point(|slot| slot.end() < period.start());
    let slots = all.iter().skip(first).take_while(|slot| slot.start() <= period.end());
    let bounds = slots.flat_map(|slot| [slot.start(), slot.end()]);
    let is_before = all.first().is_some_and(|slot| period.end() < slot.start());
    let bounds = bounds.map(|at| at.min(period.end())).chain(is_before.then(|| period.end()));
    bounds.filter(|at| period.start() < *at).collect()
}

/// Returns the costs of a subscription, slot by slot.
pub(in crate::engine) async fn costs(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    slots: &[Timeframe],
    currency: &PricingUnit,
) -> Result<Vec<Cost>, Error> {
    let card = rows::prices::card(tx, entry).await?;
    let version = rows::plans::plan_version_of(tx, entry).await?;
    let meters = &version.priced_of(entry).meters;
    let meters = rows::metrics::meters(tx).await?.only(&card.metrics(), meters);
    let (mut costs, mut sums) = (Vec::with_capacity(slots.len()), BTreeMap::new());
    for slots in slots.chunks(SLOTS_TOGETHER) {
        let used = used_in(tx, entry, &card, &meters, slots, &mut sums).await?;
        let groups = used.values().map(|of| of.groups.each().count()).max().unwrap_or_default();
        let used = |period: Timeframe, to: Timestamp| used.get(&(period, to)).map(Cow::Borrowed);
        let lines = rate(&card, &used, slots, tx.now);
        let rated = slots.iter().zip(lines);
        costs.extend(rated.map(|(slot, lines)| Cost::of(*slot, currency.clone(), &card, lines)));
        let rated = slots.len().saturating_mul(card.intervals.len().saturating_add(groups));
        tx.pace.spend(rated.saturating_mul(Pace::ROW)).await;
    }
    Ok(costs)
}

/// Returns the usage from the start of each billing period up to the instants at which slots begin
/// and end in it. Those that go on behind the slots are summed further next time.
async fn used_in(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    meters: &Meters,
    slots: &[Timeframe],
    sums: &mut BTreeMap<Timeframe, Sum>,
) -> Result<BTreeMap<(Timeframe, Timestamp), Total>, Error> {
    let mut used = BTreeMap::new();
    let Some((first, last)) = slots.first().zip(slots.last()) else { return Ok(used) };
    let whole = Timeframe::nothing_at(first.start()).until(last.end());
    // Nothing can have been used yet behind it.
    let until = tx.now.saturating_add(Duration::from_secs(limits::FUTURE_SECONDS));
    let periods = card.rated_periods(whole).into_iter();
    for (period, key) in periods.take_while(|(period, _)| period.start() <= until) {
        let Sum { mut running, mut to } = match sums.remove(&period) {
            Some(begun) => begun,
            None => Sum::of(tx, &entry.subscription, meters, period).await?,
        };
        for mark in marks(slots, period) {
            let is_all = mark == period.end() && period.contains(tx.now);
            let total = if is_all {
                totals::total(tx, entry, key).await?
            } else {
                if let Ok(segment) = Timeframe::new(to, mark) {
                    running.run_on(tx, meters, segment).await?;
                    to = mark;
                }
                running.total()
            };
            used.insert((period, mark), total);
        }
        if whole.end() < period.end() {
            sums.insert(period, Sum { running, to });
        }
    }
    Ok(used)
}

/// Returns the billing period of now: the first one of what has not begun, the last one of what
/// has ended.
pub(in crate::engine) fn current_period(
    tx: &Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Timeframe {
    let subscription = &entry.subscription;
    let start = subscription.start_date;
    let last = subscription.end_date.map(|end| end.saturating_sub(INSTANT).max(start));
    let at = tx.now.max(start);
    let at = last.map_or(at, |last| at.min(last));
    subscription.periods().containing(at).unwrap_or(Timeframe::nothing_at(start))
}

/// Returns the timeframe that the current billing periods of subscriptions lie in.
fn current_periods(
    tx: &Transaction<'_>,
    entries: &[SubscriptionEntry],
) -> Result<Timeframe, Error> {
    let periods = entries.iter().map(|entry| current_period(tx, entry));
    let periods: Vec<_> = periods.collect();
    let start = periods.iter().map(|period| period.start()).min().unwrap_or(tx.now);
    let end = periods.iter().map(|period| period.end()).max().unwrap_or(tx.now);
    Timeframe::new(start, end).map_err(|error| Error::corrupt(error.to_string()))
}

/// Reads the subscriptions of a customer that have begun and not ended.
async fn live_subscriptions(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Vec<SubscriptionEntry>, Error> {
    let active = active::active_subscriptions(tx, &[customer]).await?;
    let all = active.into_iter().flat_map(|of| of.entries);
    Ok(all.filter(|entry| entry.subscription.covers(tx.now)).collect())
}

/// Cuts slots that adjoin to a timeframe, so that they still do.
fn within(slots: &[Timeframe], timeframe: Timeframe) -> Vec<Timeframe> {
    slots.iter().map(|slot| slot.within(timeframe)).collect()
}
