use std::{sync::Arc, time::Duration};

use accrue::{Billing, Error, Timestamp};
use tokio::{task::yield_now, time::timeout};

use crate::{Chain, Stopped, clock::ClockWatch, providers::Providers};

/// How many owners of something due one call applies it for, and how many keys another removes.
const AT_ONCE: usize = 100;
/// How long to wait at most, since a request may have brought an earlier deadline.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a payment waits at most for the gateway to be asked, when a clock is moved far.
const STEP: Duration = Duration::from_secs(60 * 60);

/// What a server does beside requests: what time makes due, and payments and taxes where it has who provides for them.
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Upkeep {
    billing: Billing,
    providers: Option<Arc<Providers>>,
}

impl Upkeep {
    pub(crate) fn new(billing: Billing) -> Self {
        Self { billing, providers: None }
    }

    pub(crate) const fn providing(billing: Billing, providers: Option<Arc<Providers>>) -> Self {
        Self { billing, providers }
    }

    pub(crate) const fn billing(&self) -> &Billing {
        &self.billing
    }

    /// Does what time makes due, until the server is asked to stop.
    ///
    /// No answer depends on it: messages would wait, and the store would keep what nobody needs. It logs
    /// besides that the clock was set back, while the present instant of the engine is ahead of it.
    pub async fn keep_up(self, stopped: Stopped) {
        let mut clock = ClockWatch::default();
        loop {
            clock.look(&self.billing);
            let wait = match self.round().await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "what is due waits");
                    LONGEST_WAIT
                }
            };
            if timeout(wait, stopped.clone().wait()).await.is_ok() {
                return;
            }
        }
    }

    /// Does a round, and tells how long there is nothing to do.
    async fn round(&self) -> Result<Duration, Error> {
        let done = self.some().await?;
        if done.more {
            return Ok(Duration::ZERO);
        }
        let Some(deadline) = self.billing.next_deadline().await? else { return Ok(LONGEST_WAIT) };
        let micros = deadline.micros().saturating_sub(self.billing.now().micros());
        let until = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
        // What failed stays due, and is not tried without a pause.
        Ok(if done.failed > 0 { LONGEST_WAIT } else { until.min(LONGEST_WAIT) })
    }

    /// Does all that is due by now, of every account.
    pub(crate) async fn catch_up(&self) -> Result<(), CatchUpError> {
        loop {
            let done = self.some().await?;
            if !done.more {
                return if done.failed > 0 {
                    Err(CatchUpError::Damaged(done.failed))
                } else {
                    Ok(())
                };
            }
            // A store that never waits would keep the thread until the end.
            yield_now().await;
        }
    }

    /// Returns where a clock that is moved to an instant is to stop on its way. A payment that begins there
    /// is collected before so much time passes that it counts as failed.
    pub(crate) async fn stop_on_the_way(&self, instant: Timestamp) -> Result<Timestamp, Error> {
        let Some(providers) = &self.providers else { return Ok(instant) };
        let Some(deadline) = self.billing.next_deadline().await? else { return Ok(instant) };
        let now = self.billing.now();
        let from = if providers.waits().await? { now } else { deadline.max(now) };
        Ok(from.saturating_add(STEP).min(instant))
    }

    /// Applies some of what time has brought, calculates taxes, and collects payments and some garbage.
    async fn some(&self) -> Result<Done, Error> {
        let tick = self.billing.tick(AT_ONCE).await?;
        if tick.failed > 0 {
            tracing::error!(failed = tick.failed, "something is wrong with rows of the store");
        }
        let issued = match &self.providers {
            Some(providers) => providers.provide().await?,
            None => 0,
        };
        let collected = self.billing.collect_garbage(AT_ONCE).await?;
        // What was issued may be collected at once.
        Ok(Done { failed: tick.failed, more: tick.more || issued > 0 || collected.more })
    }
}

/// Why not all is done that is due.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatchUpError {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error("something is wrong with the rows of {0} owners of what is due")]
    Damaged(usize),
}

/// What a round has left.
struct Done {
    failed: usize,
    more: bool,
}

#[cfg(test)]
mod tests {
    use accrue::{
        AccountId, Decimal, Email, ManualClock, Name, PricingUnit, SeededEntropy, Timestamp,
        credit::NewLedgerEntry, customer::NewCustomer, store::MemoryStore,
    };

    use super::*;

    const CUSTOMERS: usize = 500;
    const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// An engine with customers of two accounts, whose credits expire within a month.
    async fn engine() -> (Billing, ManualClock) {
        let start = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        let clock = ManualClock::at(start);
        let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
        for number in 0..CUSTOMERS {
            let account = AccountId::parse(if number % 2 == 0 { "acme" } else { "other" }).unwrap();
            let account = billing.account(account);
            let (name, email) = (Name::parse("Ada").unwrap(), Email::parse("a@x.com").unwrap());
            let id = account.create_customer(NewCustomer::new(name, email)).await.unwrap().id;
            let expiry = start.saturating_add(MONTH / 2);
            let (unit, one) = (PricingUnit::parse("credits").unwrap(), Decimal::from(1));
            let entry = NewLedgerEntry::expiring(unit, one, expiry);
            account.create_ledger_entry(id, entry).await.unwrap();
        }
        (billing, clock)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn those_who_catch_up_at_once_do_not_fail_each_other() {
        let (billing, clock) = engine().await;
        clock.advance(MONTH);
        let (stop, stopped) = crate::stop();
        let upkeep = tokio::spawn(Upkeep::new(billing.clone()).keep_up(stopped));
        let all = [(); 4].map(|()| {
            let upkeep = Upkeep::new(billing.clone());
            tokio::spawn(async move { upkeep.catch_up().await })
        });
        for one in all {
            one.await.unwrap().unwrap();
            assert_eq!(billing.next_deadline().await.unwrap(), None);
        }
        stop.ask();
        upkeep.await.unwrap();
    }
}
