//! Credits that are bought: their blocks, their invoices, and what becomes of the one with the other
//! (`docs/decisions/credits-that-are-bought.md`).

use crate::{
    Carried, CreditBlockId, Currency, Decimal, Error, Name, PricingUnit, Timeframe, Timestamp,
    alert::Cause,
    credit::{
        Block, BlockSource, LedgerChange, LedgerEntry, NewBlock, NewLedgerEntry, Origin, Purchase,
        TopUpState,
    },
    customer::Customer,
    engine::{
        kernel::Transaction,
        rows::{
            credit_notes, customers, invoice_lines, invoices, items,
            ledgers::{self, OpenLedger},
            outbox, top_ups,
        },
        time::{balances, crediting, invoicing, voiding},
    },
    invoice::{
        Bought, Credit, CreditNoteReason, CreditNoteSource, Invoice, InvoiceSettings, InvoiceStatus,
    },
    item::Item,
    schema::{self, CustomerHead},
    webhook::Body,
};

/// The item of credits that are bought without another.
const ITEM: &str = "Credits";

/// Buys credits as somebody asks: their block, their entry and their invoice, which the entry shows.
pub(in crate::engine) async fn buy(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    new: &NewLedgerEntry,
    given: &NewBlock,
) -> Result<LedgerEntry, Error> {
    let now = tx.now;
    add(tx, ledger, (new, given), None, now).await
}

/// Buys the credits of a top-up once (invoicing 13.4).
pub(in crate::engine) async fn top_up(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    state: &TopUpState,
    at: Timestamp,
) -> Result<LedgerEntry, Error> {
    let new = state.entry(&ledger.book.ledger().timezone, at);
    let LedgerChange::Increment(given) = &new.change else {
        return Err(Error::corrupt("a top-up does not give credits"));
    };
    add(tx, ledger, (&new, given), Some(state), at).await
}

async fn add(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    (new, given): (&NewLedgerEntry, &NewBlock),
    top_up: Option<&TopUpState>,
    at: Timestamp,
) -> Result<LedgerEntry, Error> {
    let invoice = match &given.invoice {
        Some(settings) => bill(tx, ledger, given, settings, at).await?,
        None => None,
    };
    let top_up = top_up.map(|of| of.top_up.id);
    let source = if top_up.is_some() { BlockSource::TopUp } else { BlockSource::Manual };
    let purchase = invoice.as_ref().map(|of| Purchase { invoice_id: of.id, top_up });
    let origin = Origin { source, purchase };
    let is_pending = invoice.as_ref().is_some_and(|of| of.status != InvoiceStatus::Paid)
        && given.invoice.as_ref().is_some_and(|of| of.require_successful_payment);
    let mut entry = if is_pending {
        ledger.book.await_payment(new, given, origin, at)?
    } else {
        let entry = ledger.book.buy(new, given, origin, at)?;
        tell_of(tx, ledger, entry.credit_block.id, at).await?;
        entry
    };
    entry.created_invoices = invoice.into_iter().collect();
    Ok(entry)
}

/// Tells of a block that has become part of the balance.
pub(in crate::engine) async fn tell_of(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
    id: CreditBlockId,
    at: Timestamp,
) -> Result<(), Error> {
    let customer_id = ledger.book.ledger().customer_id;
    let block = ledger.book.blocks().find(|of| of.block.id == id).map(|of| of.block.clone());
    let block = Box::new(block.ok_or_else(|| Error::corrupt("a new block is missing"))?);
    outbox::tell(tx, customer_id, at, Body::CreditLedgerIncremented { block }).await
}

/// Makes the invoice for credits, and issues it where it is to be; none where they cost nothing.
async fn bill(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
    given: &NewBlock,
    settings: &InvoiceSettings,
    at: Timestamp,
) -> Result<Option<Invoice>, Error> {
    let cost_basis = given.per_unit_cost_basis.clone().map(Decimal::from).unwrap_or_default();
    if cost_basis.is_zero() {
        return Ok(None);
    }
    let item = match settings.item_id {
        Some(id) => items::item(tx, id).await?,
        None => credits_item(tx).await?,
    };
    let of = ledger.book.ledger();
    let mut books = invoices::books(tx, of.customer_id).await?;
    let customer = &mut books.entry.customer;
    let currency = currency(customer, &of.currency)?;
    if customer.currency.is_none() {
        customer.currency = Some(currency);
        customers::put(tx, &books.entry).await?;
    }
    let start = given.effective_date.unwrap_or(at);
    let bought = Bought {
        block_id: ledger.book.next_block_id(at),
        item_id: item.id,
        name: item.name,
        quantity: given.amount.clone(),
        cost_basis,
        period: Timeframe::nothing_at(start).until(given.expiry_date.unwrap_or(start)),
    };
    let whose = (&books.entry.customer, currency);
    let (mut invoice, price) = bought.invoice(settings, whose, &books.receivables, at)?;
    invoices::save_books(tx, &books, None).await?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    invoice_lines::put_prices(tx, &guard, [&price])?;
    invoices::put_new(tx, &invoice).await?;
    invoice.show_lines_by_hand();
    if settings.mark_as_paid {
        invoicing::issue_as_paid(tx, &mut invoice, at).await?;
    } else if invoice.is_to_be_issued() {
        invoicing::issue_shown(tx, &mut invoice, [&Carried::NONE; 2], at).await?;
    }
    Ok(Some(invoice))
}

/// Finds the item of credits that are bought without another, or makes it.
pub(in crate::engine) async fn credits_item(tx: &mut Transaction<'_>) -> Result<Item, Error> {
    let name = Name::parse(ITEM).map_err(|_| Error::corrupt("it is no name of an item"))?;
    items::item_named(tx, &name).await
}

/// Returns the currency that a customer is invoiced in: for one who has none yet that of the credits.
///
/// # Errors
///
/// Where the customer has none, and neither have the credits.
pub(in crate::engine) fn currency(
    customer: &Customer,
    unit: &PricingUnit,
) -> Result<Currency, Error> {
    let none = || Error::constraint("the customer has no currency, expected one to invoice in");
    customer.currency.or_else(|| unit.currency()).ok_or_else(none)
}

/// Follows an invoice that may have been paid: credits that waited for that become part of the balance.
pub(in crate::engine) async fn follow(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    if invoice.status != InvoiceStatus::Paid {
        return Ok(());
    }
    let Some((mut ledger, Block { block, .. })) = bought(tx, invoice).await? else {
        return Ok(());
    };
    let Some(pending) = pending_entry(tx, &ledger, block.id).await? else { return Ok(()) };
    let before = ledger.book.balance().cloned();
    let Some(entry) = ledger.book.activate(block.id, &pending, at) else { return Ok(()) };
    ledgers::remove_entry(tx, &pending).await?;
    tell_of(tx, &ledger, block.id, at).await?;
    if let Some(state) = ledger.top_up.as_mut().filter(|of| of.awaits == Some(block.id)) {
        // It is judged again.
        (state.awaits, state.has_more) = (None, true);
        let state = state.clone();
        let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
        top_ups::save(tx, &guard, &state)?;
    }
    let cause = Cause::Credit { entry_id: entry.id };
    balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
    if block.has_expired(at) {
        let before = ledger.book.balance().cloned();
        ledger.book.expire(block.id);
        let cause = Cause::Expiry { block_id: block.id };
        balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
    }
    ledgers::save_ledgers(tx, invoice.customer_id, std::iter::once(&ledger)).await
}

/// Follows an invoice that is void: credits that waited for it are gone, what is left of others is taken
/// back, and a top-up that it came from ends (invoicing 8.6).
pub(in crate::engine) async fn follow_void(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    let Some((mut ledger, block)) = bought(tx, invoice).await? else { return Ok(()) };
    let (now, id) = (tx.now, block.block.id);
    end_top_up(tx, &mut ledger, &block).await?;
    if !forget(tx, &mut ledger, &block).await? {
        let before = ledger.book.balance().cloned();
        if let Some(entry) = ledger.book.void_rest(id, now) {
            let cause = Cause::Credit { entry_id: entry.id };
            balances::judge(tx, &mut ledger, before, &cause).await?;
        }
    }
    ledgers::save_ledgers(tx, invoice.customer_id, std::iter::once(&ledger)).await
}

/// Removes a block that waits for its payment, with its entry; tells whether it was one.
pub(in crate::engine) async fn forget(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<bool, Error> {
    let id = block.block.id;
    let Some(pending) = pending_entry(tx, ledger, id).await? else { return Ok(false) };
    ledgers::remove_entry(tx, &pending).await?;
    ledger.book.forget_unpaid(id, tx.now);
    ledgers::remove_from_lists(tx, block).await?;
    Ok(true)
}

/// Takes back the invoice for a block that is deleted: a draft is deleted, one that is issued void, one that
/// is paid credited in full (invoicing 13.3).
///
/// # Errors
///
/// Where it is synced, or a payment is under way.
pub(in crate::engine) async fn take_back(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<(), Error> {
    let Some(Purchase { invoice_id, .. }) = block.purchase else { return Ok(()) };
    let mut invoice = invoices::invoice(tx, invoice_id).await?;
    match invoice.status {
        InvoiceStatus::Draft => invoices::remove(tx, &invoice).await,
        InvoiceStatus::Issued => {
            voiding::void(tx, &mut invoice).await?;
            end_top_up(tx, ledger, block).await
        }
        InvoiceStatus::Paid => credit_in_full(tx, invoice).await,
        InvoiceStatus::Synced => {
            let number = invoice.invoice_number;
            Err(Error::constraint(format!("the invoice {number} of the credit block is synced")))
        }
        InvoiceStatus::Void => Ok(()),
    }
}

async fn credit_in_full(tx: &mut Transaction<'_>, invoice: Invoice) -> Result<(), Error> {
    invoice.check_credit()?;
    let customer_id = invoice.customer_id;
    let notes = &invoice.credit_notes;
    let before = credit_notes::lines_that_count(tx, customer_id, notes).await?;
    let lines = invoice.lines.iter();
    let left = lines.map(|line| (line, invoice.left_of(line, &before)));
    let left = left.filter(|(_, share)| !share.total().is_zero());
    let credits: Vec<_> = left.map(|(line, share)| Credit::of(line, line.period, share)).collect();
    if credits.is_empty() {
        return Ok(());
    }
    let why = (CreditNoteSource::Change, CreditNoteReason::OrderChange, None);
    let now = tx.now;
    crediting::credit(tx, invoice, credits, why, now).await.map(|_| ())
}

/// Ends the top-up that bought a block.
async fn end_top_up(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<(), Error> {
    let Some(id) = block.purchase.and_then(|of| of.top_up) else { return Ok(()) };
    let found = top_ups::top_up(tx, block.customer_id, id).await?;
    let Some(state) = found.filter(|of| of.deactivated_at.is_none()) else { return Ok(()) };
    ledger.top_up = ledger.top_up.take().filter(|of| of.top_up.id != id);
    top_ups::deactivate(tx, state).await
}

/// Reads the block that an invoice is for, in its ledger; none where it is for something else, or the block
/// is deleted.
async fn bought(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<Option<(OpenLedger, Block)>, Error> {
    let Some(id) = invoice.bought else { return Ok(None) };
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let block = guard.get(tx, &schema::credit_block(tx.account, id)).await?;
    let Some(block) = block.filter(|of| of.deletion.is_none()) else { return Ok(None) };
    let ledger = with_block(tx, &block).await?;
    Ok(Some((ledger, block)))
}

/// Opens the ledger of a block, with the block.
pub(in crate::engine) async fn with_block(
    tx: &mut Transaction<'_>,
    block: &Block,
) -> Result<OpenLedger, Error> {
    let ledger = ledgers::ledger(tx, block.customer_id, &block.block.currency).await?;
    let mut ledger = ledger.ok_or_else(|| Error::corrupt("a block has no ledger"))?;
    ledger.book.insert([block.clone()]);
    Ok(ledger)
}

/// Reads the entry of a block that waits for its payment; none where it does not.
async fn pending_entry(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
    id: CreditBlockId,
) -> Result<Option<LedgerEntry>, Error> {
    let Some(number) = ledger.book.number_of_unpaid(id) else { return Ok(None) };
    let of = ledger.book.ledger();
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let slot = schema::ledger_entry(tx.account, of.customer_id, &of.currency, number);
    let booked = guard.get(tx, &slot).await?;
    let booked = booked.ok_or_else(|| Error::corrupt("the entry of a pending block is missing"))?;
    Ok(Some(booked.entry))
}
