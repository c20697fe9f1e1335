//! Judges alerts where no event moves the value: when they are made, and when a period ends or begins.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Error, Timeframe, Timestamp,
    alert::{Alert, Cause},
    engine::{
        kernel::Transaction,
        rows::{
            self, effects, groups,
            periods::{self, Wanted},
            totals,
        },
        time::metering,
    },
    limits,
    meter::Source,
    period::{Change, Effects, Periods, judged_at_once, oldest_judged},
    subscription::{Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::Total,
};

/// Judges an alert of a subscription that is made or changed, on the usage that there is at an instant, and on what has
/// fallen due already, where whoever does so began before that. Tells whether it is disabled for the subscription by that.
pub(in crate::engine) async fn judge_at_once(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    alert: &Alert,
    at: Timestamp,
) -> Result<bool, Error> {
    let at = entry.rated_until.map_or(at, |rated| rated.max(at));
    judge_watched(tx, entry, alert, &Cause::Configuration { alert_id: alert.id }, at).await
}

/// Judges an alert that watches a subscription from an instant on, on the usage that there is then. Tells whether it is
/// disabled for the subscription by that.
pub(in crate::engine) async fn judge_watched(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    alert: &Alert,
    cause: &Cause,
    at: Timestamp,
) -> Result<bool, Error> {
    if !rows::account::had_alerts(tx, at).await? {
        return Ok(false);
    }
    let mut judged = judged_at_once(&entry.subscription, at);
    judged.extend(used_meanwhile(tx, entry, &judged, at).await?);
    let mut billing = judged.clone();
    if alert.condition.is_on_groups() {
        billing.splice(..0, judged_by_events(tx, &entry.subscription, &judged, at));
    }
    let wanted = Wanted { alerts: std::slice::from_ref(alert), draws_in: &[], ..Wanted::default() };
    let mut periods = periods::periods(tx, entry, &billing, wanted, at).await?;
    let mut uncounted = Effects::default();
    count_groups(tx, entry, &mut periods, &mut uncounted).await?;
    periods.judge_only(|period| judged.contains(&period));
    let customer_id = entry.subscription.customer_id;
    let uncounted = effects::tell(tx, customer_id, uncounted, at).await?;
    let change = Change::Watched { cause };
    let told = periods::advance(tx, customer_id, &mut periods, change, at).await?;
    let all = [uncounted, told];
    all.iter().for_each(|told| told.note(entry));
    Ok(all.iter().any(|told| !told.disabled.is_empty()))
}

/// Counts the groups that an alert watches from now on, of the usage that there is: nobody has kept them before. Where
/// that would take too much it is disabled instead.
async fn count_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &mut Periods,
    effects: &mut Effects,
) -> Result<(), Error> {
    if !periods.watched_groups.need_meters() {
        return Ok(());
    }
    let card = rows::prices::card(tx, entry).await?;
    metering::keep_watched(tx, &periods.alerts, &card).await?;
    let watched = Arc::clone(&periods.watched_groups);
    let (ids, parts) = (watched.ids(), watched.parts());
    let mut counted = Vec::with_capacity(periods.states.len());
    for (key, state) in &periods.states {
        let mut most = 0;
        for customer in entry.subscription.sources().iter().flat_map(Source::customers) {
            let own = groups::most_in_four_weeks(tx, *customer, &parts, state.timeframe).await?;
            most = most.max(own);
        }
        if most <= limits::GROUPS_COUNTED_AT_ONCE {
            let groups = metering::summed_groups(tx, entry, state.timeframe, &watched).await?;
            let count = groups.values().map(BTreeMap::len).max().unwrap_or_default();
            most = u64::try_from(count).unwrap_or(u64::MAX);
            counted.push((*key, groups));
        }
        if most > limits::GROUPS_COUNTED_AT_ONCE {
            watched.alerts().for_each(|alert| periods.disable(alert, most, effects));
            return Ok(());
        }
    }
    for (key, groups) in counted {
        if let Some(state) = periods.states.get_mut(&key) {
            state.set_groups(ids.clone(), &groups);
        }
    }
    Ok(())
}

/// Returns the billing periods before those that are judged at once in which events may still fire something: what they
/// find there has to be counted too.
fn judged_by_events(
    tx: &Transaction<'_>,
    subscription: &Subscription,
    judged: &[Timeframe],
    at: Timestamp,
) -> Vec<Timeframe> {
    let oldest = oldest_judged(subscription, at);
    let since = rows::account::oldest_open(tx).max(oldest);
    let until = judged.first().map_or(at, |first| first.start());
    let grid = subscription.periods();
    let between = Timeframe::new(since, until).into_iter();
    let periods = between.flat_map(|of| grid.overlapping(of));
    periods.filter(|period| oldest <= period.start()).collect()
}

/// Returns the billing period after those that are judged, where it was used already: the process
/// may have a clock that is behind those of others.
async fn used_meanwhile(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    judged: &[Timeframe],
    at: Timestamp,
) -> Result<Option<Timeframe>, Error> {
    let Subscription { start_date, .. } = entry.subscription;
    let from = judged.last().map_or_else(|| at.max(start_date), |last| last.end());
    let Some(next) = entry.subscription.periods().containing(from) else { return Ok(None) };
    let total = totals::billing_total(tx, entry, next).await?;
    Ok((total != Total::default()).then_some(next))
}

/// Judges alerts on what time brings at an instant: the end of a billing period, and the begin of
/// one.
pub(in crate::engine) async fn judge_turn(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    alerts: &[Alert],
    at: Timestamp,
) -> Result<(), Error> {
    let on_cost = alerts.iter().filter(|alert| alert.condition.is_on_cost());
    let alerts: Vec<_> = on_cost.cloned().collect();
    if alerts.is_empty() {
        return Ok(());
    }
    let (cause, right_before) = (Cause::Period { timestamp: at }, at.saturating_sub(INSTANT));
    let grid = entry.subscription.periods();
    let ending = grid.containing(right_before).filter(|period| !period.contains(at));
    let billing: Vec<_> = ending.into_iter().chain(grid.containing(at)).collect();
    let wanted = Wanted { alerts: &alerts, draws_in: &[], ..Wanted::default() };
    let mut periods = periods::periods(tx, entry, &billing, wanted, right_before).await?;
    let mut next = periods.clone();
    periods::rate_periods(tx, entry, &mut next, at).await?;
    let next = Change::Next { next: Box::new(next), cause: &cause };
    periods::advance(tx, entry.subscription.customer_id, &mut periods, next, at).await.map(|_| ())
}
