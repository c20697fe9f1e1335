//! Top-ups: operations (invoicing 13.4).

use crate::{
    CustomerId, Error, IdOr, Page, PageRequest, TopUpId,
    credit::{Block, NewTopUp, TopUp, TopUpState},
    currency::Currency,
    customer::Customer,
    engine::{
        Account, Call,
        commands::credits,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{customers, ledgers, lists::page_in_order, top_ups},
        time::{balances, buying, current, purchases},
    },
    page::Listing,
    schema::{self, CustomerHead},
};

impl Account {
    /// Creates a top-up: from now on, or from an instant to come, it buys credits whenever the balance is at
    /// or below its threshold. It takes the place of an active one of the same customer and currency.
    ///
    /// ```
    /// # use accrue::{
    /// #     AccountId, Billing, Currency, Email, Name, customer::NewCustomer, store::MemoryStore,
    /// # };
    /// use accrue::{
    ///     Decimal, PricingUnit,
    ///     credit::{NewTopUp, TopUpInvoice},
    /// };
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let mut ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # ada.currency = Some(Currency::parse("USD")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let credits = PricingUnit::parse("credits")?;
    /// let (threshold, amount) = (Decimal::from(5), Decimal::from(50));
    /// let each = Decimal::parse("1.00")?.into();
    /// let new = NewTopUp::new(credits.clone(), threshold, amount, each, TopUpInvoice::default());
    /// account.create_top_up(ada.id, new).await?;
    ///
    /// let balance = account.credit_balance(ada.id, &credits).await?.balance;
    /// assert_eq!(balance, Some(Decimal::from(50)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// If a number is out of its bounds, there is no such customer, the currency is another real one than the
    /// customer's, or nothing says in which currency to invoice.
    pub fn create_top_up(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewTopUp,
    ) -> Call<TopUp> {
        Call::new(
            self,
            Op::new("create_top_up", (customer.into(), new), |tx, (customer, new)| {
                create(tx, customer, new)
            }),
        )
    }

    /// Deletes a top-up. What it has bought stays, but for a block that waits for its payment: that is gone,
    /// with its invoice.
    ///
    /// # Errors
    ///
    /// If the customer has no such active top-up, or a payment of that invoice is under way.
    pub fn delete_top_up(&self, customer: impl Into<IdOr<CustomerId>>, id: TopUpId) -> Call<()> {
        Call::new(
            self,
            Op::new("delete_top_up", (customer.into(), id), |tx, (customer, id)| {
                delete(tx, customer, *id)
            }),
        )
    }

    /// Lists the active top-ups of a customer, newest first.
    ///
    /// # Errors
    ///
    /// If there is no such customer, or the cursor is not one of this list.
    pub async fn list_top_ups(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        page: &PageRequest,
    ) -> Result<Page<TopUp>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = list(&mut tx, customer, page).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }
}

#[boxed]
async fn list(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    page: &PageRequest,
) -> Result<Page<TopUp>, Error> {
    credits::require_credits(tx).await?;
    let customer = customers::customer(tx, customer).await?;
    let listing = Listing { name: "top_ups", account: tx.account, filter: customer.id.to_string() };
    let active = top_ups::all_active(tx, customer.id).await?;
    let active =
        active.into_iter().map(|of| (schema::position_of(of.created_at, of.id.as_bytes()), of));
    page_in_order(&listing, page, page.rows()?, active)
}

#[boxed]
async fn create(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: &NewTopUp,
) -> Result<TopUp, Stop> {
    new.check(tx.now)?;
    credits::require_credits(tx).await?;
    let customer = customers::customer(tx, customer).await?;
    current::current_head(tx, customer.id).await?;
    check_currency(&customer, new)?;
    let id = TopUpId::generate(tx.now, tx.entropy());
    let item = buying::credits_item(tx).await?;
    let top_up = new.clone().decide(id, customer.id, tx.now);
    let state = TopUpState::new(top_up.clone(), item.id);
    top_ups::put_active(tx, &state).await?;
    if top_up.active_from <= tx.now {
        top_ups::begin(tx, customer.id, &top_up.currency).await?;
        let mut ledger = ledgers::ledger_or_new(tx, customer.id, &top_up.currency).await?;
        let now = tx.now;
        balances::top_up(tx, &mut ledger, now).await?;
        ledgers::save_ledgers(tx, customer.id, std::iter::once(&ledger)).await?;
    }
    Ok(top_up)
}

/// Refuses a real currency that is not the customer's, and what there is no currency to invoice in for.
fn check_currency(customer: &Customer, new: &NewTopUp) -> Result<(), Error> {
    let own = customer.currency;
    if let Some(found) = new.currency.currency()
        && let Some(expected) = own.filter(|own| *own != found)
    {
        let (found, expected) = (Currency::code(found), expected.code());
        let detail = format!("the top-up is in {found}, expected {expected} of the customer");
        return Err(Error::constraint(detail));
    }
    if new.per_unit_cost_basis.number().is_zero() {
        return Ok(());
    }
    buying::currency(customer, &new.currency).map(|_| ())
}

#[boxed]
async fn delete(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    id: TopUpId,
) -> Result<(), Stop> {
    credits::require_credits(tx).await?;
    let customer = customers::customer(tx, customer).await?;
    current::current_head(tx, customer.id).await?;
    let unknown = || Error::not_found("top-up", id);
    let state = tx.find(&schema::top_up(tx.account, id)).await?;
    let is_own = |of: &TopUpState| of.top_up.customer_id == customer.id;
    let state = state.filter(|of| is_own(of) && of.deactivated_at.is_none()).ok_or_else(unknown)?;
    let awaits = state.awaits;
    top_ups::deactivate(tx, state).await?;
    let Some(block_id) = awaits else { return Ok(()) };
    let guard = tx.guard::<CustomerHead>(customer.id).await?;
    let block: Option<Block> = guard.get(tx, &schema::credit_block(tx.account, block_id)).await?;
    let block = block.ok_or_else(|| Error::corrupt("a block that waits is missing"))?;
    let mut ledger = purchases::with_block(tx, &block).await?;
    purchases::take_back(tx, &mut ledger, &block).await?;
    purchases::forget(tx, &mut ledger, &block).await?;
    ledgers::save_ledgers(tx, customer.id, std::iter::once(&ledger)).await?;
    Ok(())
}
