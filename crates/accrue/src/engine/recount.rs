//! Sums billing periods anew, and judges alerts and draws credits for what that moves.

use std::collections::BTreeMap;

use super::{
    standings::{INSTANT, judged_at_once, oldest_judged},
    transaction::Transaction,
};
use crate::{
    CustomerId, Decimal, Error, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Cause},
    credit::DrawDown,
    limits,
    rating::Running,
    schema,
    subscription::{Subscription, SubscriptionEntry},
    usage::Total,
};

/// What billing periods came to that have no running total, by subscription and start.
pub(super) type Untotalled = BTreeMap<(SubscriptionId, Timestamp), Total>;

/// Billing periods that are summed anew from their buckets: where a subscription begins over usage
/// that there is, or its end moves.
impl Transaction<'_> {
    /// Counts the usage that a new subscription finds in its open billing periods, and judges the
    /// alerts that watch it.
    pub(super) async fn count_earlier_usage(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<(), Error> {
        let mut draw_downs = Vec::new();
        for timeframe in self.open_periods(&entry.subscription)? {
            draw_downs.extend(self.recount(entry, timeframe).await?);
        }
        let (alerts, now) = (self.watching(entry).await?, self.now);
        let cause = Cause::Subscription { subscription_id: entry.subscription.id };
        for period in judged_at_once(&entry.subscription, now) {
            let standing = self.standing(entry, period.start(), &alerts, now).await?;
            if let Some(mut standing) = standing {
                self.judge_standing(entry, &mut standing, &alerts, &cause, now).await?;
            }
        }
        self.draw_alone(entry.subscription.customer_id, &draw_downs, &cause, now).await
    }

    /// Judges the alerts that watch a subscription on what a change of it brings: where its end has
    /// moved, what it used up to the new one is counted, and fees are prorated to it; an end that is
    /// now brings the charges of then.
    pub(super) async fn judge_change(
        &mut self,
        before: &SubscriptionEntry,
        after: &SubscriptionEntry,
    ) -> Result<(), Error> {
        let (alerts, now) = (self.watching(before).await?, self.now);
        let periods = after.subscription.periods();
        let end = after.subscription.end_date.filter(|end| *end <= now);
        let last = end.and_then(|end| periods.containing(end.saturating_sub(INSTANT)));
        let judged: Vec<_> =
            judged_at_once(&after.subscription, now).into_iter().chain(last).collect();
        let mut earlier = Vec::with_capacity(judged.len());
        for period in &judged {
            earlier.push(self.values(before, period.start(), &alerts, now).await?);
        }
        let draw_downs = self.recount_to_the_end(before, after).await?;
        let cause = Cause::Subscription { subscription_id: after.subscription.id };
        for (period, moved) in judged.iter().zip(&earlier) {
            let standing = self.standing(after, period.start(), &alerts, now).await?;
            if let Some(mut standing) = standing {
                self.judge_moved(after, &mut standing, moved, &cause, now).await?;
            }
        }
        self.draw_alone(after.subscription.customer_id, &draw_downs, &cause, now).await
    }

    /// Counts anew what a customer used, where a correction has moved what there is within a
    /// timeframe: totals, alerts on usage and cost, and what credits pay for, all as of an instant.
    /// The buckets are corrected already.
    ///
    /// Alerts are judged in the current billing period, and in the one before as long as its events
    /// are still taken. Of periods without a running total, what they came to before is given.
    pub(super) async fn count_corrected(
        &mut self,
        customer_id: CustomerId,
        timeframe: Timeframe,
        untotalled: &Untotalled,
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let mut draw_downs = Vec::new();
        let entry = self.get(&schema::customer(self.account, customer_id)).await?;
        let is_deleted = entry.is_some_and(|entry| entry.deleted_at.is_some());
        let has_alerts = !is_deleted && self.had_alerts_until(at).await?;
        let oldest_taken = at.saturating_sub(self.configuration().await?.grace_period);
        let measured = self.measured(customer_id).await?;
        for entry in self.every_subscription(customer_id).await? {
            let subscription = &entry.subscription;
            let periods: Vec<_> = subscription.periods().overlapping(timeframe).collect();
            let oldest_judged = oldest_judged(subscription, at);
            for period in periods {
                if let Some(before) = untotalled.get(&(subscription.id, period.start())) {
                    let after = self.recounted(&entry, period, measured).await?;
                    let used = ((&entry, before), (&entry, &after));
                    draw_downs.extend(self.draw_downs(period, used.0, used.1).await?);
                    continue;
                }
                let is_judged = oldest_judged <= period.start() && oldest_taken < period.end();
                let alerts = match is_judged && has_alerts {
                    true => self.watching_applied(&entry).await?,
                    false => Vec::new(),
                };
                let earlier = self.values(&entry, period.start(), &alerts, at).await?;
                draw_downs.extend(self.recount_by(&entry, period, measured).await?);
                let standing = self.standing(&entry, period.start(), &alerts, at).await?;
                if let Some(mut standing) = standing {
                    self.judge_moved(&entry, &mut standing, &earlier, cause, at).await?;
                }
            }
        }
        if is_deleted {
            return Ok(());
        }
        self.draw_alone(customer_id, &draw_downs, cause, at).await
    }

    /// Sums the billing periods that overlap a timeframe and have no running total though they were
    /// used: those that a subscription was created over when they were long past.
    pub(super) async fn untotalled(
        &mut self,
        customer_id: CustomerId,
        timeframe: Timeframe,
    ) -> Result<Untotalled, Error> {
        let mut untotalled = Untotalled::new();
        let measured = self.measured(customer_id).await?;
        for entry in self.every_subscription(customer_id).await? {
            let subscription = &entry.subscription;
            let periods: Vec<_> = subscription.periods().overlapping(timeframe).collect();
            for period in periods {
                if self.total(&entry, period.start()).await? != Total::default() {
                    continue;
                }
                let total = self.recounted(&entry, period, measured).await?;
                if total != Total::default() {
                    untotalled.insert((subscription.id, period.start()), total);
                }
            }
        }
        Ok(untotalled)
    }

    /// Returns the values that alerts watch at an instant, in the billing period that holds an instant.
    pub(super) async fn values(
        &mut self,
        entry: &SubscriptionEntry,
        at: Timestamp,
        alerts: &[Alert],
        until: Timestamp,
    ) -> Result<Vec<(Alert, Option<Decimal>)>, Error> {
        let standing = self.standing(entry, at, alerts, until).await?;
        let value = |alert: &Alert| standing.as_ref()?.value(alert);
        Ok(alerts.iter().map(|alert| (alert.clone(), value(alert))).collect())
    }

    /// Events may lie a little in the future, so that a new end can leave some out, or let some in.
    /// Returns what that costs more or less.
    async fn recount_to_the_end(
        &mut self,
        before: &SubscriptionEntry,
        after: &SubscriptionEntry,
    ) -> Result<Vec<DrawDown>, Error> {
        let mut draw_downs = Vec::new();
        let (old, new) = (before.subscription.end_date, after.subscription.end_date);
        let Some(earlier) = old.into_iter().chain(new).min().filter(|_| old != new) else {
            return Ok(draw_downs);
        };
        let customer_id = before.subscription.customer_id;
        let moved = Timeframe::nothing_at(earlier).until(Timestamp::MAX);
        if !self.has_events(customer_id, moved).await? {
            return Ok(draw_downs);
        }
        let open = self.open_periods(&after.subscription)?;
        for old in self.open_periods(&before.subscription)? {
            if !open.iter().any(|period| period.start() == old.start()) {
                let total = self.total(after, old.start()).await?;
                self.delete_total(before.subscription.id, old.start(), &total);
                let nothing = Total::default();
                draw_downs.extend(self.draw_downs(old, (before, &total), (after, &nothing)).await?);
            }
        }
        for timeframe in open {
            draw_downs.extend(self.recount(after, timeframe).await?);
        }
        Ok(draw_downs)
    }

    /// Sums a billing period anew from its buckets, and what is not measured yet from its events.
    /// Returns what it costs more or less.
    pub(super) async fn recount(
        &mut self,
        entry: &SubscriptionEntry,
        timeframe: Timeframe,
    ) -> Result<Vec<DrawDown>, Error> {
        let splits = self.plan_version_of(entry).await?.splits;
        let meters = self.meters().await?.with_splits(&splits);
        let customer_id = entry.subscription.customer_id;
        let total = self.total_between(customer_id, &meters, timeframe).await?;
        self.retotal(entry, timeframe, &total).await
    }

    /// Sums a billing period anew from its buckets alone, by the metrics up to a revision, by all of
    /// which the customer's events are measured. Returns what it costs more or less.
    pub(super) async fn recount_by(
        &mut self,
        entry: &SubscriptionEntry,
        timeframe: Timeframe,
        measured: u64,
    ) -> Result<Vec<DrawDown>, Error> {
        let total = self.recounted(entry, timeframe, measured).await?;
        self.retotal(entry, timeframe, &total).await
    }

    /// Writes another running total of a billing period. Returns what it costs more or less.
    async fn retotal(
        &mut self,
        entry: &SubscriptionEntry,
        timeframe: Timeframe,
        total: &Total,
    ) -> Result<Vec<DrawDown>, Error> {
        let before = self.total(entry, timeframe.start()).await?;
        if before == *total {
            return Ok(Vec::new());
        }
        let (id, start) = (entry.subscription.id, timeframe.start());
        self.delete_total(id, start, &before);
        self.put_total(id, start, total)?;
        self.draw_downs(timeframe, (entry, &before), (entry, total)).await
    }

    /// Sums a billing period from its buckets, by the metrics up to a revision.
    async fn recounted(
        &mut self,
        entry: &SubscriptionEntry,
        timeframe: Timeframe,
        measured: u64,
    ) -> Result<Total, Error> {
        let splits = self.plan_version_of(entry).await?.splits;
        let meters = self.meters().await?.with_splits(&splits).since(0..=measured);
        self.total_measured(entry.subscription.customer_id, &meters, timeframe).await
    }

    /// Returns the revision of the metrics that a customer's events are measured by.
    async fn measured(&mut self, customer_id: CustomerId) -> Result<u64, Error> {
        let slot = schema::customer_head(self.account, customer_id);
        Ok(self.get(&slot).await?.unwrap_or_default().measured)
    }

    /// Returns what a billing period of a subscription costs more or less than before, of what
    /// credits pay for.
    pub(super) async fn draw_downs(
        &mut self,
        period: Timeframe,
        (before, used_before): (&SubscriptionEntry, &Total),
        (after, used_after): (&SubscriptionEntry, &Total),
    ) -> Result<Vec<DrawDown>, Error> {
        let mut draws_in = self.draws_in(before).await?;
        draws_in.extend(self.draws_in(after).await?);
        draws_in.sort();
        draws_in.dedup();
        if draws_in.is_empty() {
            return Ok(Vec::new());
        }
        let earlier = Running::new(self.card(before).await?, period, used_before, self.now);
        let later = Running::new(self.card(after).await?, period, used_after, self.now);
        let draw_downs = draws_in.into_iter().map(|currency| DrawDown {
            subscription_id: after.subscription.id,
            period_start: period.start(),
            amount: later.used_in(&currency) - earlier.used_in(&currency),
            currency,
        });
        Ok(draw_downs.collect())
    }

    /// Returns the billing periods of a subscription that hold usage which can still be asked for or
    /// added to: those that events may fall in, or the last one of a life that is long past.
    pub(super) fn open_periods(
        &self,
        subscription: &Subscription,
    ) -> Result<Vec<Timeframe>, Error> {
        let ahead = std::time::Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(INSTANT);
        let open = Timeframe::new(self.oldest_open(), self.now.saturating_add(ahead));
        let open = open.map_err(|error| Error::corrupt(error.to_string()))?;
        let periods = subscription.periods();
        let mut found: Vec<_> = periods.overlapping(open).collect();
        if let Some(end) = subscription.end_date.filter(|end| *end <= open.start()) {
            found.extend(periods.containing(end.saturating_sub(INSTANT)));
        }
        Ok(found)
    }
}
