//! Opens ledgers of credits: blocks, pending entries and what watches the balance.

mod save;

pub(in crate::engine) use self::save::{
    copy_metadata, remove_entry, remove_from_lists, save_ledgers, with_metadata,
};

use std::collections::BTreeMap;

use crate::{
    AccountId, CreditBlockId, CustomerId, Error, PricingUnit, SubscriptionId, Timestamp,
    alert::BalanceWatch,
    credit::{Block, Book, Booked, CreditBlock, Drawn, Ledger, LedgerEntry, TopUpState},
    engine::{
        kernel::{Guard, Transaction},
        rows::{account, balance_alerts, customers, plans, top_ups},
    },
    schema::{self, CustomerHead, Slot},
    subscription::SubscriptionEntry,
};

/// A ledger of a customer while it is moved: its book, what usage has drawn from it, and the alerts
/// that watch its balance.
#[derive(Debug)]
pub(in crate::engine) struct OpenLedger {
    pub(in crate::engine) book: Book,
    /// What billing periods have drawn, of those that draw now.
    pub(in crate::engine) drawn: BTreeMap<(SubscriptionId, Timestamp), Drawn>,
    pub(in crate::engine) watch: BalanceWatch,
    /// The top-up that watches the balance, if one does.
    pub(in crate::engine) top_up: Option<TopUpState>,
    /// How often that has bought since the ledger was opened.
    pub(in crate::engine) bought: u32,
    /// Whether the account has alerts now, and credits.
    pub(in crate::engine) has_alerts: bool,
    pub(in crate::engine) has_credits: bool,
}

impl OpenLedger {
    /// Returns when its last entry was made.
    pub(in crate::engine) const fn latest(&self) -> Timestamp {
        self.book.ledger().latest
    }

    /// Returns the blocks that have something left and have not expired.
    pub(in crate::engine) fn open_blocks(&self) -> impl Iterator<Item = &CreditBlock> {
        let open = &self.book.ledger().open;
        let blocks = self.book.blocks().map(|of| &of.block);
        blocks.filter(|block| open.contains(&block.id))
    }
}

fn pending_slots(
    account: &AccountId,
    ledger: &Ledger,
) -> impl Iterator<Item = Slot<Booked, CustomerHead>> {
    let Ledger { customer_id, currency, pending, .. } = ledger;
    let numbers = pending.iter().map(|pending| pending.number);
    numbers.map(|number| schema::ledger_entry(account, *customer_id, currency, number))
}

/// The ledgers of a customer that usage draws on, by currency or pricing unit.
pub(in crate::engine) type Ledgers = BTreeMap<PricingUnit, OpenLedger>;

/// Returns the currencies and pricing units in which usage of a subscription draws credits.
pub(in crate::engine) async fn draws_in(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<PricingUnit>, Error> {
    let customer_id = entry.subscription.customer_id;
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer_id)).await?;
    let version = plans::plan_version_of(tx, entry).await?;
    Ok(credits
        .map(|credits| credits.drawn_by(version.priced_of(entry), |_| true))
        .unwrap_or_default())
}

/// Reads a ledger; none before its first entry.
pub(in crate::engine) async fn ledger(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    unit: &PricingUnit,
) -> Result<Option<OpenLedger>, Error> {
    fetch_ledgers(tx, &[(customer, unit)]).await?;
    fetched_ledger(tx, customer, unit).await
}

/// Reads a ledger that is to be moved; a new one before its first entry.
pub(in crate::engine) async fn ledger_or_new(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    unit: &PricingUnit,
) -> Result<OpenLedger, Error> {
    if let Some(ledger) = ledger(tx, customer, unit).await? {
        return Ok(ledger);
    }
    let zone = customers::customer(tx, &customer.into()).await?.timezone;
    open_ledger(tx, Book::new(customer, unit.clone(), zone)).await
}

/// The same of a ledger that was fetched.
pub(in crate::engine) async fn fetched_ledger(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    unit: &PricingUnit,
) -> Result<Option<OpenLedger>, Error> {
    let account = tx.account;
    let Some(ledger) = tx.row(&schema::ledger(account, customer, unit))? else { return Ok(None) };
    let pending = pending_slots(account, &ledger).map(|slot| {
        tx.row(&slot)?.ok_or_else(|| Error::corrupt("an entry of a ledger is missing"))
    });
    let pending = pending.collect::<Result<_, _>>()?;
    let blocks = ledger.open.iter().chain(&ledger.overdraft).map(|id| {
        let block = tx.row(&schema::credit_block(account, *id))?;
        block.ok_or_else(|| Error::corrupt("a block of credits is missing"))
    });
    let blocks = blocks.collect::<Result<_, _>>()?;
    open_ledger(tx, Book::open(ledger, blocks, pending)).await.map(Some)
}

/// Reads ledgers again that were saved, and have moved since in the same commit.
pub(in crate::engine) async fn read_anew(
    tx: &mut Transaction<'_>,
    ledgers: &mut Ledgers,
) -> Result<(), Error> {
    for (unit, open) in ledgers {
        let customer = open.book.ledger().customer_id;
        if let Some(anew) = ledger(tx, customer, unit).await? {
            *open = OpenLedger { bought: open.bought, ..anew };
        }
    }
    Ok(())
}

/// Reads the open blocks and the overdraft of a ledger, to look at; none before its first entry.
pub(in crate::engine) async fn book(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    unit: &PricingUnit,
) -> Result<Option<Book>, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let slot = schema::ledger(tx.account, customer, unit);
    let Some(ledger) = guard.get(tx, &slot).await? else { return Ok(None) };
    let ids: Vec<_> = ledger.open.iter().chain(&ledger.overdraft).copied().collect();
    let blocks = blocks(tx, &guard, &ids).await?;
    Ok(Some(Book::open(ledger, blocks, Vec::new())))
}

/// Reads what it takes to open some ledgers, in as many calls of the store as for one.
pub(in crate::engine) async fn fetch_ledgers(
    tx: &mut Transaction<'_>,
    ledgers: &[(CustomerId, &PricingUnit)],
) -> Result<(), Error> {
    if ledgers.is_empty() {
        return Ok(());
    }
    let account = tx.account;
    balance_alerts::fetch_balance_watches(tx, ledgers).await?;
    let slots: Vec<_> =
        ledgers.iter().map(|(id, unit)| schema::ledger(account, *id, unit)).collect();
    let guards = tx.guards::<CustomerHead>(ledgers.iter().map(|(id, _)| *id)).await?;
    Guard::fetch(tx, guards.iter().zip(slots.iter().map(Slot::key))).await?;
    let mut keys = Vec::new();
    for (guard, slot) in guards.iter().zip(&slots) {
        let Some(ledger) = tx.row(slot)? else { continue };
        let blocks = ledger.open.iter().chain(&ledger.overdraft);
        keys.extend(blocks.map(|id| (guard, schema::credit_block(account, *id).key().clone())));
        keys.extend(pending_slots(account, &ledger).map(|slot| (guard, slot.key().clone())));
    }
    Guard::fetch(tx, keys.iter().map(|(guard, key)| (*guard, key))).await
}

/// Adds to a book what watches it, which was [fetched](fetch_ledgers) with its ledger, or for want of one.
async fn open_ledger(tx: &mut Transaction<'_>, book: Book) -> Result<OpenLedger, Error> {
    let (customer_id, currency) = (book.ledger().customer_id, book.ledger().currency.clone());
    let watch = balance_alerts::balance_watch(tx, customer_id, &currency).await?;
    let has_alerts = account::had_alerts(tx, tx.now).await?;
    let has_credits = account::account_entry(tx).await?.configuration.features.credits;
    let top_up = top_ups::fetched(tx, customer_id, &currency)?;
    let drawn = BTreeMap::new();
    Ok(OpenLedger { book, drawn, watch, top_up, bought: 0, has_alerts, has_credits })
}

pub(in crate::engine) async fn blocks(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    ids: &[CreditBlockId],
) -> Result<Vec<Block>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::credit_block(tx.account, *id)).collect();
    let blocks: Option<Vec<_>> = guard.get_all(tx, &slots).await?.into_iter().collect();
    blocks.ok_or_else(|| Error::corrupt("a block of credits is missing"))
}

/// Reads the blocks of a ledger that wait for a payment.
pub(in crate::engine) async fn unpaid_blocks(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
) -> Result<Vec<CreditBlock>, Error> {
    let Ledger { customer_id, unpaid, .. } = ledger.book.ledger();
    let ids: Vec<_> = unpaid.iter().map(|of| of.block_id).collect();
    let guard = tx.guard::<CustomerHead>(*customer_id).await?;
    Ok(blocks(tx, &guard, &ids).await?.into_iter().map(|of| of.block).collect())
}

/// Reads the entries of the blocks of a ledger that wait for a payment.
pub(in crate::engine) async fn unpaid_entries(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
) -> Result<Vec<LedgerEntry>, Error> {
    let Ledger { customer_id, currency, unpaid, .. } = ledger.book.ledger();
    let slot = |number| schema::ledger_entry(tx.account, *customer_id, currency, number);
    let slots: Vec<_> = unpaid.iter().map(|of| slot(of.number)).collect();
    let guard = tx.guard::<CustomerHead>(*customer_id).await?;
    // One that was paid meanwhile is not there any more.
    Ok(guard.get_all(tx, &slots).await?.into_iter().flatten().map(|of| of.entry).collect())
}
