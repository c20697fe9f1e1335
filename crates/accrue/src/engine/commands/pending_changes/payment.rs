//! What was paid for a change elsewhere (invoicing 12.3).

use crate::{
    Decimal, Error, InvoiceId,
    engine::{
        commands::{
            balance_transactions, changed,
            invoices::{issue_draft, show},
        },
        kernel::{Stop, Transaction},
        rows::{self, invoices},
        time::invoicing,
    },
    invoice::{Invoice, InvoiceStatus, PaidElsewhere, Prepayment},
    schema::Index,
    subscription::SubscriptionChange,
};

/// Prepares for what a change is going to issue: the balance has what was collected, or what is issued is paid.
pub(super) async fn begin(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
    how: &PaidElsewhere,
) -> Result<(), Error> {
    if how.collected().is_some() {
        let customer = rows::customers::customer(tx, &of.customer_id.into()).await?;
        customer.check_balance_counts()?;
    }
    match &how.paid {
        Some(payment) => {
            let prepaid = Prepayment { payment: payment.clone(), is_of_balance: false };
            prepay(tx, of, Some(prepaid)).await
        }
        None => collect(tx, of, how, &Decimal::zero()).await,
    }
}

/// Issues what the change left to somebody of fees in advance, where something was paid; and gives the balance what was
/// collected beyond what is paid by that.
pub(super) async fn settle(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
    how: &PaidElsewhere,
) -> Result<(), Stop> {
    if how.collected().is_none() && how.paid.is_none() {
        return Ok(());
    }
    let mut paid = Decimal::zero();
    for mut invoice in created(tx, of).await? {
        if invoice.status == InvoiceStatus::Draft && !invoice.awaits_tax() {
            show(tx, &mut invoice).await?;
            let is_due = invoice.invoice_date <= tx.now;
            if !is_due || !invoicing::is_of_fees_in_advance(tx, &invoice).await? {
                continue;
            }
            invoice = issue_draft(tx, invoice, None).await?;
        }
        match (&mut invoice.prepaid, invoice.status) {
            (Some(_), InvoiceStatus::Paid) => paid += &invoice.total,
            // It is issued once its tax is known: then the balance owes what it comes to.
            (Some(prepaid), InvoiceStatus::Draft) if how.collected().is_some() => {
                prepaid.is_of_balance = true;
                invoices::save(tx, InvoiceStatus::Draft, &invoice).await?;
            }
            _ => {}
        }
    }
    if how.paid.is_some() {
        collect(tx, of, how, &paid).await?;
        prepay(tx, of, None).await?;
    }
    Ok(())
}

/// Reads the invoices of its subscription that a change has made.
async fn created(tx: &mut Transaction<'_>, of: &SubscriptionChange) -> Result<Vec<Invoice>, Error> {
    let mut found = Vec::new();
    for id in changed::made(tx, &Index::invoices_of_customer(tx.account, of.customer_id))? {
        found.push(invoices::invoice(tx, InvoiceId::from_bytes(id)).await?);
    }
    found.retain(|invoice| invoice.subscription_id == Some(of.subscription_id));
    Ok(found)
}

/// Has what is issued from now on be paid, or no longer.
async fn prepay(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
    prepaid: Option<Prepayment>,
) -> Result<(), Error> {
    let mut books = invoices::books(tx, of.customer_id).await?;
    books.receivables.prepaid = prepaid;
    invoices::save_books(tx, &books, None).await
}

/// Gives the balance what was collected, less what is paid by it.
async fn collect(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
    how: &PaidElsewhere,
    paid: &Decimal,
) -> Result<(), Error> {
    if let Some(movement) = how.movement(paid, of.currency)? {
        balance_transactions::book(tx, of.customer_id, movement).await?;
    }
    Ok(())
}
