//! Ticks: they apply transitions of customers and plans that nobody touches.

use std::collections::BTreeSet;

use async_trait::async_trait;

use crate::{
    Error, SubscriptionId, Timeframe, Timestamp,
    engine::{
        Account, Billing,
        commands::migrations::migrate_some,
        kernel::{Command, Patience, Stop, Transaction, apply_step},
        rows::{shared_alerts::Sharer, subscriptions},
        time::{
            corrections::{correct_some, measure_all},
            current,
            due_dates::recalculate_some,
            in_order::apply_transitions,
            pending_changes::expire,
        },
    },
    limits,
    schema::{self, Deadline, Owner},
    store::Row,
};

/// Result of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tick {
    /// Number of owners whose transitions were applied, wholly or in part.
    pub applied: usize,
    /// Number of owners whose transitions could not be applied, and no later call will: something is
    /// wrong with their rows.
    pub failed: usize,
    /// True where more is to be applied: call again.
    pub more: bool,
}

/// Deadlines that one of several processes applies before it looks again at what is left.
const SHARE: usize = 16;

impl Billing {
    /// Applies the transitions that time has brought, for at most `limit` customers or plans, in the
    /// order of their instants. Where processes [take turns](Self::taking_turns), each takes a few of them from anywhere
    /// among the first: they share the work, and meet rarely.
    ///
    /// No outcome depends on when or how often this runs: whatever touches a customer applies it first.
    /// A host calls it so that messages do not wait for that.
    ///
    /// ```
    /// # use accrue::{Billing, store::MemoryStore};
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// while billing.tick(100).await?.more {}
    /// assert_eq!(billing.next_deadline().await?, None);
    /// # Ok::<(), accrue::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn tick(&self, limit: usize) -> Result<Tick, Error> {
        let due = Timeframe::through(self.shared().now());
        let limit = limit.clamp(1, limits::SCAN_ROWS);
        let mut scan = schema::deadlines(due, limit);
        let (mut applied, mut failed) = (0_usize, BTreeSet::new());
        while applied < limit {
            let rows = self.shared().store.scan(&scan).await?;
            let Some(last) = rows.last() else { break };
            let before = applied;
            for row in self.share_of(&rows).iter().take(limit.saturating_sub(applied)) {
                if failed.contains(&row.key) {
                    continue;
                }
                match self.apply_deadline(row).await {
                    Ok(()) => applied = applied.saturating_add(1),
                    Err(error) if error.can_be_retried() => return Err(error),
                    // Whatever is wrong with one owner, the others do not wait for it.
                    Err(_) => {
                        failed.insert(row.key.clone());
                    }
                }
            }
            if !self.shared().stripes.has_turns() || applied == before {
                scan = scan.after(last.key.bytes());
            }
        }
        let failed = failed.len();
        let left = schema::deadlines(due, failed.saturating_add(1));
        let more = self.shared().store.scan(&left).await?.len() > failed;
        Ok(Tick { applied, failed, more })
    }

    /// Returns those that this process applies next: all of them, or a few where there are other processes.
    fn share_of<'r>(&self, rows: &'r [Row]) -> &'r [Row] {
        if !self.shared().stripes.has_turns() {
            return rows;
        }
        let mut drawn = [0; 2];
        self.shared().entropy.fill(&mut drawn);
        let places = rows.len().saturating_sub(SHARE).saturating_add(1);
        let from = usize::from(u16::from_be_bytes(drawn)).checked_rem(places).unwrap_or_default();
        let share = rows.get(from..).unwrap_or_default();
        share.get(..SHARE).unwrap_or(share)
    }

    async fn apply_deadline(&self, row: &Row) -> Result<(), Error> {
        let deadline = schema::read_deadline(&row.key, &row.document)?;
        let account = self.account(deadline.account.clone());
        match deadline.owner {
            Owner::Customer(id) => {
                apply_transitions(self.shared(), account.id(), &[id], &mut Patience::endless())
                    .await
            }
            Owner::Plan(plan_id, version) => {
                apply_alert_changes(&account, Sharer::Plan(plan_id, version), deadline).await
            }
            Owner::Alerts => apply_alert_changes(&account, Sharer::Account, deadline).await,
            Owner::Backfill(id) => {
                let patience = &mut Patience::endless();
                correct_some(self.shared(), account.id(), id, patience).await.map(|_| ())
            }
            Owner::Metrics => measure_all(self.shared(), account.id(), deadline).await,
            Owner::DueDates => recalculate_some(&account, deadline).await,
            Owner::Migration(id) => migrate_some(&account, id, deadline).await,
            Owner::SubscriptionChange(id) => expire(&account, id).await,
        }
    }

    /// Returns the instant of the next transition, at which to call [`tick`](Self::tick) again.
    pub async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        let ever = Timeframe::through(Timestamp::MAX);
        let rows = self.shared().store.scan(&schema::deadlines(ever, 1)).await?;
        let first = rows.first().map(|row| schema::read_deadline(&row.key, &row.document));
        Ok(first.transpose()?.map(|deadline| deadline.at))
    }
}

/// Number of subscriptions that share alerts which one step applies.
const SUBSCRIPTIONS_TOGETHER: usize = 100;

/// Number of applied changes that one step removes.
const CHANGES_TOGETHER: u64 = 1_000;

/// Applies the next subscriptions that have not seen all changes to alerts that they share.
async fn apply_alert_changes(
    account: &Account,
    sharer: Sharer,
    deadline: Deadline,
) -> Result<(), Error> {
    let index = sharer.subscriptions(account.id());
    let scan = index.scan(Timestamp::MIN, Timestamp::MAX, SUBSCRIPTIONS_TOGETHER);
    let scan = match &deadline.cursor {
        Some(cursor) => scan.after(&index.key_at(cursor)),
        None => scan,
    };
    let mut tx = account.reading();
    let revision = sharer.alerts(&mut tx).await?.revision;
    let rows = tx.scan_now(&scan).await?;
    let places =
        rows.iter().map(|row| schema::position(&row.key)).collect::<Result<Vec<_>, _>>()?;
    loop {
        let mut tx = account.reading();
        let mut behind = BTreeSet::new();
        for place in &places {
            let id = SubscriptionId::from_bytes(schema::id_at(place));
            if let Some(entry) = subscriptions::subscription(&mut tx, id).await?
                && Sharer::all_of(&entry).contains(&sharer)
                && current::is_behind(&mut tx, &entry).await?
                && sharer.seen_by(&entry) < revision
            {
                behind.insert(entry.subscription.customer_id);
            }
        }
        if behind.is_empty() {
            break;
        }
        let behind: Vec<_> = behind.into_iter().collect();
        apply_transitions(account.shared(), account.id(), &behind, &mut Patience::endless())
            .await?;
    }
    let next = places.last().filter(|_| places.len() >= SUBSCRIPTIONS_TOGETHER);
    let cursor = next.map(|place| place.to_vec());
    let step = EndAlertStep { sharer, revision, deadline, cursor };
    apply_step(account.shared(), account.id(), &step).await
}

/// Command that keeps the progress of applying the subscriptions that share alerts, and removes the changes that all
/// of them have seen.
struct EndAlertStep {
    sharer: Sharer,
    revision: u64,
    deadline: Deadline,
    cursor: Option<Vec<u8>>,
}

#[async_trait]
impl Command for EndAlertStep {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "end_alert_step"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let mut shared = self.sharer.alerts(tx).await?;
        if shared.revision != self.revision || shared.deadline != Some(self.deadline.at) {
            // Another change came meanwhile, with a deadline of its own.
            return Ok(());
        }
        let place = schema::deadline(self.deadline.at, tx.account, self.deadline.owner);
        tx.get(&place).await?;
        if self.cursor.is_some() {
            tx.put(&place, &Deadline { cursor: self.cursor.clone(), ..self.deadline.clone() })?;
            return Ok(());
        }
        let last = self.revision.min(shared.applied.saturating_add(CHANGES_TOGETHER));
        for number in shared.applied.saturating_add(1)..=last {
            let place = self.sharer.revision(tx, number);
            tx.delete(&place);
        }
        shared.applied = last;
        if last == self.revision {
            tx.delete(&place);
            shared.deadline = None;
        }
        Ok(self.sharer.save(tx, shared).await?)
    }
}
