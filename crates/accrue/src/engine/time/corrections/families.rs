//! Corrections of customers whose usage counts for the same subscriptions: in the order of their instants, whoever is
//! asked for first (`docs/decisions/usage-of-other-customers.md`).

use std::collections::BTreeSet;

use super::schedule::{self, Due};
use crate::{
    CustomerId, Error,
    backfill::Correction,
    engine::{
        kernel::Transaction,
        rows::{self, active, usage_customers},
    },
    schema::CustomerHead,
};

/// Finds who of a family comes before a correction of one of them; the first one.
pub(super) async fn earlier(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    correction: Correction,
) -> Result<Option<CustomerId>, Error> {
    let mut family = BTreeSet::new();
    for subscriber in usage_customers::subscribers(tx, customer).await? {
        family.insert(subscriber);
        family.extend(usage_customers::counted(tx, subscriber).await?);
    }
    let first = first_due(tx, family).await?;
    let own = (Due::Correction(correction), customer);
    Ok(first.filter(|first| *first < own).map(|(_, id)| id))
}

/// Finds a customer whose usage counts for one, and whose events are to be measured before those of the one.
pub(super) async fn unmeasured(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Option<CustomerId>, Error> {
    for other in usage_customers::counted(tx, customer).await? {
        let head = tx.guard::<CustomerHead>(other).await?.head(tx)?;
        let waits = rows::corrections::own(tx, other).await?.progress.is_some();
        if !waits && !head.counts_others && schedule::is_unmeasured(tx, &head).await? {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Finds the first of those to be corrected whose usage counts for a customer that has no correction of its own to do.
/// What its schedule says of others is what theirs say, afterwards.
pub(super) async fn first_of_others(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Option<CustomerId>, Error> {
    let now = tx.now;
    let own = rows::corrections::own(tx, customer).await?;
    let noted = own.of_others.into_iter().filter(|(_, at)| *at <= now).map(|(id, _)| id);
    let noted: Vec<_> = noted.collect();
    let counted = usage_customers::counted(tx, customer).await?;
    let first = first_due(tx, noted.iter().copied().chain(counted).collect()).await?;
    if let Some((_, id)) = first {
        return Ok(Some(id));
    }
    for id in &noted {
        let next = rows::corrections::own(tx, *id).await?.next();
        usage_customers::note_correction(tx, customer, *id, next).await?;
    }
    if !noted.is_empty() {
        active::reschedule(tx, customer).await?;
    }
    Ok(None)
}

async fn first_due(
    tx: &mut Transaction<'_>,
    customers: BTreeSet<CustomerId>,
) -> Result<Option<(Due, CustomerId)>, Error> {
    let mut first = None;
    for id in customers {
        let due = schedule::next_due(tx, id).await?.map(|due| (due, id));
        first = first.into_iter().chain(due).min();
    }
    Ok(first)
}
