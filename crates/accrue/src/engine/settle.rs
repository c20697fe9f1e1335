mod due;

use async_trait::async_trait;

use self::due::Debtor;
use super::{
    apply::{Applied, Command, Open, apply},
    billing::Shared,
    rosters::Enrolled,
    unit::{Stop, Unit},
};
use crate::{AccountId, CustomerId, Error, ErrorKind, IdOr, schema};

/// How many customers one commit settles.
const CUSTOMERS_TOGETHER: usize = 32;

/// How many changes to a plan's alerts, and how many turns of its billing periods, one commit settles
/// for one subscription.
const MANY: u64 = 64;

/// How many, where those of all subscriptions do not fit: a customer can have a thousand of them.
const FEW: u64 = 8;

/// Does what time owes some customers, in commits of its own.
pub(super) async fn settle(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
) -> Result<(), Error> {
    for customers in customers.chunks(CUSTOMERS_TOGETHER) {
        match settle_together(shared, account, customers, MANY).await {
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
                for customer in customers {
                    settle_alone(shared, account, *customer).await?;
                }
            }
            settled => settled?,
        }
    }
    Ok(())
}

/// Settles a customer to whom more is owed than fits one commit: so much of it as fits.
async fn settle_alone(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
) -> Result<(), Error> {
    match settle_together(shared, account, &[customer], FEW).await {
        Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
            settle_together(shared, account, &[customer], 1).await
        }
        settled => settled,
    }
}

async fn settle_together(
    shared: &Shared,
    account: &AccountId,
    customers: &[CustomerId],
    most: u64,
) -> Result<(), Error> {
    match apply(shared, account, &Settle { customers, most }, &Open).await? {
        Applied::Done(settled) => settled,
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
    /// How many changes to a plan's alerts, and how many turns, are settled for one subscription:
    /// more come next time.
    pub(super) most: u64,
}

#[async_trait]
impl Command for Settle<'_> {
    type Outcome = ();

    async fn run(&self, unit: &mut Unit<'_>) -> Result<(), Stop> {
        let named: Vec<_> = self.customers.iter().map(|id| IdOr::Id(*id)).collect();
        unit.lock(&named).await?;
        let enrolled = unit.enrolled(self.customers).await?;
        unit.fetch_plan_rosters(&enrolled).await?;
        for Enrolled { customer_id, enrolments, .. } in enrolled {
            let (mut debtors, mut all) = (Vec::with_capacity(enrolments.len()), Vec::new());
            for (index, enrolment) in enrolments.into_iter().enumerate() {
                let (debtor, due) = Debtor::new(unit, enrolment, self.most).await?;
                all.extend(due.into_iter().map(|(at, due)| (at, index, due)));
                debtors.push(debtor);
            }
            all.sort_by_key(|(at, index, _)| (*at, *index));
            for (at, index, due) in all {
                if let Some(debtor) = debtors.get_mut(index) {
                    debtor.settle(unit, at, due).await?;
                }
            }
            let enrolments: Vec<_> = debtors.into_iter().map(|debtor| debtor.enrolment).collect();
            for enrolment in &enrolments {
                let id = enrolment.subscription.id;
                unit.put(&schema::subscription(unit.account, id), enrolment)?;
            }
            unit.save_roster(customer_id, &enrolments).await?;
        }
        Ok(())
    }
}
