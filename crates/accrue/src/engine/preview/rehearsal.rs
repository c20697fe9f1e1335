use std::collections::{BTreeSet, HashMap};

use super::{BalanceChange, PeriodChange, Preview, PreviewedMessage};
use crate::{
    CustomerId, Error, PlanId, SubscriptionId, Timestamp,
    credit::Ledger,
    engine::{
        apply::Command,
        corrections::{Step, Stepped},
        lists::position,
        settle::Settle,
        unit::{Stop, Unit},
    },
    limits,
    plan::PlanVersion,
    schema::{self, Index, OutboxEntry},
    store::{Document, Key},
};

/// The run of an operation that nothing comes of.
#[derive(Default)]
pub(super) struct Rehearsal {
    /// What was written before it, to bring what time owes to order.
    settled: Vec<(Key, Option<Document>)>,
}

impl Rehearsal {
    pub(super) async fn run<C: Command + ?Sized>(
        &mut self,
        unit: &mut Unit<'_>,
        command: &C,
    ) -> Result<Preview<C::Outcome>, Error> {
        let mut answer = self.settle_and_run(unit, command).await?;
        let versions = unit.take_moved_versions();
        if !versions.is_empty() {
            // The subscriptions of a plan settle a change to its alerts one by one: here at once,
            // and before it what they are owed otherwise.
            let customers = subscribers(unit, &versions).await?;
            self.settle(unit, &customers).await?;
            answer = self.settle_and_run(unit, command).await?;
            settle(unit, &customers).await?;
        }
        let mut periods = Vec::new();
        if let Some((backfill, effect)) = unit.take_moved_backfill() {
            // Its customers are corrected one by one: here at once, and before it what they are owed
            // otherwise.
            let customers = unit.corrected_customers(&backfill, effect).await?;
            self.settle(unit, &customers).await?;
            let before = unit.periods(&customers, backfill.timeframe).await?;
            answer = self.settle_and_run(unit, command).await?;
            settle(unit, &customers).await?;
            let after = unit.periods(&customers, backfill.timeframe).await?;
            periods = PeriodChange::between(before, after);
        }
        let (messages, balances) = (self.messages(unit)?, self.balances(unit)?);
        Ok(Preview { answer, messages, balances, periods })
    }

    /// Runs it on what is settled: what it finds due is settled first.
    async fn settle_and_run<C: Command + ?Sized>(
        &mut self,
        unit: &mut Unit<'_>,
        command: &C,
    ) -> Result<C::Outcome, Error> {
        loop {
            match command.run(unit).await {
                Ok(answer) => {
                    unit.check_writes(self.settled.len())?;
                    return Ok(answer);
                }
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Due(customers)) => self.settle(unit, &customers).await?,
                Err(Stop::Backfill(id)) => {
                    let detail = format!("the backfill {id} is to be reflected or reverted first");
                    return Err(Error::constraint(detail));
                }
                Err(Stop::Locks(_)) => return Err(Error::corrupt("a rehearsal takes no locks")),
            }
        }
    }

    /// Settles customers, and forgets what the operation has written.
    async fn settle(&mut self, unit: &mut Unit<'_>, customers: &[CustomerId]) -> Result<(), Error> {
        unit.set_writes(std::mem::take(&mut self.settled));
        settle(unit, customers).await?;
        self.settled = unit.writes().to_vec();
        Ok(())
    }

    fn messages(&self, unit: &Unit<'_>) -> Result<Vec<PreviewedMessage>, Error> {
        let before: BTreeSet<_> = self.settled.iter().map(|(key, _)| key).collect();
        let new = unit.writes().iter().filter(|(key, _)| !before.contains(key));
        let entries =
            new.filter_map(|(key, document)| schema::written_message(key, document.as_ref()?));
        let messages = entries.map(|entry| {
            let OutboxEntry { place, created_at, body, .. } = entry?;
            let customer_id = place.queue.customer_id();
            Ok(PreviewedMessage { customer_id, created_at, body })
        });
        messages.collect()
    }

    fn balances(&self, unit: &Unit<'_>) -> Result<Vec<BalanceChange>, Error> {
        let settled: HashMap<_, _> =
            self.settled.iter().map(|(key, document)| (key, document.as_ref())).collect();
        let mut moved = Vec::new();
        for (key, document) in unit.writes() {
            let Some(after) = document.as_ref().and_then(|of| schema::written_ledger(key, of))
            else {
                continue;
            };
            let after = after?;
            let before = match settled.get(key) {
                Some(document) => *document,
                None => unit.stored(key),
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

/// Brings everything that time owes some customers to order, in the unit.
async fn settle(unit: &mut Unit<'_>, customers: &[CustomerId]) -> Result<(), Error> {
    for customer in customers {
        loop {
            match ended((Step { customer: *customer }).run(unit).await)? {
                Stepped::On { .. } => {}
                Stepped::First(until) => settle_until(unit, &[*customer], until).await?,
                Stepped::Done => break,
            }
        }
    }
    settle_until(unit, customers, Timestamp::MAX).await
}

async fn settle_until(
    unit: &mut Unit<'_>,
    customers: &[CustomerId],
    until: Timestamp,
) -> Result<(), Error> {
    ended((Settle { customers, most: usize::MAX, until }).run(unit).await)
}

/// What a command has come to that takes no locks, and finds nothing due.
fn ended<T>(result: Result<T, Stop>) -> Result<T, Error> {
    match result {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Error(error)) => Err(error),
        Err(_) => Err(Error::corrupt("a rehearsal takes no locks")),
    }
}

/// Returns the customers that have subscriptions of some versions of plans.
async fn subscribers(
    unit: &mut Unit<'_>,
    versions: &BTreeSet<(PlanId, PlanVersion)>,
) -> Result<Vec<CustomerId>, Error> {
    let mut customers = BTreeSet::new();
    for (plan_id, version) in versions {
        let index = Index::subscriptions_of_plan(unit.account, *plan_id);
        let scan = index.scan(Timestamp::MIN, Timestamp::MAX, limits::PREVIEWED);
        let rows = unit.scan(&scan).await?;
        if rows.len() >= limits::PREVIEWED {
            let most = limits::PREVIEWED;
            return Err(Error::too_many(format!(
                "a preview takes a plan with fewer than {most} subscriptions"
            )));
        }
        for row in rows {
            let id = SubscriptionId::from_bytes(schema::id_at(&position(&row.key)?));
            let found = unit.get(&schema::subscription(unit.account, id)).await?;
            let of = found.filter(|found| found.subscription.plan_version == *version);
            customers.extend(of.map(|found| found.subscription.customer_id));
        }
    }
    Ok(customers.into_iter().collect())
}
