//! Judges alerts where no event moves the value: when they are made, and when a period ends or begins.

use crate::{
    Error, Timeframe, Timestamp,
    alert::{Alert, Cause},
    engine::{
        kernel::Transaction,
        rows::{
            self,
            periods::{self, Wanted},
            totals,
        },
        time::metering,
    },
    period::{Change, Periods, judged_at_once},
    subscription::{Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::Total,
};

/// Judges an alert of a subscription that is made or changed, on the usage that there is at an instant. Tells whether it
/// is disabled for the subscription by that.
pub(in crate::engine) async fn judge_at_once(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    alert: &Alert,
    at: Timestamp,
) -> Result<bool, Error> {
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
    let mut billing = judged_at_once(&entry.subscription, at);
    billing.extend(used_meanwhile(tx, entry, &billing, at).await?);
    let wanted = Wanted { alerts: std::slice::from_ref(alert), draws_in: &[], ..Wanted::default() };
    let mut periods = periods::periods(tx, entry, &billing, wanted, at).await?;
    count_groups(tx, entry, &mut periods).await?;
    let change = Change::Watched { cause };
    let customer_id = entry.subscription.customer_id;
    let told = periods::advance(tx, customer_id, &mut periods, change, at).await?;
    told.note(entry);
    Ok(!told.disabled.is_empty())
}

/// Counts the groups that an alert watches from now on, of the usage that there is: nobody has kept them before.
async fn count_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &mut Periods,
) -> Result<(), Error> {
    if periods.watched_groups.is_empty() {
        return Ok(());
    }
    let card = rows::prices::card(tx, entry).await?;
    metering::keep_watched(tx, &periods.alerts, &card).await?;
    let meters = rows::metrics::meters(tx).await?;
    let meters = meters.only(&card.metrics(), &periods.watched_groups.parts());
    let ids = periods.watched_groups.ids();
    for state in periods.states.values_mut() {
        let of = &entry.subscription;
        let total = rows::sources::total_between(tx, of, &meters, state.timeframe).await?;
        state.set_groups(ids.clone(), &total.groups);
    }
    Ok(())
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
