//! Issues drafts with the lines that they show (invoicing 4.3).

use crate::{
    Carried, Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, invoices, outbox},
        time::taxing,
    },
    invoice::{BalanceTransaction, Invoice, Issue, Payment, TaxAnswer, Terms},
    webhook::Body,
};

/// Issues a draft with the lines that it shows, by the terms of its subscription and of its plan; one that is to
/// be taxed waits for that first. Tells whether it is issued.
pub(super) async fn issue_shown(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    carried: [&Carried; 2],
    taxes: Option<TaxAnswer<'_>>,
    at: Timestamp,
) -> Result<bool, Error> {
    let settles = taxing::settles(tx, invoice, taxes, at).await?;
    if settles {
        issue(tx, invoice, carried, at).await?;
    }
    Ok(settles)
}

/// Issues a draft with the lines that it shows, whose taxes are known where it has some.
pub(super) async fn issue(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    carried: [&Carried; 2],
    at: Timestamp,
) -> Result<(), Error> {
    issue_by(tx, invoice, carried, at, Invoice::issue).await
}

/// Issues a draft as paid, because it was paid elsewhere, with the lines that it shows.
pub(super) async fn issue_as_paid(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    issue_by(tx, invoice, [&Carried::NONE; 2], at, Invoice::issue_as_paid).await
}

async fn issue_by(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    [subscription, plan]: [&Carried; 2],
    at: Timestamp,
    issue: fn(&mut Invoice, Issue<'_>) -> Vec<BalanceTransaction>,
) -> Result<(), Error> {
    let mut books = invoices::books(tx, invoice.customer_id).await?;
    let account = rows::account::account_entry(tx).await?;
    let configuration = &account.configuration;
    let before = invoice.status;
    let addressed = books.entry.customer.clone();
    let issued = Issue {
        terms: Terms::new(subscription, plan, &addressed, configuration),
        basis: configuration.due_date_basis,
        customer: &mut books.entry.customer,
        receivables: &mut books.receivables,
        transaction_ids: &|| invoices::transaction_id(tx),
        least_charge: configuration.least_charges.get(&invoice.currency),
        at,
    };
    let transactions = issue(invoice, issued);
    invoices::save(tx, before, invoice).await?;
    invoices::save_books(tx, &books, &transactions).await?;
    let automatically_marked_as_paid = invoice.paid_at.is_some() && invoice.prepaid.is_none();
    let body = Body::InvoiceIssued { invoice_id: invoice.id, automatically_marked_as_paid };
    outbox::tell(tx, invoice.customer_id, at, body).await?;
    if configuration.tells_issued_summaries {
        let invoice_id = invoice.id;
        let body = Body::InvoiceIssuedSummary { invoice_id, automatically_marked_as_paid };
        outbox::tell(tx, invoice.customer_id, at, body).await?;
    }
    if let Some(prepaid) = &invoice.prepaid {
        let Payment { received_at, external_id, notes } = prepaid.payment.clone();
        let body = Body::InvoiceMarkedAsPaid {
            invoice_id: invoice.id,
            payment_received_date: received_at,
            external_id,
            notes,
        };
        outbox::tell(tx, invoice.customer_id, at, body).await?;
    }
    for transaction in transactions {
        let body = Body::BalanceTransactionCreated { transaction: Box::new(transaction) };
        outbox::tell(tx, invoice.customer_id, at, body).await?;
    }
    Ok(())
}
