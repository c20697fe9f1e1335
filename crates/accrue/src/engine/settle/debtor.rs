use super::{
    due::{Due, What},
    subscriber::Subscriber,
};
use crate::{
    CustomerId, Error,
    alert::Cause,
    engine::{ledgers::OpenLedger, unit::Unit},
    schema,
    subscription::Enrolment,
};

/// Whom time owes something: a subscription, or a ledger.
pub(super) enum Debtor {
    Subscriber(Box<Subscriber>),
    Ledger(Box<OpenLedger>),
}

impl Debtor {
    pub(super) fn subscriber(enrolment: Enrolment) -> Self {
        Self::Subscriber(Box::new(Subscriber::new(enrolment)))
    }

    /// Lists what came due first, in order.
    pub(super) async fn due(&self, unit: &mut Unit<'_>, most: usize) -> Result<Vec<Due>, Error> {
        match self {
            Self::Subscriber(subscriber) => subscriber.due(unit, most).await,
            Self::Ledger(ledger) => {
                let expiring = ledger.book.expiring(unit.now).into_iter().take(most);
                Ok(expiring.map(|(at, id)| Due { at, what: What::Expired(id) }).collect())
            }
        }
    }

    /// Settles one thing that came due.
    pub(super) async fn settle(&mut self, unit: &mut Unit<'_>, due: Due) -> Result<(), Error> {
        match self {
            Self::Subscriber(subscriber) => subscriber.settle(unit, due).await,
            Self::Ledger(ledger) => expire(unit, ledger, due).await,
        }
    }
}

async fn expire(unit: &mut Unit<'_>, ledger: &mut OpenLedger, due: Due) -> Result<(), Error> {
    let What::Expired(block_id) = due.what else { return Ok(()) };
    let before = ledger.book.balance().cloned();
    ledger.book.expire(block_id);
    unit.judge_balance(ledger, before, &Cause::Expiry { block_id }, due.at).await
}

impl Unit<'_> {
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

    /// Settles the ledgers of a customer, and nothing else that time owes it: what a read that
    /// writes nothing begins with.
    pub(in crate::engine) async fn settle_ledgers(
        &mut self,
        customer: CustomerId,
    ) -> Result<(), Error> {
        let mut ledgers = self.expired_ledgers(customer).await?;
        if ledgers.is_empty() {
            return Ok(());
        }
        for ledger in &mut ledgers {
            for (at, id) in ledger.book.expiring(self.now) {
                expire(self, ledger, Due { at, what: What::Expired(id) }).await?;
            }
        }
        self.save_ledgers(customer, ledgers.iter()).await
    }
}
