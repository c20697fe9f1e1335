//! Previews: they run an operation and drop its commit (`docs/decisions/previews-run-the-operation.md`).

mod period;
mod price;
mod rehearsal;
mod report;

use std::pin::Pin;

use self::rehearsal::Rehearsal;
pub use self::{
    period::{PeriodChange, UsageChange},
    price::CostChange,
    report::{BalanceChange, Preview, PreviewedMessage},
};
use crate::{
    Error, ErrorKind,
    engine::{
        Account, Call,
        kernel::{Command, Open, Transaction, Work, boxed},
        rows,
    },
    limits,
};

impl<T: Send + 'static> Call<T> {
    /// Runs the operation without writing anything, and returns its effects: the answer, the alerts
    /// that would fire, and the balances that would move.
    ///
    /// An alert on a plan is judged for each subscription of its version.
    ///
    /// # Errors
    ///
    /// Errors of the operation;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no
    /// previews; [`TooManyResults`](crate::ErrorKind::TooManyResults) where the alert is on a plan
    /// with 1,000 subscriptions or more, or more transitions wait for the customer than one commit
    /// applies, or a backfill concerns 1,000 customers or more, or days with more than 100,000 events;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where a backfill for all
    /// customers is to be reflected or reverted first.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Decimal, Email, Name, PricingUnit, store::MemoryStore};
    /// # use accrue::{credit::NewLedgerEntry, customer::NewCustomer};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let credits = PricingUnit::parse("credits")?;
    /// let five = NewLedgerEntry::increment(credits.clone(), Decimal::from(5));
    /// let preview = account.create_ledger_entry(ada.id, five).preview().await?;
    /// assert_eq!(preview.balances[0].after, Decimal::from(5));
    /// assert_eq!(account.credit_balance(ada.id, &credits).await?.balance, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn preview(self) -> Result<Preview<T>, Error> {
        let (account, request) = self.into_parts();
        preview(&account, &*request).await
    }

    /// Runs the operation without writing anything, and returns what it would answer (subscriptions 0.4). Ids in it are
    /// made up. [`preview`](Self::preview) also tells what else would come of it.
    ///
    /// # Errors
    ///
    /// Errors of the operation; [`TooManyResults`](crate::ErrorKind::TooManyResults) where more transitions wait for
    /// the customer than one commit applies;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where a backfill for all customers is to be
    /// reflected or reverted first.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, PageRequest, store::MemoryStore};
    /// # use accrue::{ListFilter, customer::NewCustomer};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// let created = account.create_customer(ada).dry_run().await?;
    /// assert_eq!(created.name.as_str(), "Ada");
    /// let page = PageRequest::default();
    /// assert!(account.list_customers(&ListFilter::default(), &page).await?.data.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn dry_run(self) -> Result<T, Error> {
        let (account, request) = self.into_parts();
        let mut work = Open::new(&*request);
        rehearse(&account, &mut work, |tx, work| {
            Box::pin(async move { Rehearsal::default().apply_and_run(tx, work).await })
        })
        .await?;
        work.outcome()
    }
}

/// Rehearses an operation, and returns the effects that it would have.
async fn preview<C: Command + ?Sized>(
    account: &Account,
    command: &C,
) -> Result<Preview<C::Outcome>, Error> {
    let mut work = Open::new(command);
    let Preview { answer: (), messages, balances, periods } = effects(account, &mut work).await?;
    Ok(Preview { answer: work.outcome()?, messages, balances, periods })
}

/// Rehearses work, and returns the effects that it would have beside its answer.
#[boxed]
async fn effects(account: &Account, work: &mut dyn Work) -> Result<Preview<()>, Error> {
    rehearse(account, work, |tx, work| {
        Box::pin(async move {
            let features = rows::account::account_entry(tx).await?.configuration.features;
            match features.previews {
                true => Rehearsal::default().run(tx, work).await,
                false => Err(Error::feature("previews are not available to this account")),
            }
        })
    })
    .await
}

type Rehearsed<'t, R> = Pin<Box<dyn Future<Output = Result<R, Error>> + Send + 't>>;

/// Rehearses work in a transaction that is never committed, until all that it has read was so at one instant.
async fn rehearse<R>(
    account: &Account,
    work: &mut dyn Work,
    run: for<'t, 'u> fn(&'t mut Transaction<'u>, &'t mut dyn Work) -> Rehearsed<'t, R>,
) -> Result<R, Error> {
    for _ in 0..limits::RUNS {
        let mut tx = account.reading().using_copies();
        let rehearsed = run(&mut tx, work).await;
        match tx.holds().await {
            Ok(true) => return rehearsed,
            Ok(false) => {}
            // What was applied for it would have been many commits.
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {
                return Err(Error::too_many("too much would have to be looked at for a preview"));
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::contended())
}
