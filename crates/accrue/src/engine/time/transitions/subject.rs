//! What has transitions: a subscription, or a ledger.

use super::{
    subscriber::Subscriber,
    transition::{Transition, TransitionKind},
};
use crate::{
    CustomerId, Error, PricingUnit, Timestamp,
    alert::Cause,
    engine::{
        kernel::Transaction,
        rows::{
            self,
            ledgers::{self, OpenLedger},
        },
    },
    schema::{self, CustomerHead},
};

/// What has transitions: a subscription, or a ledger.
pub(super) enum Subject {
    Subscriber(Box<Subscriber>),
    Ledger(Box<OpenLedger>),
}

impl Subject {
    /// Returns the first transition, no later than an instant.
    pub(super) fn next(&self, now: Timestamp, until: Timestamp) -> Option<Transition> {
        match self {
            Self::Subscriber(subscriber) => subscriber.next(now, until),
            Self::Ledger(ledger) => next_expiry(ledger, now.min(until)),
        }
    }

    /// Applies the first transition.
    pub(super) async fn apply_transition(
        &mut self,
        tx: &mut Transaction<'_>,
        transition: Transition,
    ) -> Result<(), Error> {
        match self {
            Self::Subscriber(subscriber) => subscriber.apply_transition(tx, transition).await,
            Self::Ledger(ledger) => expire(tx, ledger, transition).await,
        }
    }
}

fn next_expiry(ledger: &OpenLedger, now: Timestamp) -> Option<Transition> {
    let next = ledger.book.next_expiry().filter(|at| *at <= now)?;
    let (at, id) = ledger.book.expiring(next).into_iter().next()?;
    Some(Transition { at, kind: TransitionKind::Expired(id) })
}

async fn expire(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    transition: Transition,
) -> Result<(), Error> {
    let TransitionKind::Expired(block_id) = transition.kind else { return Ok(()) };
    let before = ledger.book.balance().cloned();
    ledger.book.expire(block_id);
    let fires = rows::account::had_alerts_until(tx, transition.at).await?;
    let cause = Cause::Expiry { block_id };
    ledgers::judge_balance_at(tx, ledger, before, &cause, transition.at, fires).await
}

/// Reads the ledgers of a customer of which blocks have expired.
pub(super) async fn expired_ledgers(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Vec<OpenLedger>, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer)).await?;
    let now = tx.now;
    let mut ledgers = Vec::new();
    for (currency, of) in credits.into_iter().flat_map(|credits| credits.units) {
        if of.next_expiry.is_some_and(|at| at <= now)
            && let Some(ledger) = ledgers::ledger(tx, customer, &currency).await?
        {
            ledgers.push(ledger);
        }
    }
    Ok(ledgers)
}

/// Expires the blocks of a ledger, and applies no other transition: what a read that writes nothing
/// begins with.
pub(in crate::engine) async fn expire_ledger(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    currency: &PricingUnit,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer)).await?;
    let of = credits.and_then(|mut credits| credits.units.remove(currency));
    if of.and_then(|of| of.next_expiry).is_none_or(|at| at > tx.now) {
        return Ok(());
    }
    let Some(mut ledger) = ledgers::ledger(tx, customer, currency).await? else { return Ok(()) };
    while let Some(transition) = next_expiry(&ledger, tx.now) {
        expire(tx, &mut ledger, transition).await?;
    }
    ledgers::save_ledgers(tx, customer, std::iter::once(&ledger)).await
}
