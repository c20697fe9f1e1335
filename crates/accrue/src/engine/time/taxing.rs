//! Drafts that wait for their tax before they are issued (`docs/decisions/taxes-are-asked-before-issuing.md`).

use std::collections::BTreeSet;

use crate::{
    Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, invoices},
    },
    invoice::{Invoice, InvoiceStatus, TaxAnswer, TaxRequest},
};

/// Returns what is to be asked for before a draft is issued with the lines that it shows, if anything is.
pub(in crate::engine) async fn request(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<Option<TaxRequest>, Error> {
    if !rows::account::account_entry(tx).await?.configuration.calculates_taxes {
        return Ok(None);
    }
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let ids: BTreeSet<_> = invoice.lines.iter().map(|line| line.price_id).collect();
    let ids: Vec<_> = ids.into_iter().collect();
    let prices = rows::prices::prices_of_lines(tx, &ids).await?;
    Ok(TaxRequest::of(invoice, &customer, &prices))
}

/// Gives a draft its taxes, or lets it wait for them; tells whether it is to be issued now. An answer counts
/// where what it is of is what would be asked for now.
pub(super) async fn settles(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    answer: Option<TaxAnswer<'_>>,
    at: Timestamp,
) -> Result<bool, Error> {
    let Some(asked) = request(tx, invoice).await? else { return Ok(true) };
    match answer {
        Some(TaxAnswer { request, taxes }) if *request == asked => {
            invoice.tax(taxes)?;
            Ok(true)
        }
        _ => {
            invoice.await_tax(at);
            invoices::save(tx, InvoiceStatus::Draft, invoice).await?;
            Ok(false)
        }
    }
}
