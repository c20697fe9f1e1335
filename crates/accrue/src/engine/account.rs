//! The handle on one account, and what it configures.

use super::kernel::{Account, Call, Op, Stop, Transaction};
use crate::{
    Error, Timestamp,
    account::{AccountEntry, Configuration},
    limits, schema,
};

impl Account {
    /// Sets what the account configures.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the grace period is longer
    /// than 28 days, or backfills are to have no days or more than 366.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Zone, account::Configuration, store::MemoryStore};
    /// # pollster::block_on(async {
    /// let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let mut configuration = Configuration::default();
    /// configuration.timezone = Zone::parse("Europe/Berlin")?;
    /// account.configure(configuration).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn configure(&self, configuration: Configuration) -> Call<Configuration> {
        Call::new(
            self,
            Op::new("configure", configuration, |tx, configuration| {
                Box::pin(configure(tx, configuration))
            }),
        )
    }

    /// Returns what the account configures.
    pub async fn configuration(&self) -> Result<Configuration, Error> {
        self.reading().configuration().await
    }
}

impl Transaction<'_> {
    /// Returns what the account configures.
    pub(super) async fn configuration(&mut self) -> Result<Configuration, Error> {
        Ok(self.account_entry().await?.configuration)
    }

    /// Tells whether the account had alerts at an instant.
    pub(super) async fn had_alerts(&mut self, at: Timestamp) -> Result<bool, Error> {
        Ok(self.account_entry().await?.had_alerts(at))
    }

    /// Tells whether the account had alerts when an instant came.
    pub(super) async fn had_alerts_until(&mut self, at: Timestamp) -> Result<bool, Error> {
        Ok(self.account_entry().await?.had_alerts_until(at))
    }

    async fn account_entry(&mut self) -> Result<AccountEntry, Error> {
        Ok(self.get(&schema::account(self.account)).await?.unwrap_or_default())
    }

    /// Returns the oldest instant at which an event may still be taken, whatever grace period the
    /// account will choose.
    pub(super) fn oldest_open(&self) -> Timestamp {
        const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
        let longest = u32::try_from(limits::GRACE_DAYS).unwrap_or(u32::MAX);
        self.now.saturating_sub(DAY.saturating_mul(longest))
    }

    /// Returns the oldest instant at which an event is still taken.
    pub(super) async fn oldest_taken(&mut self) -> Result<Timestamp, Error> {
        Ok(self.now.saturating_sub(self.configuration().await?.grace_period))
    }
}

async fn configure(
    tx: &mut Transaction<'_>,
    configuration: &Configuration,
) -> Result<Configuration, Stop> {
    configuration.check()?;
    let before = tx.account_entry().await?;
    let after = before.configure(configuration.clone(), tx.now);
    tx.put(&schema::account(tx.account), &after)?;
    Ok(configuration.clone())
}
