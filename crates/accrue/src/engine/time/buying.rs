//! Credits that are bought: their blocks, their entries and their invoices
//! (`docs/decisions/credits-that-are-bought.md`).

use crate::{
    Carried, CreditBlockId, Currency, Decimal, Error, Name, PricingUnit, Timeframe, Timestamp,
    credit::{
        BlockSource, InvoiceSettings, LedgerChange, LedgerEntry, NewBlock, NewLedgerEntry, Origin,
        Purchase, TopUpState,
    },
    customer::Customer,
    engine::{
        kernel::Transaction,
        rows::{account, customers, invoice_lines, invoices, items, ledgers::OpenLedger, outbox},
        time::issuing,
    },
    invoice::{Bought, Invoice, InvoiceStatus},
    item::Item,
    schema::CustomerHead,
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
    entry.created_invoices = invoice.iter().map(|of| of.id).collect();
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
    let account = account::account_entry(tx).await?;
    let (mut invoice, price) =
        bought.invoice(settings, whose, &account.configuration, &books.receivables, at)?;
    invoices::save_books(tx, &books, None).await?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    invoice_lines::put_prices(tx, &guard, [&price])?;
    invoices::put_new(tx, &invoice).await?;
    invoice.show_lines_by_hand();
    if settings.mark_as_paid {
        issuing::issue_as_paid(tx, &mut invoice, at).await?;
    } else if invoice.is_to_be_issued() {
        issuing::issue_shown(tx, &mut invoice, [&Carried::NONE; 2], None, at).await?;
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
