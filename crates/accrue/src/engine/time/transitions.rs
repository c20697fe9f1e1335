//! Applies what time brings customers, in the order of the instants.

mod subject;
mod subscriber;
mod transition;

use std::collections::BTreeSet;

use async_trait::async_trait;

use self::{subject::Subject, subscriber::Subscriber};
use crate::{
    AccountId, CustomerId, Error, ErrorKind, IdOr, Timestamp,
    engine::{
        kernel::{Applied, Command, Patience, Shared, Stop, Transaction, apply},
        rows::active::ActiveSubscriptions,
        time::corrections::correct,
    },
    subscription::SubscriptionEntry,
};

/// How many customers one commit applies.
const CUSTOMERS_TOGETHER: usize = 32;

/// Transitions that one commit applies for one customer: fewer where those do not fit.
const TOGETHER: [usize; 4] = [1_024, 128, 16, 1];

/// Applies the transitions of some customers, in commits of their own: corrections first, each with the
/// transitions up to it.
pub(in crate::engine) async fn apply_transitions(
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
        match apply_together(shared, account, customers, many, Timestamp::MAX).await {
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
                for customer in customers {
                    apply_until(shared, account, *customer, Timestamp::MAX).await?;
                }
            }
            applied => applied?,
        }
    }
    Ok(())
}

/// Applies the transitions of a customer up to an instant, or so many of them as fit one commit.
pub(in crate::engine) async fn apply_until(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
    until: Timestamp,
) -> Result<(), Error> {
    let mut applied = Ok(());
    for most in TOGETHER {
        applied = apply_together(shared, account, &[customer], most, until).await;
        if !matches!(&applied, Err(error) if error.kind() == ErrorKind::ResourceTooLarge) {
            break;
        }
    }
    applied
}

async fn apply_together(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
    most: usize,
    until: Timestamp,
) -> Result<(), Error> {
    match apply(shared, account, &ApplyTransitions { customers, most, until }, None).await? {
        Applied::Done(applied) => applied.result,
        Applied::LostTheKey => Err(Error::contended()),
        // What was applied is not applied again.
        Applied::Unknown(_, error) => Err(Error::from(error).retry_doubles_nothing()),
    }
}

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
        let active = tx.active_subscriptions(self.customers).await?;
        tx.fetch_plan_versions(&active).await?;
        for ActiveSubscriptions { customer_id, entries, .. } in active {
            if self.until == Timestamp::MAX && tx.is_to_be_corrected(customer_id).await? {
                // It came in between, and comes first: whoever asked finds it again.
                continue;
            }
            let mut subjects = tx.subjects(customer_id, entries, self.most).await?;
            apply_first(tx, &mut subjects, self.most, self.until).await?;
            save(tx, customer_id, subjects).await?;
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Tells whether a customer has transitions up to an instant, corrections aside.
    pub(in crate::engine) async fn has_transitions_until(
        &mut self,
        customer: CustomerId,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let (now, mut found) = (self.now, false);
        for ActiveSubscriptions { customer_id, entries, .. } in
            self.active_subscriptions(&[customer]).await?
        {
            let subjects = self.subjects(customer_id, entries, 1).await?;
            found |= subjects.iter().any(|subject| subject.next(now, until).is_some());
        }
        Ok(found)
    }

    /// Reads what may have transitions: the subscriptions of a customer, and its ledgers.
    async fn subjects(
        &mut self,
        customer_id: CustomerId,
        entries: Vec<SubscriptionEntry>,
        most: usize,
    ) -> Result<Vec<Subject>, Error> {
        let mut subjects = Vec::new();
        for entry in entries {
            let subscriber = Subscriber::new(self, entry, most).await?;
            subjects.push(Subject::Subscriber(Box::new(subscriber)));
        }
        let ledgers = self.expired_ledgers(customer_id).await?;
        subjects.extend(ledgers.into_iter().map(|ledger| Subject::Ledger(Box::new(ledger))));
        Ok(subjects)
    }
}

/// Applies the first transitions of some subjects, one after the other.
async fn apply_first(
    tx: &mut Transaction<'_>,
    subjects: &mut [Subject],
    most: usize,
    until: Timestamp,
) -> Result<(), Error> {
    let now = tx.now;
    let all = subjects.iter().enumerate();
    let mut next: BTreeSet<_> =
        all.filter_map(|(index, subject)| Some((subject.next(now, until)?, index))).collect();
    for _ in 0..most {
        let Some((transition, index)) = next.pop_first() else { break };
        let Some(subject) = subjects.get_mut(index) else { break };
        subject.apply_transition(tx, transition).await?;
        next.extend(subject.next(now, until).map(|transition| (transition, index)));
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
                    tx.save_subscription(&entry)?;
                }
                entries.push(entry);
            }
            Subject::Ledger(ledger) => ledgers.push(*ledger),
        }
    }
    tx.save_ledgers(customer_id, ledgers.iter()).await?;
    tx.save_active(customer_id, &entries).await
}
