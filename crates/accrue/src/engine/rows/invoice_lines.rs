//! Lines of invoices: those that were issued, and those by hand of a draft, with their prices
//! (`docs/decisions/lines-by-hand.md`).

use crate::{
    Error, InvoiceId, PriceId,
    engine::{
        kernel::{Guard, Transaction},
        rows::parts::Parts,
    },
    invoice::{Invoice, InvoiceLine, InvoiceStatus},
    price::Price,
    schema::{self, CustomerHead, InvoiceLines, Slot},
};

/// Reads the lines of an invoice, which are in so many rows: of a draft those by hand.
pub(super) async fn read(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: &mut Invoice,
    parts: u16,
) -> Result<(), Error> {
    let slots: Vec<_> = slots(tx, invoice.id, parts).collect();
    place(invoice, guard.get_all(tx, &slots).await?)
}

/// Reads the lines of an invoice as a list found it.
pub(super) async fn peek(
    tx: &Transaction<'_>,
    invoice: &mut Invoice,
    parts: u16,
) -> Result<(), Error> {
    let slots: Vec<_> = slots(tx, invoice.id, parts).collect();
    place(invoice, tx.peek(&slots).await?)
}

fn place(invoice: &mut Invoice, found: Vec<Option<InvoiceLines>>) -> Result<(), Error> {
    let mut lines: Vec<InvoiceLine> = Vec::new();
    for InvoiceLines { more, lines: of } in all_of(found)? {
        if let Some(last) = lines.last_mut() {
            last.parts.extend(more);
        }
        lines.extend(of);
    }
    match invoice.status {
        InvoiceStatus::Draft => invoice.by_hand = lines,
        _ => invoice.lines = lines,
    }
    Ok(())
}

/// Returns rows that an invoice names.
pub(super) fn all_of<T>(rows: Vec<Option<T>>) -> Result<Vec<T>, Error> {
    let rows: Option<_> = rows.into_iter().collect();
    rows.ok_or_else(|| Error::corrupt("a row of an invoice is missing"))
}

/// Writes lines of an invoice in place of those that were in so many rows, and returns in how many they are.
pub(super) fn put(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: InvoiceId,
    before: u16,
    lines: &[InvoiceLine],
) -> Result<u16, Error> {
    let mut rows = Parts::<InvoiceLines>::default();
    for line in lines {
        let whole = InvoiceLine { parts: Vec::new(), ..line.clone() };
        rows.with_room(&whole)?.lines.push(whole);
        for part in &line.parts {
            let row = rows.with_room(part)?;
            let parts = row.lines.last_mut().map_or(&mut row.more, |line| &mut line.parts);
            parts.push(part.clone());
        }
    }
    let mut parts = 0_u16;
    for lines in rows.all {
        guard.put(tx, &schema::invoice_lines(tx.account, invoice, parts), &lines)?;
        parts = parts.saturating_add(1);
    }
    delete(tx, guard, invoice, parts..before)?;
    Ok(parts)
}

/// Removes rows of lines.
pub(super) fn delete(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: InvoiceId,
    mut parts: std::ops::Range<u16>,
) -> Result<(), Error> {
    parts.try_for_each(|part| guard.delete(tx, &schema::invoice_lines(tx.account, invoice, part)))
}

/// Writes the prices of lines by hand.
pub(in crate::engine) fn put_prices<'a>(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    prices: impl IntoIterator<Item = &'a Price>,
) -> Result<(), Error> {
    let mut prices = prices.into_iter();
    prices.try_for_each(|of| guard.put(tx, &schema::line_price(tx.account, of.id), of))
}

/// Reads the price of a line by hand.
pub(in crate::engine) async fn price(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: PriceId,
) -> Result<Price, Error> {
    let price = guard.get(tx, &schema::line_price(tx.account, id)).await?;
    price.ok_or_else(|| Error::corrupt("the price of a line is missing"))
}

/// Removes the prices of lines by hand.
pub(in crate::engine) fn delete_prices(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    ids: impl IntoIterator<Item = PriceId>,
) -> Result<(), Error> {
    let mut ids = ids.into_iter();
    ids.try_for_each(|id| guard.delete(tx, &schema::line_price(tx.account, id)))
}

fn slots(
    tx: &Transaction<'_>,
    id: InvoiceId,
    parts: u16,
) -> impl Iterator<Item = Slot<InvoiceLines, CustomerHead>> {
    let account = tx.account;
    (0..parts).map(move |part| schema::invoice_lines(account, id, part))
}
