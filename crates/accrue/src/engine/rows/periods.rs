//! States of billing periods: loads them, advances them, saves them.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use crate::{
    AccountId, AlertId, CustomerId, Error, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Fired},
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            account, alert_groups, buckets,
            effects::{self, Told},
            period_groups::{self, Touched},
            plans, prices, subscriptions,
            totals::{has_cells, put_total, save_total, total_under},
        },
    },
    period::{BillingPeriod, Change, Closed, PeriodState, Periods, Stored, Watches},
    rating::RateCard,
    schema::{self, CustomerHead, PlanVersionEntry},
    store::Key,
    subscription::{BillingPeriods, PeriodKey, SubscriptionEntry, Threshold},
};

/// What is to be known of billing periods.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct Wanted<'a> {
    /// What of these alerts has fired, and what they watch.
    pub(in crate::engine) alerts: &'a [Alert],
    /// What draws credits in these currencies and pricing units.
    pub(in crate::engine) draws_in: &'a [PricingUnit],
    /// Threshold of what usage may come to before it is invoiced.
    pub(in crate::engine) threshold: Option<&'a Threshold>,
    /// Groups that alerts watch, where they are known: else those of the alerts.
    pub(in crate::engine) watched_groups: Option<&'a Arc<Watches>>,
    /// Groups that events are in, where no others are to be known; none where all are.
    pub(in crate::engine) touched: Option<&'a Touched>,
}

impl Wanted<'_> {
    /// Tells whether somebody asks what usage costs.
    fn are_rated(self) -> bool {
        let is_watched = || self.alerts.iter().any(|alert| alert.condition.is_rated());
        !self.draws_in.is_empty() || self.threshold.is_some() || is_watched()
    }

    /// Tells whether an alert watches groups.
    fn have_groups(self) -> bool {
        match self.watched_groups {
            Some(known) => !known.is_empty(),
            None => self.alerts.iter().any(|alert| alert.condition.is_on_groups()),
        }
    }
}

/// A subscription whose billing periods are read.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Subscribed<'a> {
    pub(in crate::engine) entry: &'a SubscriptionEntry,
    pub(in crate::engine) version: &'a PlanVersionEntry,
    /// Its billing periods.
    pub(in crate::engine) grid: &'a BillingPeriods,
    /// Its prices, where they were read.
    pub(in crate::engine) card: Option<&'a Arc<RateCard>>,
}

impl Subscribed<'_> {
    fn has_cells(self) -> bool {
        has_cells(self.version, self.entry)
    }

    /// Tells whether its prices rate groups that are not known beforehand, or an alert watches some.
    fn has_groups(self, wanted: Wanted<'_>) -> bool {
        !self.version.priced_of(self.entry).grouped.is_empty() || wanted.have_groups()
    }
}

/// Names the rows that the states of some billing periods are in, as of an instant.
pub(in crate::engine) fn period_keys(
    account: &AccountId,
    head: &CustomerHead,
    of: Subscribed<'_>,
    billing: &[Timeframe],
    wanted: Wanted<'_>,
    at: Timestamp,
) -> Vec<Key> {
    let Wanted { alerts, touched, .. } = wanted;
    let entry = of.entry;
    let id = entry.subscription.id;
    let new = new_parts(entry, billing, at).into_values();
    let stretches = entry.stretches_on(of.grid, billing, at).into_keys().chain(new);
    let mut keys = Vec::new();
    for key in stretches {
        if of.has_groups(wanted) {
            keys.extend(period_groups::keys(account, id, key, touched));
        }
        if head.usage.total(id, key).is_some() {
            continue;
        }
        keys.push(schema::total(account, id, key).key().clone());
        if of.has_cells() {
            keys.push(schema::cell_total(account, id, key).key().clone());
        }
    }
    for start in billing.iter().map(|period| period.start()) {
        let unknown = |alert: &&Alert| head.usage.fired(id, start, alert.id).is_none();
        let state = |alert: &Alert| schema::alert_state(account, id, start, alert.id);
        let unknown = alerts.iter().filter(unknown);
        keys.extend(unknown.map(|alert| state(alert).key().clone()));
    }
    let watched = wanted.watched_groups.into_iter();
    keys.extend(watched.flat_map(|of| alert_groups::keys(account, id, billing, of, touched)));
    keys
}

/// Reads some billing periods of a subscription, rated as of an instant.
pub(in crate::engine) async fn periods(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    billing: &[Timeframe],
    wanted: Wanted<'_>,
    at: Timestamp,
) -> Result<Periods, Error> {
    let version = plans::plan_version_of(tx, entry).await?;
    let grid = &entry.subscription.periods();
    let of = Subscribed { entry, version: &version, grid, card: None };
    periods_of(tx, of, billing, wanted, at).await
}

/// Reads them where the version of the plan was read.
pub(in crate::engine) async fn periods_of(
    tx: &mut Transaction<'_>,
    of: Subscribed<'_>,
    billing: &[Timeframe],
    wanted: Wanted<'_>,
    at: Timestamp,
) -> Result<Periods, Error> {
    let Subscribed { entry, version, grid, card } = of;
    let Wanted { alerts, draws_in, threshold, touched, watched_groups } = wanted;
    let id = entry.subscription.id;
    let guard = tx.guard::<CustomerHead>(entry.subscription.customer_id).await?;
    let head = guard.head(tx)?;
    let keys = period_keys(tx.account, &head, of, billing, wanted, at);
    Guard::fetch(tx, keys.iter().map(|key| (&guard, key))).await?;
    let card = match card {
        _ if !wanted.are_rated() => None,
        Some(card) => Some(Arc::clone(card)),
        None => Some(prices::card(tx, entry).await?),
    };
    let mut states = BTreeMap::new();
    for (key, timeframe) in entry.stretches_on(grid, billing, at) {
        let (mut total, mut stored) = total_under(tx, &guard, id, key, of.has_cells()).await?;
        if of.has_groups(wanted) {
            let (of, card) = ((id, key), card.as_deref());
            total.groups = period_groups::load(tx, &guard, of, touched, card).await?;
            stored.groups = total.groups.clone();
        }
        states.insert(key, PeriodState::new(timeframe, total, stored));
    }
    let watched_groups = match (watched_groups, &card) {
        (Some(known), _) => Arc::clone(known),
        (None, Some(card)) => Arc::new(Watches::of(alerts, card)),
        (None, None) => Arc::default(),
    };
    let mut periods = Vec::with_capacity(billing.len());
    for period in billing {
        let mut fired = BTreeMap::new();
        for alert in alerts {
            let known = head.usage.fired(id, period.start(), alert.id);
            let known = match known {
                Some(known) => known.clone(),
                None => {
                    let state = schema::alert_state(tx.account, id, period.start(), alert.id);
                    tx.row(&state)?.unwrap_or_default().fired
                }
            };
            fired.insert(alert.id, known);
        }
        periods.push(BillingPeriod::new(*period, fired));
    }
    let groups = alert_groups::load(tx, &guard, (id, billing), &watched_groups, touched).await?;
    let mut periods = Periods::new(id, version.priced_of(entry).meters.clone(), states, periods);
    (periods.alerts, periods.draws_in) = (alerts.to_vec(), draws_in.to_vec());
    periods.watched = Some(entry.subscription.source()).filter(|source| !source.is_own());
    periods.threshold = threshold.cloned();
    (periods.watched_groups, periods.groups) = (watched_groups, groups);
    if let Some(card) = card {
        periods.rate(&card, at);
    }
    Ok(periods)
}

/// Rates what billing periods hold, as of an instant.
pub(in crate::engine) async fn rate_periods(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &mut Periods,
    at: Timestamp,
) -> Result<(), Error> {
    if periods.are_rated() {
        periods.rate(&prices::card(tx, entry).await?, at);
    }
    Ok(())
}

/// Begins the parts that an event in some billing periods needs to be there. Returns the subscription as
/// it is then.
pub(in crate::engine) async fn begin_parts<'e>(
    tx: &mut Transaction<'_>,
    of: Subscribed<'e>,
    billing: &[Timeframe],
    wanted: Wanted<'_>,
) -> Result<Cow<'e, SubscriptionEntry>, Error> {
    let mut entry = Cow::Borrowed(of.entry);
    if entry.subscription.has_one_grid() {
        return Ok(entry);
    }
    let id = entry.subscription.id;
    let guard = tx.guard(entry.subscription.customer_id).await?;
    for (part, whole) in new_parts(&entry, billing, tx.now) {
        let (mut total, _) = total_under(tx, &guard, id, whole, of.has_cells()).await?;
        if of.has_groups(wanted) {
            total.groups = period_groups::load(tx, &guard, (id, whole), None, None).await?;
        }
        let timeframe = Timeframe::nothing_at(part.start).until(part.end);
        let new = PeriodState::new(timeframe, total, Stored::default());
        save_total(tx, &guard, id, part, &new, BTreeMap::new())?;
    }
    let latest = billing.iter().map(|period| period.start()).max();
    if latest > entry.parts_until {
        // Whose terms were recalled did not read it.
        subscriptions::subscriptions_under(tx, &[(&guard, id)]).await?;
        entry.to_mut().parts_until = latest;
        subscriptions::save_subscription(tx, &entry).await?;
    }
    Ok(entry)
}

/// Removes the parts that nothing asks for any more once a period is closed.
pub(in crate::engine) async fn drop_parts(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    closed: Timestamp,
) -> Result<(), Error> {
    let (account, id) = (tx.account, entry.subscription.id);
    let guard = tx.guard::<CustomerHead>(entry.subscription.customer_id).await?;
    for key in entry.outlived_parts(closed) {
        period_groups::remove(tx, &guard, (id, key)).await?;
        if guard.head_mut(tx)?.usage.drop_total(id, key).is_some() {
            continue;
        }
        guard.delete(tx, &schema::total(account, id, key))?;
        guard.delete(tx, &schema::cell_total(account, id, key))?;
    }
    Ok(())
}

/// Writes what of billing periods has moved: in the head of their customer as long as they are open, and
/// there is room.
pub(in crate::engine) async fn save_periods(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    periods: &Periods,
) -> Result<(), Error> {
    let id = periods.subscription_id;
    for (key, state) in &periods.states {
        if state.has_moved {
            save_total(tx, guard, id, *key, state, periods.group_sums(state))?;
        }
    }
    let has_moved = periods.states.values().any(|state| state.has_moved);
    for billing in &periods.billing {
        let of = |alert: &AlertId| (id, billing.timeframe.start(), *alert);
        for alert in &billing.fired_moved {
            let fired = billing.fired.get(alert).cloned().unwrap_or_default();
            save_fired(tx, guard, of(alert), billing.timeframe.end(), fired).await?;
        }
        // Of an alert that has not fired it is to be known here too.
        for (alert, fired) in billing.fired.iter().filter(|_| has_moved) {
            let (_, start, _) = of(alert);
            if fired.count() == 0 && guard.head(tx)?.usage.fired(id, start, *alert).is_none() {
                let (of, end) = (of(alert), billing.timeframe.end());
                save_fired(tx, guard, of, end, Fired::default()).await?;
            }
        }
    }
    alert_groups::save(tx, guard, periods)
}

/// Writes which thresholds of an alert have fired in a billing period.
async fn save_fired(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    of: (SubscriptionId, Timestamp, AlertId),
    end: Timestamp,
    fired: Fired,
) -> Result<(), Error> {
    let (id, start, alert) = of;
    if guard.head(tx)?.usage.fired(id, start, alert).is_some() {
        guard.head_mut(tx)?.usage.put_fired(of, fired);
        return Ok(());
    }
    let slot = schema::alert_state(tx.account, id, start, alert);
    let is_new = guard.get(tx, &slot).await?.is_none();
    if is_new && guard.head(tx)?.usage.has_room(fired.count()) {
        guard.head_mut(tx)?.usage.open_fired(of, end, fired);
        return Ok(());
    }
    if !is_new || fired.count() > 0 {
        guard.put(tx, &slot, &schema::AlertState { fired })?;
    }
    Ok(())
}

/// Closes what is open of a customer and takes no more events, or is too much: it gets rows of its own.
pub(in crate::engine) async fn close(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
) -> Result<(), Error> {
    let oldest_taken = account::oldest_taken(tx).await?;
    if !guard.head(tx)?.usage.is_to_close(oldest_taken) {
        return Ok(());
    }
    let usage = &mut guard.head_mut(tx)?.usage;
    for Closed { windows, totals, fired } in
        [usage.close_before(oldest_taken), usage.close_too_many()]
    {
        for window in windows {
            buckets::save_rows(tx, guard, window)?;
        }
        for ((id, key), total) in totals {
            put_total(tx, guard, id, key, &Stored::default(), &total)?;
        }
        for ((id, start), alerts) in fired {
            for (alert, fired) in alerts.into_iter().filter(|(_, fired)| fired.count() > 0) {
                let slot = schema::alert_state(tx.account, id, start, alert);
                guard.put(tx, &slot, &schema::AlertState { fired })?;
            }
        }
    }
    Ok(())
}

/// Advances billing periods, tells of the alerts that fire, and writes what has moved. Returns what is
/// left to do.
pub(in crate::engine) async fn advance(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    periods: &mut Periods,
    change: Change<'_>,
    at: Timestamp,
) -> Result<Told, Error> {
    let told = effects::tell(tx, customer_id, periods.advance(change), at).await?;
    let guard = tx.guard(customer_id).await?;
    save_periods(tx, &guard, periods).await?;
    close(tx, &guard).await?;
    Ok(told)
}

/// The parts that an event in some billing periods needs to be there, each with what it is of.
fn new_parts(
    entry: &SubscriptionEntry,
    billing: &[Timeframe],
    now: Timestamp,
) -> BTreeMap<PeriodKey, PeriodKey> {
    let latest = billing.iter().map(|period| period.start()).max();
    let parts = latest.into_iter().flat_map(|start| entry.new_parts(start, now));
    parts.map(|(part, whole)| (part.key, whole.key)).collect()
}
