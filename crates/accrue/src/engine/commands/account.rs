//! Configuration of an account: operations.

use crate::{
    Error,
    account::{AccountEntry, Configuration},
    engine::{
        kernel::{Account, Call, Op, Stop, Transaction},
        rows,
    },
    schema,
};

impl Account {
    /// Sets the configuration of the account.
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

    /// Returns the configuration of the account.
    pub async fn configuration(&self) -> Result<Configuration, Error> {
        Ok(rows::account::account_entry(&mut self.reading()).await?.configuration.clone())
    }
}

async fn configure(
    tx: &mut Transaction<'_>,
    configuration: &Configuration,
) -> Result<Configuration, Stop> {
    configuration.check()?;
    let before = rows::account::account_entry(tx).await?;
    let after = AccountEntry::clone(&before).configure(configuration.clone(), tx.now);
    let guard = rows::account::guard(tx).await?;
    guard.put(tx, &schema::account(tx.account), &after)?;
    Ok(after.configuration)
}
