//! The balance of a customer: its transactions.

use crate::{
    CustomerId, Error, IdOr, ListFilter, Page, PageRequest,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{
            self,
            invoices::{self, Books},
            lists::Walk,
            outbox,
        },
        time::current,
    },
    invoice::{BalanceTransaction, Movement, NewBalanceTransaction},
    page::{Listing, Position},
    schema::{self, Index},
    webhook::Body,
};

impl Account {
    /// Moves the balance of a customer by hand (invoicing 12.2): a decrement may take it below zero.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the amount is not above zero, or
    /// has more digits than the customer's currency;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the customer has no currency.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, store::MemoryStore};
    /// # use accrue::customer::NewCustomer;
    /// use accrue::invoice::{BalanceDirection, NewBalanceTransaction};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let mut ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// ada.currency = Some(Currency::parse("USD")?);
    /// let ada = account.create_customer(ada).await?;
    /// let goodwill = NewBalanceTransaction {
    ///     amount: Decimal::parse("12.50")?,
    ///     direction: BalanceDirection::Increment,
    ///     description: None,
    /// };
    /// account.create_balance_transaction(ada.id, goodwill).await?;
    /// assert_eq!(account.fetch_customer(ada.id).await?.balance, Decimal::parse("12.5")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_balance_transaction(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewBalanceTransaction,
    ) -> Call<BalanceTransaction> {
        Call::new(
            self,
            Op::new("create_balance_transaction", (customer.into(), new), |tx, (customer, new)| {
                create(tx, customer, new)
            }),
        )
    }

    /// Lists the transactions of a customer's balance, newest first (invoicing 12.2).
    pub async fn list_balance_transactions(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<BalanceTransaction>, Error> {
        let customer = rows::customers::customer(&mut self.reading(), &customer.into()).await?;
        let index = Index::balance_transactions(self.id(), customer.id);
        let filter_text = format!("{} {filter:?}", customer.id);
        let listing =
            Listing { name: "balance_transactions", account: self.id(), filter: filter_text };
        let mut walk = Walk::new(listing, &index, filter.created, page)?;
        let slot = |at: &Position| {
            schema::balance_transaction(self.id(), customer.id, schema::number_at(at))
        };
        walk.run(&mut self.reading(), slot, Some).await
    }
}

#[boxed]
async fn create(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: &NewBalanceTransaction,
) -> Result<BalanceTransaction, Stop> {
    let customer = rows::customers::customer(tx, customer).await?;
    current::current_head(tx, customer.id).await?;
    let currency =
        customer.currency.ok_or_else(|| Error::constraint("the customer has no currency yet"))?;
    let movement = new.clone().decide(currency)?;
    customer.check_balance_counts()?;
    Ok(book(tx, customer.id, movement).await?)
}

/// Moves the balance of a customer, and tells of it.
pub(super) async fn book(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    movement: Movement,
) -> Result<BalanceTransaction, Error> {
    let mut books = invoices::books(tx, customer).await?;
    let Books { entry, receivables } = &mut books;
    let id = invoices::transaction_id(tx);
    let made = receivables.book(&mut entry.customer, id, movement, tx.now);
    invoices::save_books(tx, &books, Some(&made)).await?;
    let body = Body::BalanceTransactionCreated { transaction: Box::new(made.clone()) };
    outbox::tell(tx, customer, tx.now, body).await?;
    Ok(made)
}
