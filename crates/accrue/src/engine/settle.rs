mod debtor;
mod due;
mod subscriber;

use std::collections::BTreeSet;

use async_trait::async_trait;

use self::{debtor::Debtor, subscriber::Subscriber};
use super::{
    apply::{Applied, Command, apply},
    billing::Shared,
    corrections::{Patience, correct},
    rosters::Enrolled,
    transaction::{Stop, Transaction},
};
use crate::{AccountId, CustomerId, Error, ErrorKind, IdOr, Timestamp, subscription::Enrolment};

/// How many customers one commit settles.
const CUSTOMERS_TOGETHER: usize = 32;

/// How many things that came due one commit settles for one customer: fewer where those do not fit.
const TOGETHER: [usize; 4] = [1_024, 128, 16, 1];

/// Does what time owes some customers, in commits of its own: corrections first, each with what is
/// owed up to it.
pub(super) async fn settle(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
    patience: &mut Patience,
) -> Result<(), Error> {
    let [many, ..] = TOGETHER;
    for customer in customers {
        correct(shared, account, *customer, patience).await?;
    }
    for customers in customers.chunks(CUSTOMERS_TOGETHER) {
        match settle_together(shared, account, customers, many, Timestamp::MAX).await {
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
                for customer in customers {
                    settle_until(shared, account, *customer, Timestamp::MAX).await?;
                }
            }
            settled => settled?,
        }
    }
    Ok(())
}

/// Settles what a customer is owed up to an instant, or so much of it as fits one commit.
pub(super) async fn settle_until(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
    until: Timestamp,
) -> Result<(), Error> {
    let mut settled = Ok(());
    for most in TOGETHER {
        settled = settle_together(shared, account, &[customer], most, until).await;
        if !matches!(&settled, Err(error) if error.kind() == ErrorKind::ResourceTooLarge) {
            break;
        }
    }
    settled
}

async fn settle_together(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
    most: usize,
    until: Timestamp,
) -> Result<(), Error> {
    match apply(shared, account, &Settle { customers, most, until }, None).await? {
        Applied::Done(settled) => settled.result,
        Applied::LostTheKey => Err(Error::contended()),
        // What was settled is not settled again.
        Applied::Unknown(_, error) => Err(Error::from(error).retry_doubles_nothing()),
    }
}

/// Does what time owes some customers, and what changes to the alerts of their plans owe them, in
/// the order of the instants at which each came due.
///
/// The outcome does not depend on when this runs: every operation that writes for a customer settles
/// it first, so nothing has happened to it since.
pub(super) struct Settle<'a> {
    pub(super) customers: &'a [CustomerId],
    /// How many things that came due are settled for one customer, the first ones: more come next
    /// time.
    pub(super) most: usize,
    /// What came due later is left.
    pub(super) until: Timestamp,
}

#[async_trait]
impl Command for Settle<'_> {
    type Outcome = ();

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let named: Vec<_> = self.customers.iter().map(|id| IdOr::Id(*id)).collect();
        tx.lock(&named).await?;
        let enrolled = tx.enrolled(self.customers).await?;
        tx.fetch_plan_rosters(&enrolled).await?;
        for Enrolled { customer_id, enrolments, .. } in enrolled {
            if self.until == Timestamp::MAX && tx.is_to_be_corrected(customer_id).await? {
                // It came in between, and comes first: whoever asked finds it due again.
                continue;
            }
            let mut debtors = tx.debtors(customer_id, enrolments, self.most).await?;
            settle_first(tx, &mut debtors, self.most, self.until).await?;
            save(tx, customer_id, debtors).await?;
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Tells whether time owes a customer anything up to an instant, corrections aside.
    pub(super) async fn owes_until(
        &mut self,
        customer: CustomerId,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let (now, mut owes) = (self.now, false);
        for Enrolled { customer_id, enrolments, .. } in self.enrolled(&[customer]).await? {
            let debtors = self.debtors(customer_id, enrolments, 1).await?;
            owes |= debtors.iter().any(|debtor| debtor.next(now, until).is_some());
        }
        Ok(owes)
    }

    /// Reads whom time may owe something: the subscriptions of a customer, and its ledgers.
    async fn debtors(
        &mut self,
        customer_id: CustomerId,
        enrolments: Vec<Enrolment>,
        most: usize,
    ) -> Result<Vec<Debtor>, Error> {
        let mut debtors = Vec::new();
        for enrolment in enrolments {
            let subscriber = Subscriber::new(self, enrolment, most).await?;
            debtors.push(Debtor::Subscriber(Box::new(subscriber)));
        }
        let ledgers = self.expired_ledgers(customer_id).await?;
        debtors.extend(ledgers.into_iter().map(|ledger| Debtor::Ledger(Box::new(ledger))));
        Ok(debtors)
    }
}

/// Settles what came due first for some debtors, one thing after the other.
async fn settle_first(
    tx: &mut Transaction<'_>,
    debtors: &mut [Debtor],
    most: usize,
    until: Timestamp,
) -> Result<(), Error> {
    let now = tx.now;
    let all = debtors.iter().enumerate();
    let mut next: BTreeSet<_> =
        all.filter_map(|(index, debtor)| Some((debtor.next(now, until)?, index))).collect();
    for _ in 0..most {
        let Some((due, index)) = next.pop_first() else { break };
        let Some(debtor) = debtors.get_mut(index) else { break };
        debtor.settle(tx, due).await?;
        next.extend(debtor.next(now, until).map(|due| (due, index)));
    }
    Ok(())
}

/// Writes what was settled, and when time brings the next thing.
async fn save(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    debtors: Vec<Debtor>,
) -> Result<(), Error> {
    let (mut enrolments, mut ledgers) = (Vec::new(), Vec::new());
    for debtor in debtors {
        match debtor {
            Debtor::Subscriber(subscriber) => {
                let Subscriber { enrolment, has_moved, .. } = *subscriber;
                if has_moved {
                    tx.save_enrolment(&enrolment)?;
                }
                enrolments.push(enrolment);
            }
            Debtor::Ledger(ledger) => ledgers.push(*ledger),
        }
    }
    tx.save_ledgers(customer_id, ledgers.iter()).await?;
    tx.save_roster(customer_id, &enrolments).await
}
