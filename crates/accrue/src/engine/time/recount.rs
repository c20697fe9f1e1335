//! Sums billing periods anew: where a subscription begins over usage that there is, its end moves, or a
//! correction has moved what there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use crate::{
    CustomerId, Error, SubscriptionId, Timeframe, Timestamp,
    account::LONGEST_GRACE,
    alert::{Alert, Cause},
    credit::DrawDown,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self, active, ledgers,
            periods::{self, Wanted},
            plans, sources, subscriptions, totals, usage_customers,
        },
        time::{drawing, metering, transitions},
    },
    limits,
    meter::{MeterId, Source},
    period::{
        Change, PeriodState, Periods, Stored, Stretch, Watches, billing_start_at, judged_at_once,
        oldest_judged,
    },
    schema::CustomerHead,
    subscription::{PeriodKey, Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::Total,
};

/// What stretches came to that have no running total, by subscription.
pub(in crate::engine) type Untotalled = BTreeMap<(SubscriptionId, PeriodKey), Total>;

/// By which metrics events are summed.
#[derive(Clone, Copy)]
pub(in crate::engine) enum SummedBy {
    /// By all.
    All,
    /// By those up to a revision, by all of which the customer's events are measured.
    Revision(u64),
}

/// Counts the usage that a new subscription finds in its open billing periods, and judges the
/// alerts that watch it.
pub(in crate::engine) async fn count_earlier_usage(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let (now, customer_id) = (tx.now, entry.subscription.customer_id);
    let judged = judged_at_once(&entry.subscription, now);
    let open = open_periods(tx, &entry.subscription);
    let billing = in_order(open.into_iter().chain(judged.iter().copied()));
    part_until(tx, entry, Timestamp::MAX);
    let draws_in = ledgers::draws_in(tx, entry).await?;
    let nothing = Wanted { draws_in: &draws_in, alerts: &[], ..Wanted::default() };
    let nothing = periods::periods(tx, entry, &billing, nothing, now).await?;
    let alerts = active::watching(tx, entry).await?;
    let wanted = Wanted { draws_in: &draws_in, alerts: &alerts, ..Wanted::default() };
    let mut periods = periods::periods(tx, entry, &billing, wanted, now).await?;
    keep_watched(tx, entry, &alerts).await?;
    sum_anew(tx, entry, &mut periods, SummedBy::All).await?;
    periods::rate_periods(tx, entry, &mut periods, now).await?;
    periods.judge_only(|period| judged.contains(&period));
    let draw_downs = periods.draw_downs_since(&nothing);
    let cause = Cause::Subscription { subscription_id: entry.subscription.id };
    let change = Change::Watched { cause: &cause };
    periods::advance(tx, customer_id, &mut periods, change, now).await?.note(entry);
    drawing::draw_alone(tx, customer_id, &draw_downs, &cause, now).await
}

/// Judges the alerts that watch a subscription on what a change of it brings: where its end has
/// moved, what it used up to the new one is counted, and fees are prorated to it; an end that is
/// now brings the charges of then.
pub(in crate::engine) async fn judge_change(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    after: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let since = after.subscription.usage_differs_since(&before.subscription);
    judge_usage(tx, before, after, since).await
}

/// Counts the usage of a subscription anew whose licenses are others since an instant, as far back as it was counted,
/// and judges the alerts that watch it (subscriptions 7.4.9). Writes the subscription: whoever has worked out what its
/// events are held against does so anew.
pub(in crate::engine) async fn judge_licenses(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    since: Timestamp,
) -> Result<(), Error> {
    let counted = before.subscription.created_at.saturating_sub(LONGEST_GRACE);
    let mut entry = before.clone();
    if since <= rows::account::newest_taken(tx) {
        judge_usage(tx, before, &mut entry, Some(since.max(counted))).await?;
    }
    subscriptions::save_subscription(tx, &entry).await
}

/// Judges a change of a subscription after which its usage is counted otherwise from an instant on, where there is one.
async fn judge_usage(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    after: &mut SubscriptionEntry,
    differs_since: Option<Timestamp>,
) -> Result<(), Error> {
    let (alerts, now) = (active::watching(tx, after).await?, tx.now);
    let (old, new) = (before.subscription.periods(), after.subscription.periods());
    let end = after.subscription.end_date.filter(|end| *end <= now);
    let last = end.and_then(|end| new.containing(end.saturating_sub(INSTANT)));
    let judged = in_order(judged_at_once(&after.subscription, now).into_iter().chain(last));
    let (mut earlier, mut later) = (Vec::new(), Vec::new());
    let mut draws_in = Vec::new();
    let outlived = last.map(|last| outlived_stretches(before, last, now)).unwrap_or_default();
    let is_summed = differs_since.is_some()
        || !outlived.is_empty()
        || leaves_events_out(tx, before, after).await?;
    if is_summed {
        let cut_off = end.map(|end| Timeframe::nothing_at(end).until(now));
        earlier = open_periods(tx, &before.subscription);
        earlier.extend(cut_off.into_iter().flat_map(|cut_off| old.overlapping(cut_off)));
        later = open_periods(tx, &after.subscription);
        if let Some(since) = differs_since.filter(|since| *since < now) {
            let past = Timeframe::nothing_at(since).until(now);
            earlier.extend(old.overlapping(past));
            later.extend(new.overlapping(past));
            check_summed(&later)?;
        }
        draws_in = ledgers::draws_in(tx, after).await?;
        part_until(tx, after, Timestamp::MAX);
    }
    earlier.extend(judged.iter().filter_map(|period| old.containing(period.start())));
    later.extend(judged.iter().copied());
    let wanted = Wanted { alerts: &alerts, draws_in: &draws_in, ..Wanted::default() };
    let mut periods = periods::periods(tx, before, &in_order(earlier), wanted, now).await?;
    let mut next = periods::periods(tx, after, &in_order(later), wanted, now).await?;
    if is_summed {
        keep_watched(tx, after, &alerts).await?;
    }
    if !outlived.is_empty() {
        recall(tx, before, &mut periods, outlived).await?;
        periods::rate_periods(tx, before, &mut periods, now).await?;
    }
    if is_summed {
        sum_anew(tx, after, &mut next, SummedBy::All).await?;
        periods::rate_periods(tx, after, &mut next, now).await?;
        let guard = tx.guard(after.subscription.customer_id).await?;
        drop_states(tx, &guard, &periods, &next)?;
    }
    next.judge_only(|period| judged.contains(&period));
    let Subscription { id: subscription_id, customer_id, .. } = after.subscription;
    let cause = Cause::Subscription { subscription_id };
    let next = Change::Next { next: Box::new(next), cause: &cause };
    let told = periods::advance(tx, customer_id, &mut periods, next, now).await?;
    told.note(after);
    drawing::draw_alone(tx, customer_id, &told.draw_downs, &cause, now).await
}

/// Counts anew what a customer used, where a correction has moved what there is within a
/// timeframe: totals, alerts on usage and cost, and what credits pay for, all as of an instant.
/// The buckets are corrected already.
///
/// Alerts are judged in the current billing period, and in the one before as long as its events
/// are still taken. Of stretches without a running total, what they came to before is given.
pub(in crate::engine) async fn count_corrected(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    timeframe: Timeframe,
    untotalled: &Untotalled,
    cause: &Cause,
    at: Timestamp,
) -> Result<(), Error> {
    for subscriber in usage_customers::subscribers(tx, customer_id).await? {
        let (_, entry) = rows::customers::entry(tx, subscriber).await?;
        let is_deleted = entry.is_some_and(|entry| entry.deleted_at.is_some());
        let has_alerts = !is_deleted && rows::account::had_alerts_until(tx, at).await?;
        let correction = Correction { untotalled, has_alerts, cause };
        let mut draw_downs = Vec::new();
        let all = subscriptions::every_subscription(tx, subscriber).await?;
        for entry in all.iter().filter(|of| of.subscription.counts_usage_of(customer_id)) {
            draw_downs.extend(count_periods(tx, entry, timeframe, at, &correction).await?);
        }
        if !is_deleted {
            drawing::draw_alone(tx, subscriber, &draw_downs, cause, at).await?;
        }
    }
    Ok(())
}

/// Counts billing periods of a subscription anew that a correction has moved. Returns what that costs
/// more or less.
async fn count_periods(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    timeframe: Timeframe,
    at: Timestamp,
    correction: &Correction<'_>,
) -> Result<Vec<DrawDown>, Error> {
    let mut entry = before.clone();
    part_until(tx, &mut entry, timeframe.end().saturating_sub(INSTANT));
    let billing = moved_by(&entry, timeframe, at);
    if billing.is_empty() {
        return Ok(Vec::new());
    }
    let customer_id = entry.subscription.customer_id;
    let (oldest_judged, oldest_taken) = (
        oldest_judged(&entry.subscription, at),
        at.saturating_sub(rows::account::account_entry(tx).await?.configuration.grace_period),
    );
    let id = entry.subscription.id;
    let is_judged = |period: Timeframe| {
        let key = Stretch::whole(&entry.subscription.periods(), period).key;
        correction.has_alerts
            && oldest_judged <= period.start()
            && oldest_taken < period.end()
            && !correction.untotalled.contains_key(&(id, key))
    };
    let alerts = match billing.iter().any(|period| is_judged(*period)) {
        true => transitions::watching_applied(tx, &entry).await?,
        false => Vec::new(),
    };
    let draws_in = ledgers::draws_in(tx, &entry).await?;
    let wanted = Wanted { alerts: &alerts, draws_in: &draws_in, ..Wanted::default() };
    let mut periods = periods::periods(tx, before, &billing, wanted, at).await?;
    let mut next = periods::periods(tx, &entry, &billing, wanted, at).await?;
    let by = SummedBy::Revision(measured(tx, customer_id).await?);
    sum_anew(tx, &entry, &mut next, by).await?;
    periods::rate_periods(tx, &entry, &mut next, at).await?;
    for ((_, key), total) in correction.untotalled.iter().filter(|((of, _), _)| *of == id) {
        if let Some(state) = periods.states.get_mut(key) {
            state.total = total.clone();
        }
        if let Some(state) = next.states.get_mut(key) {
            state.has_moved = false;
        }
    }
    periods::rate_periods(tx, before, &mut periods, at).await?;
    next.judge_only(is_judged);
    let next = Change::Next { next: Box::new(next), cause: correction.cause };
    let told = periods::advance(tx, customer_id, &mut periods, next, at).await?;
    told.note(&mut entry);
    if entry != *before {
        subscriptions::save_subscription(tx, &entry).await?;
    }
    Ok(told.draw_downs)
}

/// Makes sure that the meters are kept by which alerts watch groups of a subscription.
async fn keep_watched(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    alerts: &[Alert],
) -> Result<(), Error> {
    if !alerts.iter().any(|alert| alert.condition.is_on_groups()) {
        return Ok(());
    }
    let card = rows::prices::card(tx, entry).await?;
    metering::keep_watched(tx, alerts, &card).await
}

/// Sums the stretches that overlap a timeframe and have no running total though they were used: those
/// of billing periods that a subscription was created over when they were long past.
pub(in crate::engine) async fn untotalled(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    timeframe: Timeframe,
    at: Timestamp,
) -> Result<Untotalled, Error> {
    let mut untotalled = Untotalled::new();
    for entry in subscriptions::every_counting(tx, customer_id).await? {
        let by = SummedBy::Revision(measured(tx, entry.subscription.customer_id).await?);
        let billing: Vec<_> = entry.subscription.periods().overlapping(timeframe).collect();
        for (key, timeframe) in entry.stretches(&billing, at) {
            if totals::total(tx, &entry, key).await? != Total::default() {
                continue;
            }
            let total = summed(tx, &entry, timeframe, by).await?;
            if total != Total::default() {
                untotalled.insert((entry.subscription.id, key), total);
            }
        }
    }
    Ok(untotalled)
}

/// Sums stretches that are not kept any more, beside those that are.
async fn recall(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &mut Periods,
    outlived: BTreeMap<PeriodKey, Timeframe>,
) -> Result<(), Error> {
    let watched = Arc::clone(&periods.watched_groups);
    for (key, timeframe) in outlived {
        let total = summed_with_groups(tx, entry, timeframe, SummedBy::All, &watched).await?;
        periods.states.insert(key, PeriodState::new(timeframe, total, Stored::default()));
    }
    Ok(())
}

/// Sums what billing periods hold anew.
pub(in crate::engine) async fn sum_anew(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &mut Periods,
    by: SummedBy,
) -> Result<(), Error> {
    let watched = Arc::clone(&periods.watched_groups);
    let priced = priced_groups(tx, entry).await?;
    for state in periods.states.values_mut() {
        let mut total = summed_with_groups(tx, entry, state.timeframe, by, &watched).await?;
        // Those of alerts that are not asked about stay as they are.
        let others = state.total.groups.known.iter().filter(|(meter, _)| !priced.contains(meter));
        for (meter, groups) in others.filter(|(meter, _)| !watched.has(**meter)) {
            total.groups.known.insert(*meter, groups.clone());
        }
        state.set(total);
    }
    Ok(())
}

/// Returns the meters whose groups prices of a subscription rate, as figures have them.
async fn priced_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<BTreeSet<MeterId>, Error> {
    let version = plans::plan_version_of(tx, entry).await?;
    let grouped = &version.priced_of(entry).grouped;
    let sources = entry.subscription.sources();
    let of = |source: &Source| grouped.iter().map(|of| source.meter(*of)).collect::<Vec<_>>();
    Ok(sources.iter().flat_map(of).collect())
}

/// Sums a stretch with the groups that alerts watch.
async fn summed_with_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    timeframe: Timeframe,
    by: SummedBy,
    watched: &Watches,
) -> Result<Total, Error> {
    let mut total = summed(tx, entry, timeframe, by).await?;
    let groups = metering::summed_groups(tx, entry, timeframe, watched).await?;
    total.groups.known.extend(groups);
    Ok(total)
}

/// Sums a stretch from its buckets, and what is not measured yet from its events.
async fn summed(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    timeframe: Timeframe,
    by: SummedBy,
) -> Result<Total, Error> {
    let version = plans::plan_version_of(tx, entry).await?;
    let meters = &version.priced_of(entry).meters;
    let meters = rows::metrics::meters(tx).await?.with_divided(meters);
    let of = &entry.subscription;
    match by {
        SummedBy::All => sources::total_between(tx, of, &meters, timeframe).await,
        SummedBy::Revision(measured) => {
            sources::total_measured(tx, of, &meters, timeframe, measured).await
        }
    }
}

/// Returns the revision of the metrics that a customer's events are measured by.
async fn measured(tx: &mut Transaction<'_>, customer_id: CustomerId) -> Result<u64, Error> {
    Ok(tx.guard::<CustomerHead>(customer_id).await?.head(tx)?.measured)
}

/// Refuses to sum more billing periods anew than would be billed anew.
fn check_summed(billing: &[Timeframe]) -> Result<(), Error> {
    let most = limits::REWOUND;
    if billing.len() <= most {
        return Ok(());
    }
    let detail = format!("usage of more than {most} billing periods would be charged otherwise");
    Err(Error::constraint(detail))
}

/// Keeps what periods of prices come to in parts, up to an instant: those of the future hold nothing.
fn part_until(tx: &Transaction<'_>, entry: &mut SubscriptionEntry, at: Timestamp) {
    let latest = tx.now.saturating_add(Duration::from_secs(limits::FUTURE_SECONDS));
    if !entry.subscription.has_one_grid() {
        let start = billing_start_at(entry, at.min(latest));
        entry.parts_until = entry.parts_until.max(start);
    }
}

/// Returns the stretches that a billing period had while it was judged, and that are not kept any more.
fn outlived_stretches(
    entry: &SubscriptionEntry,
    last: Timeframe,
    now: Timestamp,
) -> BTreeMap<PeriodKey, Timeframe> {
    let at = last.end().saturating_sub(INSTANT);
    let billing: Vec<_> = entry.subscription.periods().containing(at).into_iter().collect();
    let mut stretches = entry.stretches(&billing, at);
    for key in entry.stretches(&billing, now).into_keys() {
        stretches.remove(&key);
    }
    stretches
}

/// Tells whether another end of a subscription leaves events out, or lets some in: they may lie a
/// little in the future.
async fn leaves_events_out(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    after: &SubscriptionEntry,
) -> Result<bool, Error> {
    let (old, new) = (before.subscription.end_date, after.subscription.end_date);
    let Some(earlier) = old.into_iter().chain(new).min().filter(|_| old != new) else {
        return Ok(false);
    };
    let moved = Timeframe::nothing_at(earlier).until(Timestamp::MAX);
    Ok(sources::has_events(tx, &before.subscription, moved).await?
        || sources::has_events(tx, &after.subscription, moved).await?)
}

/// Removes what was kept of stretches that are no more.
fn drop_states(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    before: &Periods,
    after: &Periods,
) -> Result<(), Error> {
    let id = before.subscription_id;
    for (key, state) in &before.states {
        if !after.states.contains_key(key) {
            let none = PeriodState::new(state.timeframe, Total::default(), state.stored.clone());
            totals::save_total(tx, guard, id, *key, &none, BTreeMap::new())?;
        }
    }
    Ok(())
}

/// Returns the billing periods of a subscription that hold usage which can still be asked for or
/// added to: those that events may fall in, or the last one of a life that is long past.
pub(in crate::engine) fn open_periods(
    tx: &Transaction<'_>,
    subscription: &Subscription,
) -> Vec<Timeframe> {
    let ahead = Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(INSTANT);
    let open =
        Timeframe::nothing_at(rows::account::oldest_open(tx)).until(tx.now.saturating_add(ahead));
    let periods = subscription.periods();
    let mut found: Vec<_> = periods.overlapping(open).collect();
    if let Some(end) = subscription.end_date.filter(|end| *end <= open.start()) {
        found.extend(periods.containing(end.saturating_sub(INSTANT)));
    }
    found
}

/// What a correction does to whichever billing periods it moves.
struct Correction<'a> {
    untotalled: &'a Untotalled,
    has_alerts: bool,
    cause: &'a Cause,
}

/// The billing periods that another use within a timeframe moves: those that overlap it, and where prices
/// have other periods, later ones that alerts are judged on.
pub(in crate::engine) fn moved_by(
    entry: &SubscriptionEntry,
    timeframe: Timeframe,
    now: Timestamp,
) -> Vec<Timeframe> {
    let periods = entry.subscription.periods();
    let overlapping: Vec<_> = periods.overlapping(timeframe).collect();
    if overlapping.is_empty() || entry.subscription.has_one_grid() {
        return overlapping;
    }
    let latest = entry.parts_until.map_or(now, |until| until.max(now));
    let judged = oldest_judged(&entry.subscription, now).max(timeframe.start());
    let later = Timeframe::nothing_at(judged).until(latest.saturating_add(INSTANT));
    in_order(overlapping.into_iter().chain(periods.overlapping(later)))
}

fn in_order(periods: impl IntoIterator<Item = Timeframe>) -> Vec<Timeframe> {
    periods.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}
