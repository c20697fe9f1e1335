use super::{
    due::{Due, What},
    subscriber::Subscriber,
};
use crate::{
    CustomerId, Error, PricingUnit, Timestamp,
    alert::Cause,
    engine::{ledgers::OpenLedger, transaction::Transaction},
    schema,
};

/// Whom time owes something: a subscription, or a ledger.
pub(super) enum Debtor {
    Subscriber(Box<Subscriber>),
    Ledger(Box<OpenLedger>),
}

impl Debtor {
    /// Returns what came due first, and no later than an instant.
    pub(super) fn next(&self, now: Timestamp, until: Timestamp) -> Option<Due> {
        match self {
            Self::Subscriber(subscriber) => subscriber.next(now, until),
            Self::Ledger(ledger) => next_expiry(ledger, now.min(until)),
        }
    }

    /// Settles what came due first.
    pub(super) async fn settle(&mut self, tx: &mut Transaction<'_>, due: Due) -> Result<(), Error> {
        match self {
            Self::Subscriber(subscriber) => subscriber.settle(tx, due).await,
            Self::Ledger(ledger) => expire(tx, ledger, due).await,
        }
    }
}

fn next_expiry(ledger: &OpenLedger, now: Timestamp) -> Option<Due> {
    let next = ledger.book.next_expiry().filter(|at| *at <= now)?;
    let (at, id) = ledger.book.expiring(next).into_iter().next()?;
    Some(Due { at, what: What::Expired(id) })
}

async fn expire(tx: &mut Transaction<'_>, ledger: &mut OpenLedger, due: Due) -> Result<(), Error> {
    let What::Expired(block_id) = due.what else { return Ok(()) };
    let before = ledger.book.balance().cloned();
    ledger.book.expire(block_id);
    let fires = tx.had_alerts_until(due.at).await?;
    let cause = Cause::Expiry { block_id };
    tx.judge_balance_at(ledger, before, &cause, due.at, fires).await
}

impl Transaction<'_> {
    /// Reads the ledgers of a customer of which blocks have expired.
    pub(super) async fn expired_ledgers(
        &mut self,
        customer: CustomerId,
    ) -> Result<Vec<OpenLedger>, Error> {
        let credits = self.get(&schema::credits(self.account, customer)).await?;
        let now = self.now;
        let mut ledgers = Vec::new();
        for (currency, of) in credits.into_iter().flat_map(|credits| credits.units) {
            if of.next_expiry.is_some_and(|at| at <= now)
                && let Some(ledger) = self.ledger(customer, &currency).await?
            {
                ledgers.push(ledger);
            }
        }
        Ok(ledgers)
    }

    /// Settles a ledger of a customer, and nothing else that time owes it: what a read that writes
    /// nothing begins with.
    pub(in crate::engine) async fn settle_ledger(
        &mut self,
        customer: CustomerId,
        currency: &PricingUnit,
    ) -> Result<(), Error> {
        let credits = self.get(&schema::credits(self.account, customer)).await?;
        let of = credits.and_then(|mut credits| credits.units.remove(currency));
        if of.and_then(|of| of.next_expiry).is_none_or(|at| at > self.now) {
            return Ok(());
        }
        let Some(mut ledger) = self.ledger(customer, currency).await? else { return Ok(()) };
        while let Some(due) = next_expiry(&ledger, self.now) {
            expire(self, &mut ledger, due).await?;
        }
        self.save_ledgers(customer, std::iter::once(&ledger)).await
    }
}
