//! Rehearsal of a command in a transaction that is never committed, with the transitions before it.

use std::collections::{BTreeSet, HashMap};

use super::{
    period::PeriodChange,
    report::{BalanceChange, Preview, PreviewedMessage},
};
use crate::{
    BackfillId, CustomerId, Error, SubscriptionId, Timestamp,
    credit::Ledger,
    engine::{
        commands::preview::period,
        kernel::{Command, Stop, Transaction, Work},
        rows::{self, shared_alerts::Sharer, usage_customers},
        time::{
            corrections::{Step, Stepped},
            transitions::ApplyTransitions,
        },
    },
    limits,
    schema::{self, OutboxEntry, Owner},
    store::Change,
};

/// Run of an operation that nothing comes of.
#[derive(Default)]
pub(super) struct Rehearsal {
    /// Writes before it: transitions.
    applied: Vec<Change>,
}

impl Rehearsal {
    pub(super) async fn run(
        &mut self,
        tx: &mut Transaction<'_>,
        work: &mut dyn Work,
    ) -> Result<Preview<()>, Error> {
        self.apply_and_run(tx, work).await?;
        let made_due = tx.take_made_due();
        let sharers: Vec<_> = made_due.iter().filter_map(Sharer::of_owner).collect();
        if !sharers.is_empty() {
            // Subscriptions apply a change to alerts that they share one by one: here at once,
            // and before it their other transitions.
            let customers = subscribers(tx, &sharers).await?;
            self.apply_transitions(tx, &customers).await?;
            self.apply_and_run(tx, work).await?;
            apply_transitions(tx, &customers).await?;
        }
        let mut periods = Vec::new();
        for id in made_due.iter().filter_map(backfill) {
            // Its customers are corrected one by one: here at once, and before it what they are owed
            // otherwise.
            let backfill = rows::backfills::backfill(tx, id).await?;
            let customers = period::corrected_customers(tx, &backfill).await?;
            let customers = with_subscribers(tx, customers).await?;
            self.apply_transitions(tx, &customers).await?;
            let before = period::period_figures(tx, &customers, backfill.timeframe).await?;
            self.apply_and_run(tx, work).await?;
            apply_transitions(tx, &customers).await?;
            let after = period::period_figures(tx, &customers, backfill.timeframe).await?;
            periods = PeriodChange::between(before, after);
        }
        let (messages, balances) = (self.messages(tx)?, self.balances(tx)?);
        Ok(Preview { answer: (), messages, balances, periods })
    }

    /// Runs it once the transitions that it finds are applied.
    pub(super) async fn apply_and_run(
        &mut self,
        tx: &mut Transaction<'_>,
        work: &mut dyn Work,
    ) -> Result<(), Error> {
        loop {
            match work.run(tx).await {
                Ok(()) => return tx.check_writes(self.applied.len()),
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::First(owners)) => {
                    if let Some(id) = owners.iter().find_map(backfill) {
                        let detail =
                            format!("the backfill {id} is to be reflected or reverted first");
                        return Err(Error::constraint(detail));
                    }
                    let customers: Vec<_> = owners.iter().filter_map(customer).collect();
                    self.apply_transitions(tx, &customers).await?;
                }
                Err(Stop::Locks(_)) => return Err(Error::corrupt("a rehearsal takes no locks")),
            }
        }
    }

    /// Applies customers, and forgets what the operation has written.
    async fn apply_transitions(
        &mut self,
        tx: &mut Transaction<'_>,
        customers: &[CustomerId],
    ) -> Result<(), Error> {
        tx.set_writes(std::mem::take(&mut self.applied));
        apply_transitions(tx, customers).await?;
        self.applied = tx.all_writes()?;
        Ok(())
    }

    fn messages(&self, tx: &Transaction<'_>) -> Result<Vec<PreviewedMessage>, Error> {
        let before: BTreeSet<_> = self.applied.iter().map(Change::key).collect();
        let new = tx.writes().iter().filter(|change| !before.contains(change.key()));
        let entries =
            new.filter_map(|change| schema::written_message(change.key(), change.document()?));
        let messages = entries.map(|entry| {
            let OutboxEntry { place, created_at, body, .. } = entry?;
            let customer_id = place.queue.customer_id();
            Ok(PreviewedMessage { customer_id, created_at, body })
        });
        messages.collect()
    }

    fn balances(&self, tx: &Transaction<'_>) -> Result<Vec<BalanceChange>, Error> {
        let applied: HashMap<_, _> =
            self.applied.iter().map(|change| (change.key(), change.document())).collect();
        let mut moved = Vec::new();
        for change in tx.writes() {
            let key = change.key();
            let after = change.document().and_then(|of| schema::written_ledger(key, of));
            let Some(after) = after else {
                continue;
            };
            let after = after?;
            let before = match applied.get(key) {
                Some(document) => *document,
                None => tx.stored(key),
            };
            let before = before.and_then(|of| schema::written_ledger(key, of)).transpose()?;
            let before = before.map(|before| before.balance);
            if before.as_ref() != Some(&after.balance) {
                let Ledger { customer_id, currency, balance, .. } = after;
                moved.push(BalanceChange { customer_id, currency, before, after: balance });
            }
        }
        Ok(moved)
    }
}

/// Applies all transitions of some customers, in the transaction.
async fn apply_transitions(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
) -> Result<(), Error> {
    for customer in customers {
        correct(tx, *customer).await?;
    }
    apply_until(tx, customers, Timestamp::MAX).await
}

/// Takes all steps of the corrections of a customer, in the transaction.
async fn correct(tx: &mut Transaction<'_>, customer: CustomerId) -> Result<(), Error> {
    loop {
        match ended((Step { customer }).run(tx).await)? {
            Stepped::On { .. } => {}
            Stepped::First(first, until) => apply_until(tx, &[first], until).await?,
            Stepped::Other(other) => Box::pin(correct(tx, other)).await?,
            Stepped::Done => return Ok(()),
        }
    }
}

async fn apply_until(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
    until: Timestamp,
) -> Result<(), Error> {
    ended((ApplyTransitions { customers, most: usize::MAX, until }).run(tx).await)
}

/// Adds those whose subscriptions count the usage of some customers.
async fn with_subscribers(
    tx: &mut Transaction<'_>,
    customers: Vec<CustomerId>,
) -> Result<Vec<CustomerId>, Error> {
    let mut all = BTreeSet::new();
    for customer in customers {
        all.extend(usage_customers::subscribers(tx, customer).await?);
    }
    Ok(all.into_iter().collect())
}

const fn customer(owner: &Owner) -> Option<CustomerId> {
    if let Owner::Customer(id) = owner { Some(*id) } else { None }
}

const fn backfill(owner: &Owner) -> Option<BackfillId> {
    if let Owner::Backfill(id) = owner { Some(*id) } else { None }
}

/// Returns the result of a command that takes no locks, and finds no transitions.
fn ended<T>(result: Result<T, Stop>) -> Result<T, Error> {
    match result {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Error(error)) => Err(error),
        Err(_) => Err(Error::corrupt("a rehearsal takes no locks")),
    }
}

/// Returns the customers that have subscriptions which share some alerts.
async fn subscribers(
    tx: &mut Transaction<'_>,
    sharers: &[Sharer],
) -> Result<Vec<CustomerId>, Error> {
    let mut customers = BTreeSet::new();
    for sharer in sharers {
        let index = sharer.subscriptions(tx.account);
        let scan = index.scan(Timestamp::MIN, Timestamp::MAX, limits::PREVIEWED);
        let rows = tx.scan_now(&scan).await?;
        if rows.len() >= limits::PREVIEWED {
            let most = limits::PREVIEWED;
            return Err(Error::too_many(format!(
                "a preview takes a plan, or an account, with fewer than {most} subscriptions"
            )));
        }
        for row in rows {
            let id = SubscriptionId::from_bytes(schema::id_at(&schema::position(&row.key)?));
            let found = rows::subscriptions::subscription(tx, id).await?;
            let of = found.filter(|found| Sharer::all_of(found).contains(sharer));
            customers.extend(of.map(|found| found.subscription.customer_id));
        }
    }
    Ok(customers.into_iter().collect())
}
