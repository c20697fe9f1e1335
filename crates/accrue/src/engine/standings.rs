//! Where billing periods stand, and alerts that are judged on them.

use std::{sync::Arc, time::Duration};

use super::transaction::Transaction;
use crate::{
    Decimal, Error, Timeframe, Timestamp,
    alert::{Alert, Cause, Standing},
    limits,
    rating::Running,
    schema,
    subscription::{Subscription, SubscriptionEntry},
    usage::Total,
};

/// What lies between one instant and the next.
pub(super) const INSTANT: Duration = Duration::from_micros(1);

/// The billing periods that are judged where no event moves the value: the current one, and one that
/// begins so soon that its events are taken already.
pub(super) fn judged_at_once(subscription: &Subscription, at: Timestamp) -> Vec<Timeframe> {
    let ahead = Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(INSTANT);
    let soon = Timeframe::new(at, at.saturating_add(ahead));
    soon.map_or_else(|_| Vec::new(), |soon| subscription.periods().overlapping(soon).collect())
}

/// Returns the start of the billing period before the current one, or before the last one of what has
/// ended: events of older periods fire nothing.
pub(super) fn oldest_judged(subscription: &Subscription, now: Timestamp) -> Timestamp {
    let periods = subscription.periods();
    let last = subscription.end_date.map_or(now, |end| end.saturating_sub(INSTANT).min(now));
    let current = periods.containing(last);
    let before = current.and_then(|of| periods.containing(of.start().saturating_sub(INSTANT)));
    before.or(current).map_or(Timestamp::MIN, Timeframe::start)
}

impl Transaction<'_> {
    /// Judges an alert of a subscription on the usage that there is at an instant.
    pub(super) async fn judge_at_once(
        &mut self,
        entry: &SubscriptionEntry,
        alert: &Alert,
        at: Timestamp,
    ) -> Result<(), Error> {
        if !self.had_alerts(at).await? {
            return Ok(());
        }
        let alerts = std::slice::from_ref(alert);
        let cause = Cause::Configuration { alert_id: alert.id };
        let mut periods = judged_at_once(&entry.subscription, at);
        periods.extend(self.used_meanwhile(entry, &periods, at).await?);
        for period in periods {
            let standing = self.standing(entry, period.start(), alerts, at).await?;
            if let Some(mut standing) = standing {
                self.judge_standing(entry, &mut standing, alerts, &cause, at).await?;
            }
        }
        Ok(())
    }

    /// Returns the billing period after those that are judged, where it was used already: the process
    /// may have a clock that is behind those of others.
    async fn used_meanwhile(
        &mut self,
        entry: &SubscriptionEntry,
        judged: &[Timeframe],
        at: Timestamp,
    ) -> Result<Option<Timeframe>, Error> {
        let Subscription { start_date, .. } = entry.subscription;
        let from = judged.last().map_or_else(|| at.max(start_date), |last| last.end());
        let Some(next) = entry.subscription.periods().containing(from) else { return Ok(None) };
        let is_used = self.total(entry, next.start()).await? != Total::default();
        Ok(is_used.then_some(next))
    }

    /// Judges alerts on what a billing period holds already: the value does not move.
    pub(super) async fn judge_standing(
        &mut self,
        entry: &SubscriptionEntry,
        standing: &mut Standing,
        alerts: &[Alert],
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let subscription = &entry.subscription;
        for alert in alerts {
            if let Some(mut exceeded) = standing.judge(subscription.id, alert, None, cause) {
                exceeded.value_before = Some(exceeded.value_after.clone());
                self.tell(subscription.customer_id, at, exceeded.into()).await?;
            }
        }
        self.save_standing(entry, standing)
    }

    /// Judges alerts on a billing period whose values were others before.
    pub(super) async fn judge_moved(
        &mut self,
        entry: &SubscriptionEntry,
        standing: &mut Standing,
        moved: &[(Alert, Option<Decimal>)],
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let Subscription { id, customer_id, .. } = entry.subscription;
        for (alert, before) in moved {
            if let Some(exceeded) = standing.judge(id, alert, before.as_ref(), cause) {
                self.tell(customer_id, at, exceeded.into()).await?;
            }
        }
        self.save_standing(entry, standing)
    }

    /// Judges alerts on what time brings at an instant: the end of a billing period, and the begin of
    /// one.
    pub(super) async fn judge_turn(
        &mut self,
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
        let periods = entry.subscription.periods();
        let ending = periods.containing(right_before).filter(|period| !period.contains(at));
        let card = self.card(entry).await?;
        for period in ending.into_iter().chain(periods.containing(at)) {
            let standing = self.standing(entry, period.start(), &alerts, at).await?;
            let Some(mut standing) = standing else { continue };
            let earlier = Running::new(Arc::clone(&card), period, &standing.total, right_before);
            let moved = alerts.iter().map(|alert| (alert.clone(), alert.condition.cost(&earlier)));
            let moved: Vec<_> = moved.collect();
            self.judge_moved(entry, &mut standing, &moved, &cause, at).await?;
        }
        Ok(())
    }

    /// Reads where the billing period that holds an instant stands, and what of some alerts has fired
    /// in it; none outside of the subscription's life. What it has come to is that until another
    /// instant.
    pub(super) async fn standing(
        &mut self,
        entry: &SubscriptionEntry,
        at: Timestamp,
        alerts: &[Alert],
        until: Timestamp,
    ) -> Result<Option<Standing>, Error> {
        let standing = self.standing_unrated(entry, at, alerts).await?;
        let Some(mut standing) = standing else { return Ok(None) };
        if alerts.iter().any(|alert| alert.condition.is_on_cost()) {
            standing.accrue(&self.card(entry).await?, alerts, until);
        }
        Ok(Some(standing))
    }

    /// The same, without what it has come to.
    pub(super) async fn standing_unrated(
        &mut self,
        entry: &SubscriptionEntry,
        at: Timestamp,
        alerts: &[Alert],
    ) -> Result<Option<Standing>, Error> {
        let Some(timeframe) = entry.subscription.periods().containing(at) else {
            return Ok(None);
        };
        let id = entry.subscription.id;
        let state = |alert| schema::alert_state(self.account, id, timeframe.start(), alert);
        let states: Vec<_> = alerts.iter().map(|alert| (alert.id, state(alert.id))).collect();
        self.fetch(states.iter().map(|(_, state)| state.key()).collect::<Vec<_>>()).await?;
        let total = self.total(entry, timeframe.start()).await?;
        let fired = states
            .iter()
            .map(|(alert, state)| Ok((*alert, self.row(state)?.unwrap_or_default().fired)));
        let fired = fired.collect::<Result<_, Error>>()?;
        Ok(Some(Standing::new(timeframe, total, fired)))
    }

    /// Writes what of a billing period has moved.
    pub(super) fn save_standing(
        &mut self,
        entry: &SubscriptionEntry,
        standing: &Standing,
    ) -> Result<(), Error> {
        let (id, start) = (entry.subscription.id, standing.timeframe.start());
        if standing.total_moved {
            self.put_total(id, start, &standing.total)?;
        }
        for alert in &standing.fired_moved {
            let fired = standing.fired.get(alert).cloned().unwrap_or_default();
            let slot = schema::alert_state(self.account, id, start, *alert);
            self.put(&slot, &schema::AlertState { fired })?;
        }
        Ok(())
    }
}
