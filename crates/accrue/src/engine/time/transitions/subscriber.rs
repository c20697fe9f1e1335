//! A subscription while its transitions are applied.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use super::transition::{Transition, TransitionKind};
use crate::{
    AlertId, Error, Timestamp,
    alert::Alert,
    engine::{
        kernel::Transaction,
        rows::{
            self, active, outbox, periods,
            shared_alerts::{self, Sharer},
        },
        time::{allocations, invoicing, judge, license_pools, plan_changes, trials},
    },
    limits,
    schema::AlertRevision,
    subscription::{InvoicingStep, Notified, Subscription, SubscriptionEntry},
    webhook::Body,
};

/// A subscription while its transitions are applied.
pub(super) struct Subscriber {
    pub(super) entry: SubscriptionEntry,
    /// Whether something was applied.
    pub(super) has_moved: bool,
    /// For how long events are taken behind the end of a period.
    grace: Duration,
    /// The next changes to alerts that it shares which it has not applied, in order.
    changes: VecDeque<Change>,
    /// The alerts that it shares, as they were at the last change that it has applied. Known
    /// once a turn was judged on them.
    shared: Option<BTreeMap<AlertId, Alert>>,
}

/// A change to an alert that it shares: whose it is, its number there, its own instant, and what it left.
struct Change {
    sharer: Sharer,
    number: u64,
    at: Timestamp,
    /// When it is applied: no earlier than those before it. Two processes may tell the time
    /// differently; the number tells the order.
    applies_at: Timestamp,
    alert: Alert,
}

impl Subscriber {
    /// Reads the transitions of a subscription: at most so many changes to the alerts of each that shares some with it.
    pub(super) async fn new(
        tx: &mut Transaction<'_>,
        entry: SubscriptionEntry,
        most: usize,
    ) -> Result<Self, Error> {
        let changes = changes(tx, &entry, most).await?;
        let grace = rows::account::account_entry(tx).await?.configuration.grace_period;
        Ok(Self { entry, has_moved: false, grace, changes, shared: None })
    }

    /// Returns the first transition, no later than an instant. A change that was made is one,
    /// whatever the time is here.
    pub(super) fn next(&self, now: Timestamp, until: Timestamp) -> Option<Transition> {
        let notified = self.entry.next_notified().map(|(at, notified)| {
            let kind = if notified == Notified::Ended {
                TransitionKind::Ended
            } else {
                TransitionKind::Began
            };
            Transition { at, kind }
        });
        let trial = self.entry.next_trial_end();
        let trial = trial.map(|at| Transition { at, kind: TransitionKind::TrialEnded });
        let plan = self.entry.next_plan().map(|of| of.start_date);
        let plan = plan.map(|at| Transition { at, kind: TransitionKind::PlanChanged });
        let turn = self.entry.next_turn().map(|at| Transition { at, kind: TransitionKind::Turn });
        let gives = self.entry.next_given().map(|at| Transition { at, kind: TransitionKind::Gave });
        let refilled = self.entry.next_refilled();
        let refilled = refilled.map(|at| Transition { at, kind: TransitionKind::Refilled });
        let closing = self.entry.next_closing().map(|end| end.saturating_add(self.grace));
        let closing = closing.map(|at| Transition { at, kind: TransitionKind::Closed });
        let invoicing = self.entry.next_invoicing(self.grace).map(|(at, step)| {
            let kind = match step {
                InvoicingStep::Pass => TransitionKind::Passed,
                InvoicingStep::Issue(_) => TransitionKind::Issued,
            };
            Transition { at, kind }
        });
        let change = self
            .changes
            .front()
            .map(|of| Transition { at: of.applies_at, kind: TransitionKind::Changed });
        let by_time = [notified, trial, plan, turn, gives, refilled, closing, invoicing]
            .into_iter()
            .flatten();
        let by_time = by_time.filter(|transition| transition.at <= now);
        by_time.chain(change).filter(|transition| transition.at <= until).min()
    }

    /// Applies the first transition.
    pub(super) async fn apply_transition(
        &mut self,
        tx: &mut Transaction<'_>,
        transition: Transition,
    ) -> Result<(), Error> {
        let Transition { at, kind } = transition;
        self.has_moved = true;
        let Subscription { id: subscription_id, customer_id, .. } = self.entry.subscription;
        match kind {
            TransitionKind::Began => {
                self.entry.notified = Notified::Started;
                outbox::tell(tx, customer_id, at, Body::SubscriptionStarted { subscription_id })
                    .await
            }
            TransitionKind::TrialEnded => trials::tell_end(tx, &mut self.entry, at).await,
            TransitionKind::Ended => {
                self.entry.notified = Notified::Ended;
                outbox::tell(tx, customer_id, at, Body::SubscriptionEnded { subscription_id }).await
            }
            TransitionKind::PlanChanged => {
                let alerts = plan_changes::take_on(tx, &mut self.entry, at, at).await?;
                self.changes = changes(tx, &self.entry, limits::SCAN_ROWS).await?;
                self.shared = None;
                plan_changes::judge(tx, &mut self.entry, &alerts, at).await
            }
            TransitionKind::Turn => {
                let shared = self.shared(tx).await?;
                self.entry.rated_until = Some(at);
                if !rows::account::had_alerts_until(tx, at).await? {
                    return Ok(());
                }
                let alerts = active::watching_with(tx, &self.entry, shared).await?;
                judge::judge_turn(tx, &self.entry, &alerts, at).await
            }
            TransitionKind::Gave => allocations::give(tx, &mut self.entry, at, at).await,
            TransitionKind::Refilled => license_pools::tell(tx, &mut self.entry, at).await,
            TransitionKind::Closed => {
                if let Some(end) = self.entry.next_closing() {
                    self.entry.closed_until = Some(end);
                    periods::drop_parts(tx, &self.entry, end).await?;
                }
                Ok(())
            }
            TransitionKind::Passed | TransitionKind::Issued => {
                match self.entry.next_invoicing(self.grace) {
                    Some((_, step)) => invoicing::take(tx, &mut self.entry, step, at).await,
                    None => Ok(()),
                }
            }
            TransitionKind::Changed => self.change(tx).await,
            TransitionKind::Expired(_) | TransitionKind::ToppedUp | TransitionKind::Collected => {
                Err(Error::corrupt("it is no transition of a subscription"))
            }
        }
    }

    /// Applies the next change to an alert that it shares.
    async fn change(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(Change { sharer, number, at, alert, .. }) = self.changes.pop_front() else {
            return Ok(());
        };
        sharer.see(&mut self.entry, number);
        if let Some(shared) = &mut self.shared {
            shared.insert(alert.id, alert.clone());
        }
        if self.entry.muted.contains(&alert.id) {
            return Ok(());
        }
        judge::judge_at_once(tx, &mut self.entry, &alert, at).await.map(drop)
    }

    async fn shared(&mut self, tx: &mut Transaction<'_>) -> Result<Vec<Alert>, Error> {
        let alerts = match self.shared.take() {
            Some(alerts) => alerts,
            None => applied(tx, &self.entry).await?,
        };
        let alerts = self.shared.insert(alerts);
        let ids = shared_alerts::ids(tx, &self.entry).await?;
        Ok(ids.iter().filter_map(|id| alerts.get(id)).cloned().collect())
    }
}

/// Reads the next changes to the alerts that a subscription shares which it has not applied: at most so many of each that
/// it shares some with, all in the order in which they are applied.
async fn changes(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    most: usize,
) -> Result<VecDeque<Change>, Error> {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let mut changes = Vec::new();
    for sharer in Sharer::all_of(entry) {
        let revision = sharer.alerts(tx).await?.revision;
        let last = revision.min(sharer.seen_by(entry).saturating_add(most));
        let mut applies_at = Timestamp::MIN;
        for (number, AlertRevision { at, alert, .. }) in
            shared_alerts::unseen(tx, sharer, entry, last).await?
        {
            applies_at = applies_at.max(at);
            changes.push(Change { sharer, number, at, applies_at, alert });
        }
    }
    // Those of one stay in their order.
    changes.sort_by_key(|change| change.applies_at);
    Ok(changes.into())
}

/// Returns the enabled alerts that watch a subscription: those that it shares as they were at the last change that it
/// has applied.
pub(in crate::engine) async fn watching_applied(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<Alert>, Error> {
    let alerts = applied(tx, entry).await?;
    let ids = shared_alerts::ids(tx, entry).await?;
    let shared = ids.iter().filter_map(|id| alerts.get(id)).cloned().collect();
    active::watching_with(tx, entry, shared).await
}

/// Returns the alerts that a subscription shares, as they were at the last change that it has applied: all later ones
/// are undone.
async fn applied(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<BTreeMap<AlertId, Alert>, Error> {
    let now = shared_alerts::of(tx, entry).await?;
    let mut alerts: BTreeMap<_, _> = now.into_iter().map(|alert| (alert.id, alert)).collect();
    for sharer in Sharer::all_of(entry) {
        let revision = sharer.alerts(tx).await?.revision;
        let later = shared_alerts::unseen(tx, sharer, entry, revision).await?;
        for (_, AlertRevision { alert, before, .. }) in later.into_iter().rev() {
            match before {
                Some(before) => alerts.insert(alert.id, before),
                None => alerts.remove(&alert.id),
            };
        }
    }
    Ok(alerts)
}
