//! Ledgers of credits: entries, balances and lists.

use std::collections::BTreeMap;

use crate::{
    CreditBlockId, CustomerId, Error, IdOr, Page, PageRequest, PricingUnit, Timestamp,
    alert::Cause,
    credit::{
        Block, Book, Booked, CreditBalance, CreditBlock, CreditBlockFilter, EntryStatus, EntryType,
        LedgerChange, LedgerEntry, LedgerFilter, NewLedgerEntry,
    },
    customer::Customer,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{
            self,
            ledgers::{self, OpenLedger},
            lists::{Walk, page_in_order},
        },
        time::{balances, buying, current, transitions},
    },
    page::{InstantRange, Listing},
    schema::{self, CustomerHead, Index},
};

impl Account {
    /// Adds an entry to a ledger of a customer (wire 4.4). The first one in a currency or pricing
    /// unit creates the ledger: from then on usage that is priced in it draws on it.
    ///
    /// A void makes two entries, and returns the first. A decrement from several blocks makes one
    /// for each, and returns the last.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where an amount is not above zero, a
    /// cost basis below it, or a number or metadata is too long;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer, or it
    /// has no such block;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no credits;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where a date has passed, more is
    /// asked for than the block has or gave, the block is of another currency, or there would be more
    /// than 200 blocks with something left, or 100 ledgers.
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
    /// account.create_ledger_entry(ada.id, five).await?;
    /// let two = NewLedgerEntry::decrement(credits.clone(), Decimal::from(2));
    /// assert_eq!(account.create_ledger_entry(ada.id, two).await?.ending_balance, Decimal::from(3));
    /// let balance = account.credit_balance(ada.id, &credits).await?;
    /// assert_eq!(balance.balance, Some(Decimal::from(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_ledger_entry(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewLedgerEntry,
    ) -> Call<LedgerEntry> {
        Call::new(
            self,
            Op::new("create_ledger_entry", (customer.into(), new), |tx, (customer, new)| {
                create_ledger_entry(tx, customer, new)
            }),
        )
    }

    /// Returns the credit balance of a customer in a currency or pricing unit.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no credits.
    pub async fn credit_balance(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
    ) -> Result<CreditBalance, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = credit_balance(&mut tx, customer, currency).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Returns the credit balances of a customer: one for each currency and pricing unit that it
    /// has a ledger in.
    ///
    /// # Errors
    ///
    /// As [`credit_balance`](Self::credit_balance).
    pub async fn credit_balances(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
    ) -> Result<Vec<CreditBalance>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = credit_balances(&mut tx, customer).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Returns a credit block.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such block;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no credits.
    pub async fn fetch_credit_block(&self, id: CreditBlockId) -> Result<CreditBlock, Error> {
        let find = |mut tx| async move {
            let found = credit_block(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists the credit blocks of a customer, newest first (wire 4.4): those that have something
    /// left and have not expired, unless all are asked for.
    ///
    /// # Errors
    ///
    /// As [`credit_balance`](Self::credit_balance);
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the page is longer than 100 rows
    /// or its cursor is of another list.
    pub async fn list_credit_blocks(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
        filter: &CreditBlockFilter,
        page: &PageRequest,
    ) -> Result<Page<CreditBlock>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = credit_blocks(&mut tx, customer, currency, filter, page).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists the entries of a customer's ledger, newest first (wire 4.4). A pending entry is listed
    /// as it is now.
    ///
    /// A filter by status or amount has no index: it looks at entry after entry until the page is full.
    ///
    /// # Errors
    ///
    /// As [`list_credit_blocks`](Self::list_credit_blocks), for pages of at most 1,000 entries.
    pub async fn list_ledger_entries(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        currency: &PricingUnit,
        filter: &LedgerFilter,
        page: &PageRequest,
    ) -> Result<Page<LedgerEntry>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = read_ledger(&mut tx, customer, currency).await;
            let found = found.and_then(|(customer, ledger)| {
                let applied = tx.all_writes()?;
                Ok((customer.id, ledger, applied))
            });
            (tx, found)
        };
        let (id, ledger, applied) = self.at_one_instant(find).await?;
        // Nothing that a ledger has committed changes, so it can be read at leisure.
        let mut tx = self.reading();
        tx.set_writes(applied);
        entries(&mut tx, id, currency, ledger, filter, page).await
    }
}

#[boxed]
async fn credit_balance(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    currency: &PricingUnit,
) -> Result<CreditBalance, Error> {
    let (customer, ledger) = read_ledger(tx, customer, currency).await?;
    let book = match ledger {
        Some(ledger) => ledger.book,
        None => Book::new(customer.id, currency.clone(), customer.timezone),
    };
    Ok(book.credit_balance(tx.now))
}

#[boxed]
async fn credit_balances(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
) -> Result<Vec<CreditBalance>, Error> {
    let mut balances = Vec::new();
    for currency in ledgers_of(tx, customer).await? {
        let (_, ledger) = read_ledger(tx, customer, &currency).await?;
        balances.extend(ledger.map(|ledger| ledger.book.credit_balance(tx.now)));
    }
    Ok(balances)
}

#[boxed]
pub(super) async fn credit_block(
    tx: &mut Transaction<'_>,
    id: CreditBlockId,
) -> Result<CreditBlock, Error> {
    require_credits(tx).await?;
    let slot = schema::credit_block(tx.account, id);
    let unknown = || Error::not_found("credit block", id);
    let found = tx.find(&slot).await?.filter(|of| of.deletion.is_none());
    let Block { customer_id, block, .. } = found.ok_or_else(unknown)?;
    let read = read_ledger(tx, &customer_id.into(), &block.currency).await;
    read.map_err(|error| if error.is_not_found() { unknown() } else { error })?;
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let found = guard.get(tx, &slot).await?;
    let mut block = [found.ok_or_else(unknown)?.block];
    ledgers::with_metadata(tx, customer_id, &mut block).await?;
    let [block] = block;
    Ok(block)
}

#[boxed]
async fn credit_blocks(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    currency: &PricingUnit,
    filter: &CreditBlockFilter,
    page: &PageRequest,
) -> Result<Page<CreditBlock>, Error> {
    let is_listed = |block: &CreditBlock| {
        filter.effective == InstantRange::default()
            || block.effective_date.is_some_and(|date| filter.effective.contains(date))
    };
    let (customer, ledger) = read_ledger(tx, customer, currency).await?;
    let (account, filtered) = (tx.account, format!("{} {currency} {filter:?}", customer.id));
    let listing = Listing { name: "credit_blocks", account, filter: filtered };
    let mut found = if filter.include_all_blocks {
        let index = Index::credit_blocks(account, customer.id, currency);
        let mut walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        let slot = |at| schema::credit_block(account, CreditBlockId::from_bytes(at));
        let show = |of: Block| is_listed(&of.block).then_some(of.block);
        walk.run(tx, |at| slot(schema::id_at(at)), show).await?
    } else {
        let mut open: Vec<_> = ledger.iter().flat_map(OpenLedger::open_blocks).cloned().collect();
        if let Some(ledger) = &ledger {
            let waiting = ledgers::unpaid_blocks(tx, ledger).await?.into_iter();
            open.extend(waiting.filter(|of| !of.has_expired(tx.now)));
        }
        let open = open
            .into_iter()
            .filter(|of| is_listed(of))
            .map(|of| (schema::position_of(of.created_at, of.id.as_bytes()), of));
        page_in_order(&listing, page, page.rows()?, open)?
    };
    ledgers::with_metadata(tx, customer.id, &mut found.data).await?;
    Ok(found)
}

pub(in crate::engine) async fn require_credits(tx: &mut Transaction<'_>) -> Result<(), Error> {
    if rows::account::account_entry(tx).await?.configuration.features.credits {
        return Ok(());
    }
    Err(Error::feature("credits are not available to this account"))
}

/// Returns the currencies and pricing units that a customer has a ledger in.
async fn ledgers_of(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
) -> Result<Vec<PricingUnit>, Error> {
    require_credits(tx).await?;
    let customer = rows::customers::customer(tx, customer).await?;
    let guard = tx.guard::<CustomerHead>(customer.id).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer.id)).await?;
    let units = credits.unwrap_or_default().units.into_iter();
    Ok(units.filter(|(_, of)| of.has_ledger).map(|(unit, _)| unit).collect())
}

/// Reads a ledger of a customer as if what time has brought it were applied, corrections aside.
#[boxed]
async fn read_ledger(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    currency: &PricingUnit,
) -> Result<(Customer, Option<OpenLedger>), Error> {
    require_credits(tx).await?;
    let customer = rows::customers::customer(tx, customer).await?;
    transitions::apply_for_ledger(tx, customer.id).await?;
    let ledger = ledgers::ledger(tx, customer.id, currency).await?;
    Ok((customer, ledger))
}

/// Returns a ledger's entries as they were when it was read, whatever is added to it meanwhile.
#[boxed]
async fn entries(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    currency: &PricingUnit,
    ledger: Option<OpenLedger>,
    filter: &LedgerFilter,
    page: &PageRequest,
) -> Result<Page<LedgerEntry>, Error> {
    let account = tx.account;
    let filtered = format!("{customer} {currency} {filter:?}");
    let listing = Listing { name: "ledger", account, filter: filtered };
    // A clock that is behind the ledger's last entry sees what that has committed.
    let now = tx.now.max(ledger.as_ref().map_or(Timestamp::MIN, OpenLedger::latest));
    let last = ledger.as_ref().map_or(0, |ledger| ledger.book.ledger().entries);
    let pending = ledger.iter().flat_map(|ledger| ledger.book.pending());
    let pending: BTreeMap<_, _> =
        pending.map(|booked| (booked.entry.ledger_sequence_number, booked)).collect();
    if filter.entry_status == Some(EntryStatus::Pending) {
        let unpaid = match &ledger {
            Some(ledger) => ledgers::unpaid_entries(tx, ledger).await?,
            None => Vec::new(),
        };
        let entries = pending.values().map(|booked| (*booked).clone().at(now));
        let entries = entries.chain(unpaid);
        let listed = entries.filter(|entry| filter.lists(entry));
        let listed = listed.map(|of| (schema::place_of(&of), of));
        return page_in_order(&listing, page, page.limit(), listed);
    }
    let index = match filter.entry_type {
        Some(kind) => Index::ledger_entries_of_kind(account, customer, currency, kind),
        None => Index::ledger_entries(account, customer, currency),
    };
    let mut walk = Walk::of_ledger(listing, &index, filter.created, page)?;
    let slot = |number| schema::ledger_entry(account, customer, currency, number);
    let show = |booked: Booked| {
        let number = booked.entry.ledger_sequence_number;
        let booked = pending.get(&number).map_or(booked, |of| (*of).clone());
        Some(booked.at(now)).filter(|of| number <= last && filter.lists(of))
    };
    walk.run(tx, |at| slot(schema::number_at(at)), show).await
}

#[boxed]
async fn create_ledger_entry(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: &NewLedgerEntry,
) -> Result<LedgerEntry, Stop> {
    new.check()?;
    require_credits(tx).await?;
    let customer = rows::customers::customer(tx, customer).await?;
    rows::prices::check_filters(tx, new.change.filters()).await?;
    current::current_head(tx, customer.id).await?;
    let mut ledger = ledgers::ledger_or_new(tx, customer.id, &new.currency).await?;
    if let Some(id) = new.change.block_id()
        // It may be another customer's.
        && let Some(block) = tx.find(&schema::credit_block(tx.account, id)).await?
    {
        ledger.book.insert([block]);
    }
    let before = ledger.book.balance().cloned();
    let entry = match &new.change {
        LedgerChange::Increment(given) => buying::buy(tx, &mut ledger, new, given).await?,
        _ => ledger.book.book(new, tx.now)?,
    };
    // A block's metadata is in a row of its own, which the book does not see.
    if let EntryType::ExpirationChange { new_block_id, .. } = entry.entry_type {
        ledgers::copy_metadata(tx, customer.id, entry.credit_block.id, new_block_id).await?;
    }
    let cause = Cause::Credit { entry_id: entry.id };
    balances::judge(tx, &mut ledger, before, &cause).await?;
    ledgers::save_ledgers(tx, customer.id, std::iter::once(&ledger)).await?;
    Ok(entry)
}
