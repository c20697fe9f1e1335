//! One-off invoices: drafts whose dates pass, and that are issued (invoicing 4.4, 5.3).

use crate::{
    Carried, Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, invoices, outbox},
        time::{issuing, purchases},
    },
    invoice::{Invoice, InvoiceStatus, TaxAnswer, Terms},
    webhook::Body,
};

/// Lets the date of a draft pass, and issues it where it is issued by itself.
pub(super) async fn elapse(
    tx: &mut Transaction<'_>,
    mut invoice: Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    follow_issuance(tx, &mut invoice).await?;
    invoice.elapse();
    invoices::save(tx, InvoiceStatus::Draft, &invoice).await?;
    let body = Body::InvoiceDateElapsed { invoice_id: invoice.id, invoice_date: at };
    outbox::tell(tx, invoice.customer_id, at, body).await?;
    if invoice.is_to_be_issued() {
        issue(tx, &mut invoice, None, at).await?;
    }
    Ok(())
}

/// Has somebody issue a draft of credits that are bought, where issuing by itself was turned off since (invoicing
/// 4.4).
pub(in crate::engine) async fn follow_issuance(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
) -> Result<(), Error> {
    if invoice.bought.is_some() && invoice.will_auto_issue {
        let books = invoices::books(tx, invoice.customer_id).await?;
        let account = rows::account::account_entry(tx).await?;
        let terms = Terms::of_customer(&books.entry.customer, &account.configuration);
        invoice.will_auto_issue = terms.auto_issuance();
    }
    Ok(())
}

/// Issues a draft with its lines; one that is to be taxed waits for that first.
pub(in crate::engine) async fn issue(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    taxes: Option<TaxAnswer<'_>>,
    at: Timestamp,
) -> Result<(), Error> {
    invoice.show_lines_by_hand();
    issuing::issue_shown(tx, invoice, [&Carried::NONE; 2], taxes, at).await?;
    purchases::follow(tx, invoice, at).await
}
