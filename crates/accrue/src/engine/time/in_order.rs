//! Does what time has brought customers in its order: each correction behind the transitions up to it, and then
//! the rest of those.

use crate::{
    AccountId, CustomerId, Error, ErrorKind, Timestamp,
    engine::{
        kernel::{Patience, Shared, apply_step},
        time::{
            corrections::{Step, Stepped},
            transitions::ApplyTransitions,
        },
    },
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

/// Takes all steps of the corrections of a customer up to now, in commits of its own, as far as
/// somebody's patience goes.
pub(in crate::engine) async fn correct(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
    patience: &mut Patience,
) -> Result<(), Error> {
    loop {
        match apply_step(shared, account, &Step { customer }).await? {
            Stepped::On { work } => patience.take(work)?,
            Stepped::First(first, until) => {
                Box::pin(apply_until(shared, account, first, until)).await?;
            }
            Stepped::Other(other) => Box::pin(correct(shared, account, other, patience)).await?,
            Stepped::Done => return Ok(()),
        }
    }
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
    apply_step(shared, account, &ApplyTransitions { customers, most, until }).await
}
