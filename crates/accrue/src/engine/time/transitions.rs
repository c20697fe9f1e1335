//! Applies what time brings customers, in the order of the instants.

mod collector;
mod keeper;
mod subscriber;
mod transition;

pub(in crate::engine) use self::subscriber::watching_applied;

use async_trait::async_trait;

use self::{collector::Collector, keeper::Keeper, subscriber::Subscriber, transition::Transition};
use crate::{
    CustomerId, Error, IdOr, Timestamp,
    engine::{
        kernel::{Command, Stop, Transaction},
        rows::{
            active::{self, ActiveSubscriptions},
            plans, subscriptions,
        },
        time::corrections,
    },
    limits,
    schema::CustomerHead,
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
            let mut brought = Brought::read(tx, customer_id, entries, self.most).await?;
            brought.apply_first(tx, self.most, self.until).await?;
            brought.save(tx, customer_id).await?;
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
        found |= Brought::read(tx, customer_id, entries, 1).await?.next(now, until).is_some();
    }
    Ok(found)
}

/// Applies what time has brought a customer, corrections aside, for a read that shows a ledger of it: blocks
/// expire, and invoices that are issued are squared with it.
pub(in crate::engine) async fn apply_for_ledger(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let (now, deadline) = (tx.now, guard.head(tx)?.deadline);
    if deadline.is_some_and(|at| at <= now) {
        // It is rare: whoever only reads carries none of its state.
        Box::pin(apply_all(tx, customer)).await?;
    }
    Ok(())
}

async fn apply_all(tx: &mut Transaction<'_>, customer: CustomerId) -> Result<(), Error> {
    let now = tx.now;
    for ActiveSubscriptions { customer_id, entries, .. } in
        active::active_subscriptions(tx, &[customer]).await?
    {
        plans::fetch_plan_versions(tx, entries.iter()).await?;
        let mut brought = Brought::read(tx, customer_id, entries, limits::SCAN_ROWS).await?;
        while brought.next(now, now).is_some() {
            brought.apply_first(tx, limits::SCAN_ROWS, now).await?;
        }
        brought.save(tx, customer_id).await?;
    }
    Ok(())
}

/// Whatever time brings something of one customer.
struct Brought {
    subscribers: Vec<Subscriber>,
    keeper: Keeper,
    collector: Collector,
}

/// Who has a transition. Of those at one instant and of one kind the subscriptions' come in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Subscriber(usize),
    Keeper,
    Collector,
}

impl Brought {
    async fn read(
        tx: &mut Transaction<'_>,
        customer_id: CustomerId,
        entries: Vec<SubscriptionEntry>,
        most: usize,
    ) -> Result<Self, Error> {
        let mut subscribers = Vec::with_capacity(entries.len());
        for entry in entries {
            subscribers.push(Subscriber::new(tx, entry, most).await?);
        }
        let keeper = Keeper::new(tx, customer_id).await?;
        let collector = Collector::new(tx, customer_id).await?;
        Ok(Self { subscribers, keeper, collector })
    }

    fn next(&self, now: Timestamp, until: Timestamp) -> Option<(Transition, Whose)> {
        let subscribers = self.subscribers.iter().enumerate();
        let subscribers = subscribers
            .filter_map(|(index, of)| Some((of.next(now, until)?, Whose::Subscriber(index))));
        let kept = self.keeper.next(now, until).map(|of| (of, Whose::Keeper));
        let collected = self.collector.next(now, until).map(|of| (of, Whose::Collector));
        subscribers.chain(kept).chain(collected).min()
    }

    /// Applies at most so many transitions, in order, up to an instant.
    async fn apply_first(
        &mut self,
        tx: &mut Transaction<'_>,
        most: usize,
        until: Timestamp,
    ) -> Result<(), Error> {
        let now = tx.now;
        for _ in 0..most {
            let Some((transition, whose)) = self.next(now, until) else { break };
            match whose {
                Whose::Subscriber(index) => {
                    let Some(subscriber) = self.subscribers.get_mut(index) else { break };
                    subscriber.apply_transition(tx, transition).await?;
                }
                Whose::Keeper => self.keeper.apply_transition(tx).await?,
                Whose::Collector => self.collector.apply_transition(tx).await?,
            }
            self.keeper.look(tx).await?;
            self.collector.look(tx).await?;
        }
        Ok(())
    }

    async fn save(self, tx: &mut Transaction<'_>, customer_id: CustomerId) -> Result<(), Error> {
        let mut entries = Vec::with_capacity(self.subscribers.len());
        for Subscriber { entry, has_moved, .. } in self.subscribers {
            if has_moved {
                subscriptions::save_subscription(tx, &entry).await?;
            }
            entries.push(entry);
        }
        active::save_active(tx, customer_id, &entries).await
    }
}
