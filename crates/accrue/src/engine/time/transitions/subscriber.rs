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
        rows::{self, active, outbox, periods, plans},
        time::{allocations, invoicing, judge, license_pools, plan_changes, trials},
    },
    limits,
    schema::{self, AlertRevision},
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
    /// The next changes to its plan's alerts that it has not applied, in order.
    changes: VecDeque<Change>,
    /// The alerts of its plan version, as they were at the last change that it has applied. Known
    /// once a turn was judged on them.
    plan_alerts: Option<BTreeMap<AlertId, Alert>>,
}

/// A change to an alert of a plan: its number, its own instant, and what it left.
struct Change {
    number: u64,
    at: Timestamp,
    /// When it is applied: no earlier than those before it. Two processes may tell the time
    /// differently; the number tells the order.
    applies_at: Timestamp,
    alert: Alert,
}

impl Subscriber {
    /// Reads the transitions of a subscription: at most so many changes to its plan's alerts.
    pub(super) async fn new(
        tx: &mut Transaction<'_>,
        entry: SubscriptionEntry,
        most: usize,
    ) -> Result<Self, Error> {
        let changes = changes(tx, &entry, most).await?;
        let grace = rows::account::account_entry(tx).await?.configuration.grace_period;
        Ok(Self { entry, has_moved: false, grace, changes, plan_alerts: None })
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
                self.plan_alerts = None;
                plan_changes::judge(tx, &mut self.entry, &alerts, at).await
            }
            TransitionKind::Turn => {
                let shared = self.plan_alerts(tx).await?;
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

    /// Applies the next change to an alert of its plan.
    async fn change(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(Change { number, at, alert, .. }) = self.changes.pop_front() else {
            return Ok(());
        };
        self.entry.revision = number;
        if let Some(plan_alerts) = &mut self.plan_alerts {
            plan_alerts.insert(alert.id, alert.clone());
        }
        if self.entry.muted.contains(&alert.id) {
            return Ok(());
        }
        judge::judge_at_once(tx, &mut self.entry, &alert, at).await.map(drop)
    }

    async fn plan_alerts(&mut self, tx: &mut Transaction<'_>) -> Result<Vec<Alert>, Error> {
        let alerts = match self.plan_alerts.take() {
            Some(alerts) => alerts,
            None => plan_alerts(tx, &self.entry).await?,
        };
        let alerts = self.plan_alerts.insert(alerts);
        let version = plans::plan_version_of(tx, &self.entry).await?;
        Ok(version.alerts.iter().filter_map(|id| alerts.get(id)).cloned().collect())
    }
}

/// Reads the next changes to the alerts of a subscription's plan that it has not applied: at most so many.
async fn changes(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    most: usize,
) -> Result<VecDeque<Change>, Error> {
    let revision = plans::plan_version_of(tx, entry).await?.revision;
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let last = revision.min(entry.revision.saturating_add(most));
    let (mut changes, mut applies_at) = (VecDeque::new(), Timestamp::MIN);
    for (number, AlertRevision { at, alert, .. }) in unseen(tx, entry, last).await? {
        applies_at = applies_at.max(at);
        changes.push_back(Change { number, at, applies_at, alert });
    }
    Ok(changes)
}

/// Returns the enabled alerts that watch a subscription: those of its plan version as they were
/// at the last change that it has applied.
pub(in crate::engine) async fn watching_applied(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<Alert>, Error> {
    let alerts = plan_alerts(tx, entry).await?;
    let version = plans::plan_version_of(tx, entry).await?;
    let shared = version.alerts.iter().filter_map(|id| alerts.get(id)).cloned().collect();
    active::watching_with(tx, entry, shared).await
}

/// Returns the alerts of a subscription's plan version, as they were at the last change that it has
/// applied: all later ones are undone.
async fn plan_alerts(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<BTreeMap<AlertId, Alert>, Error> {
    let version = plans::plan_version_of(tx, entry).await?;
    let now = rows::alerts::of_plan(tx, &version.alerts).await?;
    let mut alerts: BTreeMap<_, _> = now.into_iter().map(|alert| (alert.id, alert)).collect();
    let later = unseen(tx, entry, version.revision).await?;
    for (_, AlertRevision { alert, before, .. }) in later.into_iter().rev() {
        match before {
            Some(before) => alerts.insert(alert.id, before),
            None => alerts.remove(&alert.id),
        };
    }
    Ok(alerts)
}

/// Reads the changes to a plan's alerts that a subscription has not applied, up to one of them.
async fn unseen(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    last: u64,
) -> Result<Vec<(u64, AlertRevision)>, Error> {
    let Subscription { plan_id, plan_version, .. } = entry.subscription;
    let Some(plan_id) = plan_id else { return Ok(Vec::new()) };
    let numbers = entry.revision.saturating_add(1)..=last;
    let slots: Vec<_> = numbers
        .clone()
        .map(|number| schema::alert_revision(tx.account, plan_id, plan_version, number))
        .collect();
    let found: Option<Vec<_>> = tx.get_all(&slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("a change to a plan's alerts is missing"))?;
    Ok(numbers.zip(found).collect())
}
