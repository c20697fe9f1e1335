//! Schedule of corrections, and what of it comes before an operation.

use std::sync::Arc;

use crate::{
    CustomerId, Error, Timestamp,
    backfill::{Backfill, Correction, Effect},
    engine::{
        kernel::{Stop, Transaction},
        rows::{self, active, metrics},
    },
    schema::{self, AccountCorrection, CustomerHead, Deadline, Owner, Progress},
};

/// Says when a backfill is reflected or reverted for its customer, or for all: in place of what
/// was said before.
pub(in crate::engine) async fn schedule(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
    effect: Effect,
    at: Timestamp,
) -> Result<(), Error> {
    unschedule(tx, backfill).await?;
    let correction = Correction { at, backfill_id: backfill.id, effect };
    if at <= tx.now {
        tx.make_due(Owner::Backfill(backfill.id));
    }
    if let Some(customer_id) = backfill.customer_id {
        let mut corrections = rows::corrections::own(tx, customer_id).await?;
        corrections.scheduled.push(correction);
        corrections.scheduled.sort();
        rows::corrections::put_own(tx, customer_id, &corrections).await?;
        return active::reschedule(tx, customer_id).await;
    }
    let mut all = Arc::unwrap_or_clone(rows::corrections::of_all(tx).await?);
    all.corrections.push(AccountCorrection { correction, has_begun: false });
    all.corrections.sort_by_key(|of| of.correction);
    rows::corrections::put_of_all(tx, &all).await?;
    let (account, owner) = (tx.account.clone(), Owner::Backfill(backfill.id));
    let deadline = Deadline { at, account, owner, cursor: None };
    tx.put(&schema::deadline(at, tx.account, owner), &deadline)
}

/// Takes back when a backfill was to be reflected or reverted.
pub(in crate::engine) async fn unschedule(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
) -> Result<(), Error> {
    let is_other = |correction: &Correction| correction.backfill_id != backfill.id;
    if let Some(customer_id) = backfill.customer_id {
        let mut corrections = rows::corrections::own(tx, customer_id).await?;
        corrections.scheduled.retain(is_other);
        rows::corrections::put_own(tx, customer_id, &corrections).await?;
        return active::reschedule(tx, customer_id).await;
    }
    let mut all = Arc::unwrap_or_clone(rows::corrections::of_all(tx).await?);
    let (gone, rest) = all.corrections.into_iter().partition(|of| !is_other(&of.correction));
    all.corrections = rest;
    rows::corrections::put_of_all(tx, &all).await?;
    let gone: Vec<AccountCorrection> = gone;
    for AccountCorrection { correction, .. } in gone {
        let owner = Owner::Backfill(backfill.id);
        tx.delete(&schema::deadline(correction.at, tx.account, owner));
    }
    Ok(())
}

/// Makes sure that the corrections of a backfill up to now are done, for all of its customers: that comes first.
pub(in crate::engine) async fn current_backfill(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
) -> Result<(), Stop> {
    let now = tx.now;
    let is_own = |correction: &Correction| correction.backfill_id == backfill.id;
    if let Some(customer_id) = backfill.customer_id {
        let corrections = rows::corrections::own(tx, customer_id).await?;
        let is_under_way = corrections.progress.as_ref().is_some_and(Progress::is_correcting);
        let mut scheduled = corrections.scheduled.iter().filter(|of| is_own(of));
        return match scheduled.any(|of| is_under_way || of.at <= now) {
            true => Err(Stop::First(vec![Owner::Customer(customer_id)])),
            false => Ok(()),
        };
    }
    let all = rows::corrections::of_all(tx).await?;
    let mut scheduled = all.corrections.iter().filter(|of| is_own(&of.correction));
    match scheduled.any(|of| of.has_begun || of.correction.at <= now) {
        true => Err(Stop::First(vec![Owner::Backfill(backfill.id)])),
        false => Ok(()),
    }
}

/// Tells whether something comes first, before anybody writes for a customer.
pub(in crate::engine) async fn has_transitions(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    head: &CustomerHead,
) -> Result<bool, Error> {
    if head.deadline.is_some_and(|deadline| deadline <= tx.now) {
        return Ok(true);
    }
    Ok(is_unmeasured(tx, head).await? || next_of_all(tx, customer).await?.is_some())
}

/// Notes for a customer that is about to get its first event that nothing of it is corrected by what
/// is due for all: what comes now comes after.
pub(in crate::engine) async fn begin_customer(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<(), Error> {
    while let Some(correction) = next_of_all(tx, customer).await? {
        begin_of_all(tx, correction).await?;
        end_correction(tx, customer, correction).await?;
    }
    Ok(())
}

/// Tells whether the events of a customer are to be measured by more than they were.
pub(in crate::engine) async fn is_unmeasured(
    tx: &mut Transaction<'_>,
    head: &CustomerHead,
) -> Result<bool, Error> {
    if head.accepted == 0 && !head.counts_others {
        return Ok(false);
    }
    Ok(head.measured < metrics::catalogue(tx).await?.revision)
}

/// Returns the first correction of all customers that is due, and not done for one.
pub(super) async fn next_of_all(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Option<Correction>, Error> {
    let now = tx.now;
    let all = rows::corrections::of_all(tx).await?;
    let begun = all.corrections.iter().filter(|of| of.has_begun || of.correction.at <= now);
    let begun: Vec<_> = begun.map(|of| of.correction).collect();
    if begun.is_empty() {
        return Ok(None);
    }
    let done = rows::corrections::own(tx, customer).await?.done;
    Ok(begun.into_iter().find(|of| !done.contains(of)))
}

/// Notes that a correction of all customers has begun, with the first of them: from then on it is
/// due, whatever the time is elsewhere, and its backfill takes no more. Tells whether it had not.
pub(super) async fn begin_of_all(
    tx: &mut Transaction<'_>,
    begun: Correction,
) -> Result<bool, Error> {
    let mut all = Arc::unwrap_or_clone(rows::corrections::of_all(tx).await?);
    let own = all.corrections.iter_mut().find(|of| of.correction == begun);
    let begins = own.is_some_and(|own| !std::mem::replace(&mut own.has_begun, true));
    if begins {
        rows::corrections::put_of_all(tx, &all).await?;
    }
    Ok(begins)
}

/// Notes that a correction is done for a customer.
pub(super) async fn end_correction(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    done: Correction,
) -> Result<(), Error> {
    let mut corrections = rows::corrections::own(tx, customer).await?;
    let all = rows::corrections::of_all(tx).await?;
    let all: Vec<_> = all.corrections.iter().map(|of| of.correction).collect();
    corrections.scheduled.retain(|of| *of != done);
    corrections.done.push(done);
    corrections.done.retain(|of| all.contains(of));
    rows::corrections::put_own(tx, customer, &corrections).await
}

/// What comes next for a customer: its events are measured before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Measuring,
    Correction(Correction),
}

/// Returns what comes next for a customer, of what is due or under way.
pub(super) async fn next_due(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Option<Due>, Error> {
    let corrections = rows::corrections::own(tx, customer).await?;
    if let Some(progress) = &corrections.progress {
        return Ok(Some(progress.correction().map_or(Due::Measuring, Due::Correction)));
    }
    let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
    if is_unmeasured(tx, &head).await? {
        return Ok(Some(Due::Measuring));
    }
    let own = corrections.scheduled.first().copied().filter(|of| of.at <= tx.now);
    let of_all = next_of_all(tx, customer).await?;
    Ok(own.into_iter().chain(of_all).min().map(Due::Correction))
}

/// Tells whether a customer is to be corrected now, or is being.
pub(in crate::engine) async fn is_to_be_corrected(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<bool, Error> {
    let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
    let corrections = rows::corrections::own(tx, customer).await?;
    let is_own_scheduled = corrections.scheduled.first().is_some_and(|of| of.at <= tx.now);
    Ok(corrections.progress.is_some()
        || is_own_scheduled
        || corrections.of_others.values().any(|at| *at <= tx.now)
        || is_unmeasured(tx, &head).await?
        || next_of_all(tx, customer).await?.is_some())
}
