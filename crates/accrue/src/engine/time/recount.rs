//! Sums billing periods anew: where a subscription begins over usage that there is, its end moves, or a
//! correction has moved what there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    CustomerId, Error, SubscriptionId, Timeframe, Timestamp,
    alert::Cause,
    credit::DrawDown,
    engine::{kernel::Transaction, rows::periods::Wanted},
    limits,
    period::{Change, Periods, Stretch, billing_start_at, judged_at_once, oldest_judged},
    schema,
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

impl Transaction<'_> {
    /// Counts the usage that a new subscription finds in its open billing periods, and judges the
    /// alerts that watch it.
    pub(in crate::engine) async fn count_earlier_usage(
        &mut self,
        entry: &mut SubscriptionEntry,
    ) -> Result<(), Error> {
        let (now, customer_id) = (self.now, entry.subscription.customer_id);
        let judged = judged_at_once(&entry.subscription, now);
        let open = self.open_periods(&entry.subscription);
        let billing = in_order(open.into_iter().chain(judged.iter().copied()));
        self.part_until(entry, Timestamp::MAX);
        let draws_in = self.draws_in(entry).await?;
        let nothing = Wanted { draws_in: &draws_in, alerts: &[] };
        let nothing = self.periods(entry, &billing, nothing, now).await?;
        let alerts = self.watching(entry).await?;
        let wanted = Wanted { draws_in: &draws_in, alerts: &alerts };
        let mut periods = self.periods(entry, &billing, wanted, now).await?;
        self.sum_anew(entry, &mut periods, SummedBy::All).await?;
        self.rate_periods(entry, &mut periods, now).await?;
        judge_only(&mut periods, |period| judged.contains(&period));
        let draw_downs = periods.draw_downs_since(&nothing);
        let cause = Cause::Subscription { subscription_id: entry.subscription.id };
        let change = Change::Watched { cause: &cause };
        self.advance(customer_id, &mut periods, change, now).await?;
        self.draw_alone(customer_id, &draw_downs, &cause, now).await
    }

    /// Judges the alerts that watch a subscription on what a change of it brings: where its end has
    /// moved, what it used up to the new one is counted, and fees are prorated to it; an end that is
    /// now brings the charges of then.
    pub(in crate::engine) async fn judge_change(
        &mut self,
        before: &SubscriptionEntry,
        after: &mut SubscriptionEntry,
    ) -> Result<(), Error> {
        let (alerts, now) = (self.watching(before).await?, self.now);
        let (old, new) = (before.subscription.periods(), after.subscription.periods());
        let end = after.subscription.end_date.filter(|end| *end <= now);
        let last = end.and_then(|end| new.containing(end.saturating_sub(INSTANT)));
        let judged = in_order(judged_at_once(&after.subscription, now).into_iter().chain(last));
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        let mut draws_in = Vec::new();
        let is_summed = self.leaves_events_out(before, after).await?;
        if is_summed {
            earlier = self.open_periods(&before.subscription);
            later = self.open_periods(&after.subscription);
            draws_in = self.draws_in(after).await?;
            self.part_until(after, Timestamp::MAX);
        }
        earlier.extend(judged.iter().filter_map(|period| old.containing(period.start())));
        later.extend(judged.iter().copied());
        let wanted = Wanted { alerts: &alerts, draws_in: &draws_in };
        let mut periods = self.periods(before, &in_order(earlier), wanted, now).await?;
        let mut next = self.periods(after, &in_order(later), wanted, now).await?;
        if is_summed {
            self.sum_anew(after, &mut next, SummedBy::All).await?;
            self.rate_periods(after, &mut next, now).await?;
            self.drop_states(&periods, &next)?;
        }
        judge_only(&mut next, |period| judged.contains(&period));
        let Subscription { id: subscription_id, customer_id, .. } = after.subscription;
        let cause = Cause::Subscription { subscription_id };
        let next = Change::Next { next: Box::new(next), cause: &cause };
        let draw_downs = self.advance(customer_id, &mut periods, next, now).await?;
        self.draw_alone(customer_id, &draw_downs, &cause, now).await
    }

    /// Counts anew what a customer used, where a correction has moved what there is within a
    /// timeframe: totals, alerts on usage and cost, and what credits pay for, all as of an instant.
    /// The buckets are corrected already.
    ///
    /// Alerts are judged in the current billing period, and in the one before as long as its events
    /// are still taken. Of stretches without a running total, what they came to before is given.
    pub(in crate::engine) async fn count_corrected(
        &mut self,
        customer_id: CustomerId,
        timeframe: Timeframe,
        untotalled: &Untotalled,
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let customer = self.get(&schema::customer(self.account, customer_id)).await?;
        let is_deleted = customer.is_some_and(|entry| entry.deleted_at.is_some());
        let has_alerts = !is_deleted && self.had_alerts_until(at).await?;
        let correction = Correction { untotalled, has_alerts, cause };
        let mut draw_downs = Vec::new();
        for entry in self.every_subscription(customer_id).await? {
            draw_downs.extend(self.count_periods(&entry, timeframe, at, &correction).await?);
        }
        if is_deleted {
            return Ok(());
        }
        self.draw_alone(customer_id, &draw_downs, cause, at).await
    }
}

/// The work of the above.
impl Transaction<'_> {
    /// Counts billing periods of a subscription anew that a correction has moved. Returns what that costs
    /// more or less.
    async fn count_periods(
        &mut self,
        before: &SubscriptionEntry,
        timeframe: Timeframe,
        at: Timestamp,
        correction: &Correction<'_>,
    ) -> Result<Vec<DrawDown>, Error> {
        let mut entry = before.clone();
        self.part_until(&mut entry, timeframe.end().saturating_sub(INSTANT));
        let billing = moved_by(&entry, timeframe, at);
        if billing.is_empty() {
            return Ok(Vec::new());
        }
        let customer_id = entry.subscription.customer_id;
        let (oldest_judged, oldest_taken) = (
            oldest_judged(&entry.subscription, at),
            at.saturating_sub(self.configuration().await?.grace_period),
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
            true => self.watching_applied(&entry).await?,
            false => Vec::new(),
        };
        let draws_in = self.draws_in(&entry).await?;
        let wanted = Wanted { alerts: &alerts, draws_in: &draws_in };
        let mut periods = self.periods(before, &billing, wanted, at).await?;
        let mut next = self.periods(&entry, &billing, wanted, at).await?;
        let by = SummedBy::Revision(self.measured(customer_id).await?);
        self.sum_anew(&entry, &mut next, by).await?;
        self.rate_periods(&entry, &mut next, at).await?;
        for ((_, key), total) in correction.untotalled.iter().filter(|((of, _), _)| *of == id) {
            if let Some(state) = periods.states.get_mut(key) {
                state.total = total.clone();
            }
            if let Some(state) = next.states.get_mut(key) {
                state.has_moved = false;
            }
        }
        self.rate_periods(before, &mut periods, at).await?;
        judge_only(&mut next, is_judged);
        let next = Change::Next { next: Box::new(next), cause: correction.cause };
        let draw_downs = self.advance(customer_id, &mut periods, next, at).await?;
        if entry != *before {
            self.save_subscription(&entry)?;
        }
        Ok(draw_downs)
    }

    /// Sums the stretches that overlap a timeframe and have no running total though they were used: those
    /// of billing periods that a subscription was created over when they were long past.
    pub(in crate::engine) async fn untotalled(
        &mut self,
        customer_id: CustomerId,
        timeframe: Timeframe,
        at: Timestamp,
    ) -> Result<Untotalled, Error> {
        let mut untotalled = Untotalled::new();
        let by = SummedBy::Revision(self.measured(customer_id).await?);
        for entry in self.every_subscription(customer_id).await? {
            let billing: Vec<_> = entry.subscription.periods().overlapping(timeframe).collect();
            for (key, timeframe) in entry.stretches(&billing, at) {
                if self.total(&entry, key).await? != Total::default() {
                    continue;
                }
                let total = self.summed(&entry, timeframe, by).await?;
                if total != Total::default() {
                    untotalled.insert((entry.subscription.id, key), total);
                }
            }
        }
        Ok(untotalled)
    }

    /// Sums what billing periods hold anew.
    pub(in crate::engine) async fn sum_anew(
        &mut self,
        entry: &SubscriptionEntry,
        periods: &mut Periods,
        by: SummedBy,
    ) -> Result<(), Error> {
        for state in periods.states.values_mut() {
            state.set(self.summed(entry, state.timeframe, by).await?);
        }
        Ok(())
    }

    /// Sums a stretch from its buckets, and what is not measured yet from its events.
    async fn summed(
        &mut self,
        entry: &SubscriptionEntry,
        timeframe: Timeframe,
        by: SummedBy,
    ) -> Result<Total, Error> {
        let meters = self.plan_version_of(entry).await?.meters;
        let meters = self.meters().await?.with_divided(&meters);
        let customer_id = entry.subscription.customer_id;
        match by {
            SummedBy::All => self.total_between(customer_id, &meters, timeframe).await,
            SummedBy::Revision(measured) => {
                let meters = meters.since(0..=measured);
                self.total_measured(customer_id, &meters, timeframe).await
            }
        }
    }

    /// Returns the revision of the metrics that a customer's events are measured by.
    async fn measured(&mut self, customer_id: CustomerId) -> Result<u64, Error> {
        let slot = schema::customer_head(self.account, customer_id);
        Ok(self.get(&slot).await?.unwrap_or_default().measured)
    }

    /// Keeps what periods of prices come to in parts, up to an instant: those of the future hold nothing.
    fn part_until(&self, entry: &mut SubscriptionEntry, at: Timestamp) {
        let latest = self.now.saturating_add(Duration::from_secs(limits::FUTURE_SECONDS));
        if !entry.subscription.has_one_grid() {
            let start = billing_start_at(entry, at.min(latest));
            entry.parts_until = entry.parts_until.max(start);
        }
    }

    /// Tells whether another end of a subscription leaves events out, or lets some in: they may lie a
    /// little in the future.
    async fn leaves_events_out(
        &mut self,
        before: &SubscriptionEntry,
        after: &SubscriptionEntry,
    ) -> Result<bool, Error> {
        let (old, new) = (before.subscription.end_date, after.subscription.end_date);
        let Some(earlier) = old.into_iter().chain(new).min().filter(|_| old != new) else {
            return Ok(false);
        };
        let moved = Timeframe::nothing_at(earlier).until(Timestamp::MAX);
        self.has_events(before.subscription.customer_id, moved).await
    }

    /// Removes what was kept of stretches that are no more.
    fn drop_states(&mut self, before: &Periods, after: &Periods) -> Result<(), Error> {
        for (key, state) in &before.states {
            if !after.states.contains_key(key) {
                self.save_total(before.subscription_id, *key, state.stored, &Total::default())?;
            }
        }
        Ok(())
    }

    /// Returns the billing periods of a subscription that hold usage which can still be asked for or
    /// added to: those that events may fall in, or the last one of a life that is long past.
    pub(in crate::engine) fn open_periods(&self, subscription: &Subscription) -> Vec<Timeframe> {
        let ahead = Duration::from_secs(limits::FUTURE_SECONDS).saturating_add(INSTANT);
        let open = Timeframe::nothing_at(self.oldest_open()).until(self.now.saturating_add(ahead));
        let periods = subscription.periods();
        let mut found: Vec<_> = periods.overlapping(open).collect();
        if let Some(end) = subscription.end_date.filter(|end| *end <= open.start()) {
            found.extend(periods.containing(end.saturating_sub(INSTANT)));
        }
        found
    }
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

fn judge_only(periods: &mut Periods, is_judged: impl Fn(Timeframe) -> bool) {
    for billing in &mut periods.billing {
        billing.is_judged = is_judged(billing.timeframe);
    }
}
