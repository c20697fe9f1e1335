//! Credit blocks: operations.

use crate::{
    CreditBlockId, Error, MetadataUpdate,
    alert::Cause,
    credit::{Block, BlockAllocation, CreditBlock},
    engine::{
        Account, Call,
        commands::{changed, credits, invoices},
        kernel::{Guard, Op, Stop, Transaction, boxed},
        rows::{self, ledgers},
        time::{balances, current, purchases},
    },
    invoice::{BlockInvoices, Invoice},
    schema::{self, BlockMetadata, CustomerHead},
};

impl Account {
    /// Changes the metadata of a credit block (wire 5.1).
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such block, or it is
    /// deleted;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no credits.
    pub fn update_credit_block(
        &self,
        id: CreditBlockId,
        metadata: MetadataUpdate,
    ) -> Call<CreditBlock> {
        Call::new(
            self,
            Op::new("update_credit_block", (id, metadata), |tx, (id, metadata)| {
                update_credit_block(tx, *id, metadata)
            }),
        )
    }

    /// Returns a credit block with the invoices that bought it, oldest first (invoicing 13.3).
    ///
    /// # Errors
    ///
    /// If there is no such block, or it is deleted.
    pub async fn list_credit_block_invoices(
        &self,
        id: CreditBlockId,
    ) -> Result<BlockInvoices, Error> {
        let find = |mut tx| async move {
            let found = block_invoices(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Deletes a credit block, as if it had never been given (wire 5.1). The amount drawn from it
    /// is drawn anew from the blocks that are there now, and beyond them from the overdraft.
    ///
    /// Its entries stay in the ledger, and others follow them: an amendment and a void, which empty
    /// the block, and a decrement for each block that is drawn from instead. A block that was made of
    /// a part of it, with another expiry date, stays.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such block, or it is
    /// deleted already;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is the overdraft, or
    /// was drawn from and [`DELETED_BLOCKS`](crate::limits::DELETED_BLOCKS) such blocks are deleted of
    /// the ledger, for which others still stand;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no credits.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Decimal, Email, Name, PricingUnit, store::MemoryStore};
    /// # use accrue::{credit::NewLedgerEntry, customer::NewCustomer};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let credits = PricingUnit::parse("credits")?;
    /// let five = NewLedgerEntry::increment(credits.clone(), Decimal::from(5));
    /// let block = account.create_ledger_entry(ada.id, five).await?.credit_block;
    /// let two = NewLedgerEntry::decrement(credits.clone(), Decimal::from(2));
    /// account.create_ledger_entry(ada.id, two).await?;
    /// account.delete_credit_block(block.id).await?;
    /// let balance = account.credit_balance(ada.id, &credits).await?;
    /// assert_eq!(balance.overdraft, Decimal::from(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn delete_credit_block(&self, id: CreditBlockId) -> Call<()> {
        Call::new(self, Op::new("delete_credit_block", id, |tx, id| delete_credit_block(tx, *id)))
    }
}

/// Returns a block that is there, and whose ledger is applied.
async fn applied_block(tx: &mut Transaction<'_>, id: CreditBlockId) -> Result<Block, Stop> {
    credits::require_credits(tx).await?;
    let unknown = || Error::not_found("credit block", id);
    let found = tx.find(&schema::credit_block(tx.account, id)).await?;
    let block = found.filter(|of| of.deletion.is_none()).ok_or_else(unknown)?;
    let customer = rows::customers::customer(tx, &block.customer_id.into()).await;
    customer.map_err(|error| if error.is_not_found() { unknown() } else { error })?;
    current::current_head(tx, block.customer_id).await?;
    Ok(block)
}

/// Returns the metadata of a block, which has a row of its own.
async fn block_metadata(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: CreditBlockId,
) -> Result<Option<BlockMetadata>, Error> {
    guard.get(tx, &schema::credit_block_metadata(tx.account, id)).await
}

#[boxed]
async fn update_credit_block(
    tx: &mut Transaction<'_>,
    id: CreditBlockId,
    update: &MetadataUpdate,
) -> Result<CreditBlock, Stop> {
    let Block { block, customer_id, .. } = applied_block(tx, id).await?;
    let guard = tx.guard(customer_id).await?;
    let found = block_metadata(tx, &guard, id).await?;
    let mut metadata = found.clone().unwrap_or_default().metadata;
    update.clone().apply(&mut metadata)?;
    let slot = schema::credit_block_metadata(tx.account, id);
    if !metadata.is_empty() {
        guard.put(tx, &slot, &BlockMetadata { metadata: metadata.clone() })?;
    } else if found.is_some() {
        guard.delete(tx, &slot)?;
    }
    Ok(CreditBlock { metadata, ..block })
}

#[boxed]
async fn delete_credit_block(tx: &mut Transaction<'_>, id: CreditBlockId) -> Result<(), Stop> {
    let block = applied_block(tx, id).await?;
    let mut ledger = purchases::with_block(tx, &block).await?;
    purchases::take_back(tx, &mut ledger, &block).await?;
    if !purchases::forget(tx, &mut ledger, &block).await? {
        let before = ledger.book.balance().cloned();
        if let Some(entry) = ledger.book.delete(id, tx.now)? {
            let cause = Cause::Credit { entry_id: entry.id };
            balances::judge(tx, &mut ledger, before, &cause).await?;
        }
        // The invoice bought what was given another expiry date too.
        purchases::void_rest(tx, &mut ledger, &block).await?;
        ledgers::remove_from_lists(tx, &block).await?;
    }
    ledgers::save_ledgers(tx, block.customer_id, std::iter::once(&ledger)).await?;
    changed::check_credits_count(tx, block.customer_id).await?;
    Ok(())
}

#[boxed]
async fn block_invoices(
    tx: &mut Transaction<'_>,
    id: CreditBlockId,
) -> Result<BlockInvoices, Error> {
    let block = credits::credit_block(tx, id).await?;
    let found = tx.find(&schema::credit_block(tx.account, id)).await?;
    let purchase = found.and_then(|of| of.purchase);
    let invoices = match (purchase, &block.allocation) {
        (Some(of), _) => invoices::found(tx, of.invoice_id).await?.into_iter().collect(),
        (None, Some(of)) => invoices_of_allocation(tx, of).await?,
        (None, None) => Vec::new(),
    };
    Ok(BlockInvoices { block, invoices })
}

/// Returns the invoices of a subscription that bill what an allocation of it has given, oldest first.
async fn invoices_of_allocation(
    tx: &mut Transaction<'_>,
    of: &BlockAllocation,
) -> Result<Vec<Invoice>, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, of.subscription_id).await?;
    let later = rows::invoices::of_subscription_from(tx, &entry.subscription, of.given_at).await?;
    let mut found = Vec::new();
    for id in later.into_iter().map(|invoice| invoice.id) {
        found.extend(invoices::found(tx, id).await?);
    }
    found.retain(|invoice: &Invoice| {
        let mut lines = invoice.lines.iter();
        lines.any(|line| line.price_id == of.price_id && line.period.start() == of.given_at)
    });
    Ok(found)
}
