//! Configuration of an account: operations.

use std::sync::Arc;

use crate::{
    Error,
    account::{AccountEntry, Configuration, DueDateRecalculation},
    engine::{
        kernel::{Account, Call, Op, Stop, Transaction, boxed},
        rows,
        time::due_dates,
    },
    webhook::Body,
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
            Op::new("configure", configuration, |tx, configuration| configure(tx, configuration)),
        )
    }

    /// Begins to recalculate the due dates of what is issued, of all customers (invoicing 5.2): where the
    /// [day that they are counted from](Configuration::due_date_basis) has changed, those that follow from
    /// net terms move, and a first attempt to collect an invoice with them. Dates that were chosen for an
    /// invoice stay. [`tick`](crate::Billing::tick) does it, customer by customer.
    ///
    /// One that is under way is canceled first.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, account::{Configuration, DueDateBasis}, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let account = billing.account(AccountId::parse("acme")?);
    /// let mut configuration = account.configuration().await?;
    /// configuration.due_date_basis = DueDateBasis::IssueDate;
    /// account.configure(configuration).await?;
    /// account.recalculate_due_dates().await?;
    /// while billing.tick(100).await?.more {}
    /// assert_eq!(account.due_date_recalculation().await?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn recalculate_due_dates(&self) -> Call<DueDateRecalculation> {
        Call::new(self, Op::new("recalculate_due_dates", (), |tx, ()| recalculate(tx)))
    }

    /// Cancels the recalculation of due dates that is under way (invoicing 5.2): those that have moved stay
    /// where they are.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where none is.
    pub fn cancel_due_date_recalculation(&self) -> Call<()> {
        Call::new(
            self,
            Op::new("cancel_due_date_recalculation", (), |tx, ()| cancel_recalculation(tx)),
        )
    }

    /// Returns the recalculation of due dates that is under way.
    pub async fn due_date_recalculation(&self) -> Result<Option<DueDateRecalculation>, Error> {
        Ok(rows::account::account_entry(&mut self.reading()).await?.recalculation)
    }

    /// Returns the configuration of the account.
    pub async fn configuration(&self) -> Result<Configuration, Error> {
        Ok(rows::account::account_entry(&mut self.reading()).await?.configuration.clone())
    }
}

#[boxed]
async fn configure(
    tx: &mut Transaction<'_>,
    configuration: &Configuration,
) -> Result<Configuration, Stop> {
    configuration.check()?;
    let before = rows::account::account_entry(tx).await?;
    let after = AccountEntry::clone(&before).configure(configuration.clone(), tx.now);
    rows::account::save(tx, &after).await?;
    Ok(after.configuration)
}

#[boxed]
async fn recalculate(tx: &mut Transaction<'_>) -> Result<DueDateRecalculation, Stop> {
    let mut entry = Arc::unwrap_or_clone(rows::account::account_entry(tx).await?);
    cancel(tx, &mut entry).await?;
    let recalculation = due_dates::start(tx, &mut entry).await?;
    rows::account::save(tx, &entry).await?;
    Ok(recalculation)
}

#[boxed]
async fn cancel_recalculation(tx: &mut Transaction<'_>) -> Result<(), Stop> {
    let mut entry = Arc::unwrap_or_clone(rows::account::account_entry(tx).await?);
    if !cancel(tx, &mut entry).await? {
        return Err(Error::constraint("no due dates are being recalculated").into());
    }
    rows::account::save(tx, &entry).await?;
    Ok(())
}

async fn cancel(tx: &mut Transaction<'_>, entry: &mut AccountEntry) -> Result<bool, Error> {
    let canceled_at = tx.now;
    let body = |started_at| Body::DueDateRecalculationCanceled { started_at, canceled_at };
    due_dates::end(tx, entry, body).await
}
