//! What time brings the credits of a customer: blocks that expire, and top-ups that begin to watch.

use super::transition::{Transition, TransitionKind};
use crate::{
    CustomerId, Error, PricingUnit, Timestamp,
    alert::Cause,
    engine::{
        kernel::Transaction,
        rows::{
            account,
            ledgers::{self, OpenLedger},
            top_ups,
        },
        time::balances,
    },
    schema::{self, CreditsIn, CustomerHead},
};

/// The credits of a customer. No ledger is kept open from one transition to the next: an invoice that is
/// paid in between may move it.
pub(super) struct Keeper {
    customer_id: CustomerId,
    next: Option<(Transition, PricingUnit)>,
}

impl Keeper {
    pub(super) async fn new(
        tx: &mut Transaction<'_>,
        customer_id: CustomerId,
    ) -> Result<Self, Error> {
        let mut keeper = Self { customer_id, next: None };
        keeper.look(tx).await?;
        Ok(keeper)
    }

    /// Looks for what comes first.
    pub(super) async fn look(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let guard = tx.guard::<CustomerHead>(self.customer_id).await?;
        let credits = guard.get(tx, &schema::credits(tx.account, self.customer_id)).await?;
        self.next = None;
        let now = tx.now;
        let units = credits.into_iter().flat_map(|credits| credits.units);
        let due = units.filter(|(_, of)| of.next().is_some_and(|at| at <= now));
        for (unit, of) in due.collect::<Vec<_>>() {
            let found = self.first(tx, &unit, &of).await?.map(|transition| (transition, unit));
            self.next = self.next.take().into_iter().chain(found).min();
        }
        Ok(())
    }

    async fn first(
        &self,
        tx: &mut Transaction<'_>,
        unit: &PricingUnit,
        of: &CreditsIn,
    ) -> Result<Option<Transition>, Error> {
        let begins = of.top_up_from.map(|at| Transition { at, kind: TransitionKind::ToppedUp });
        let expiry = match of.next_expiry {
            Some(_) => {
                ledgers::ledger(tx, self.customer_id, unit).await?.and_then(|of| expiry(&of))
            }
            None => None,
        };
        Ok(begins.into_iter().chain(expiry).min())
    }

    pub(super) fn next(&self, now: Timestamp, until: Timestamp) -> Option<Transition> {
        let next = self.next.as_ref().map(|(transition, _)| *transition);
        next.filter(|transition| transition.at <= now.min(until))
    }

    /// Applies what comes first, and saves the ledger.
    pub(super) async fn apply_transition(&mut self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let Some((Transition { at, kind }, unit)) = self.next.take() else { return Ok(()) };
        let mut ledger = ledgers::ledger_or_new(tx, self.customer_id, &unit).await?;
        // What is configured at this instant comes after what the instant brings.
        ledger.has_alerts = account::had_alerts_until(tx, at).await?;
        if let TransitionKind::Expired(block_id) = kind {
            let before = ledger.book.balance().cloned();
            ledger.book.expire(block_id);
            balances::judge_at(tx, &mut ledger, before, &Cause::Expiry { block_id }, at).await?;
        } else {
            top_ups::begin(tx, self.customer_id, &unit).await?;
            balances::top_up(tx, &mut ledger, at).await?;
        }
        ledgers::save_ledgers(tx, self.customer_id, std::iter::once(&ledger)).await
    }
}

/// Returns the block of a ledger that expires first.
fn expiry(ledger: &OpenLedger) -> Option<Transition> {
    let next = ledger.book.next_expiry()?;
    let (at, id) = ledger.book.expiring(next).into_iter().next()?;
    Some(Transition { at, kind: TransitionKind::Expired(id) })
}
