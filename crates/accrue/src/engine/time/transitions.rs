//! Applies what time brings customers, in the order of the instants.

mod collector;
mod subject;
mod subscriber;
mod transition;

pub(in crate::engine) use self::{subject::expire_ledger, subscriber::watching_applied};

use std::collections::BTreeSet;

use async_trait::async_trait;

use self::{collector::Collector, subject::Subject, subscriber::Subscriber};
use crate::{
    CustomerId, Error, IdOr, Timestamp,
    engine::{
        kernel::{Command, Stop, Transaction},
        rows::{
            active::{self, ActiveSubscriptions},
            ledgers, plans, subscriptions,
        },
        time::corrections,
    },
    subscription::SubscriptionEntry,
};

/// Applies what time and changes to the alerts of their plans bring some customers, in the order of the
/// instants.
///
/// The outcome does not depend on when this runs: every operation that writes for a customer applies
/// it first, so nothing has happened to it since.
pub(in crate::engine) struct ApplyTransitions<'a> {
    pub(in crate::engine) customers: &'a [CustomerId],
    /// Transitions that are applied for one customer, the first ones: more come next
    /// time.
    pub(in crate::engine) most: usize,
    /// Later ones are left.
    pub(in crate::engine) until: Timestamp,
}

#[async_trait]
impl Command for ApplyTransitions<'_> {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "apply_transitions"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let named: Vec<_> = self.customers.iter().map(|id| IdOr::Id(*id)).collect();
        tx.lock(&named).await?;
        let active = active::active_subscriptions(tx, self.customers).await?;
        plans::fetch_plan_versions(tx, active.iter().flat_map(|of| &of.entries)).await?;
        for ActiveSubscriptions { customer_id, entries, .. } in active {
            if self.until == Timestamp::MAX
                && corrections::is_to_be_corrected(tx, customer_id).await?
            {
                // It came in between, and comes first: whoever asked finds it again.
                continue;
            }
            let mut subjects = subjects(tx, customer_id, entries, self.most).await?;
            let mut collector = Collector::new(tx, customer_id).await?;
            apply_first(tx, &mut subjects, &mut collector, self.most, self.until).await?;
            save(tx, customer_id, subjects).await?;
        }
        Ok(())
    }
}

/// Tells whether a customer has transitions up to an instant, corrections aside.
pub(in crate::engine) async fn has_transitions_until(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    until: Timestamp,
) -> Result<bool, Error> {
    let (now, mut found) = (tx.now, false);
    for ActiveSubscriptions { customer_id, entries, .. } in
        active::active_subscriptions(tx, &[customer]).await?
    {
        let subjects = subjects(tx, customer_id, entries, 1).await?;
        found |= subjects.iter().any(|subject| subject.next(now, until).is_some());
        found |= Collector::new(tx, customer_id).await?.next(now, until).is_some();
    }
    Ok(found)
}

/// Reads what may have transitions: the subscriptions of a customer, and its ledgers.
async fn subjects(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    entries: Vec<SubscriptionEntry>,
    most: usize,
) -> Result<Vec<Subject>, Error> {
    let mut subjects = Vec::new();
    for entry in entries {
        let subscriber = Subscriber::new(tx, entry, most).await?;
        subjects.push(Subject::Subscriber(Box::new(subscriber)));
    }
    let ledgers = subject::expired_ledgers(tx, customer_id).await?;
    subjects.extend(ledgers.into_iter().map(|ledger| Subject::Ledger(Box::new(ledger))));
    Ok(subjects)
}

/// Applies the first transitions of some subjects, one after the other.
async fn apply_first(
    tx: &mut Transaction<'_>,
    subjects: &mut [Subject],
    collector: &mut Collector,
    most: usize,
    until: Timestamp,
) -> Result<(), Error> {
    let now = tx.now;
    let all = subjects.iter().enumerate();
    let mut next: BTreeSet<_> =
        all.filter_map(|(index, subject)| Some((subject.next(now, until)?, index))).collect();
    for _ in 0..most {
        let first = next.first().copied();
        let collected = collector.next(now, until);
        if collected.is_some_and(|of| first.is_none_or(|(first, _)| of < first)) {
            collector.apply_transition(tx).await?;
            collector.look(tx).await?;
            continue;
        }
        let Some((transition, index)) = first else { break };
        next.remove(&(transition, index));
        let Some(subject) = subjects.get_mut(index) else { break };
        subject.apply_transition(tx, transition).await?;
        next.extend(subject.next(now, until).map(|transition| (transition, index)));
        collector.look(tx).await?;
    }
    Ok(())
}

/// Writes what was applied, and when time brings the next thing.
async fn save(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    subjects: Vec<Subject>,
) -> Result<(), Error> {
    let (mut entries, mut ledgers) = (Vec::new(), Vec::new());
    for subject in subjects {
        match subject {
            Subject::Subscriber(subscriber) => {
                let Subscriber { entry, has_moved, .. } = *subscriber;
                if has_moved {
                    subscriptions::save_subscription(tx, &entry).await?;
                }
                entries.push(entry);
            }
            Subject::Ledger(ledger) => ledgers.push(*ledger),
        }
    }
    ledgers::save_ledgers(tx, customer_id, ledgers.iter()).await?;
    active::save_active(tx, customer_id, &entries).await
}
