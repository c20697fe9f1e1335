//! Invoices that are collected: attempts that begin, what becomes of them, and retries (invoicing 8).

use crate::{
    Error, PaymentAttemptId, Timestamp,
    customer::{Customer, PaymentProvider},
    engine::{
        kernel::Transaction,
        rows::{account, customers, invoices, outbox},
    },
    invoice::{
        Attempted, BalanceAction, CollectionStep, Dunned, Invoice, InvoiceStatus, PaymentFailure,
        PaymentInstrument, PaymentOutcome,
    },
    webhook::{Body, PaymentTold},
};

/// Takes what time brings an invoice that is to be collected.
pub(super) async fn take(
    tx: &mut Transaction<'_>,
    mut invoice: Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    match (invoice.next_collection(), invoice.paying.clone()) {
        (Some((_, CollectionStep::GiveUp)), Some(attempt)) => {
            let customer = customers::customer(tx, &invoice.customer_id.into()).await?;
            let told = told(&customer, &invoice, attempt.id, Some(&attempt.instrument), None);
            let before = invoice.status;
            let is_automatic = attempt.is_automatic;
            let provider = (told.payment_provider, None);
            invoice.fail_payment(attempt, PaymentFailure::NotReported, provider, at);
            tell(tx, &invoice, Body::InvoicePaymentFailed(Box::new(told)), at).await?;
            dun(tx, &mut invoice, is_automatic, at).await?;
            invoices::save(tx, before, &invoice).await
        }
        _ if invoice.status != InvoiceStatus::Issued => {
            let before = invoice.status;
            conclude(tx, &mut invoice, at).await?;
            invoices::save(tx, before, &invoice).await
        }
        _ => {
            let customer = customers::customer(tx, &invoice.customer_id.into()).await?;
            let instrument = PaymentInstrument::of(&customer);
            begin(tx, &mut invoice, &customer, instrument, true, at).await
        }
    }
}

/// Begins an attempt to collect an invoice.
pub(in crate::engine) async fn begin(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    customer: &Customer,
    instrument: Option<PaymentInstrument>,
    is_automatic: bool,
    at: Timestamp,
) -> Result<(), Error> {
    let begun = invoice.begin_payment(instrument.clone(), is_automatic, at);
    let id = match (&invoice.paying, invoice.payment_attempts.last()) {
        (Some(attempt), _) => attempt.id,
        (None, Some(attempt)) => attempt.id,
        (None, None) => return Err(Error::corrupt("an attempt has not begun")),
    };
    let told = Box::new(told(customer, invoice, id, instrument.as_ref(), None));
    tell(tx, invoice, Body::InvoicePaymentProcessing(told.clone()), at).await?;
    if is_automatic {
        let dunned = invoice.retry(at);
        tell_dunned(tx, invoice, dunned, at).await?;
    }
    if begun == Attempted::Failed {
        tell(tx, invoice, Body::InvoicePaymentFailed(told), at).await?;
        dun(tx, invoice, is_automatic, at).await?;
    }
    invoices::save(tx, invoice.status, invoice).await
}

/// Ends an attempt with what became of it.
pub(in crate::engine) async fn settle(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    id: PaymentAttemptId,
    outcome: &PaymentOutcome,
    at: Timestamp,
) -> Result<(), Error> {
    let before = invoice.status;
    let under_way = invoice.paying.clone().filter(|attempt| attempt.id == id);
    let is_late = under_way.is_none();
    let attempt = under_way.or_else(|| invoice.not_reported(id));
    let is_known = invoice.payment_attempts.iter().any(|of| of.id == id);
    let Some(attempt) = attempt else {
        // What was reported already has had its effect.
        return if is_known { Ok(()) } else { Err(Error::not_found("payment attempt", id)) };
    };
    let mut books = invoices::books(tx, invoice.customer_id).await?;
    let customer = &books.entry.customer;
    let instrument = (!is_late).then_some(&attempt.instrument);
    let is_automatic = attempt.is_automatic;
    match outcome {
        PaymentOutcome::Succeeded { received_at, transaction_id } => {
            let told = told(customer, invoice, id, instrument, transaction_id.clone());
            let provider = (told.payment_provider, transaction_id.clone());
            let paying = invoice.paying.take().filter(|of| of.id != id);
            let excess = invoice.take_payment(attempt, provider, *received_at, at);
            invoice.paying = paying;
            tell(tx, invoice, Body::InvoicePaymentSucceeded(Box::new(told)), at).await?;
            conclude(tx, invoice, at).await?;
            if !excess.is_zero() {
                let action = match excess.is_negative() {
                    true => BalanceAction::CreditNoteVoided,
                    false => BalanceAction::OverpaymentRefund,
                };
                let id = invoices::transaction_id(tx);
                let invoices::Books { entry, receivables } = &mut books;
                let movement = invoice.movement(excess, action);
                let made = receivables.book(&mut entry.customer, id, movement, at);
                invoice.balance_transactions.push(made.clone());
                invoices::save_books(tx, &books, Some(&made)).await?;
                let body = Body::BalanceTransactionCreated { transaction: Box::new(made) };
                tell(tx, invoice, body, at).await?;
            }
        }
        PaymentOutcome::Declined { transaction_id } if !is_late => {
            let told = told(customer, invoice, id, instrument, transaction_id.clone());
            let provider = (told.payment_provider, transaction_id.clone());
            invoice.fail_payment(attempt, PaymentFailure::Declined, provider, at);
            tell(tx, invoice, Body::InvoicePaymentFailed(Box::new(told)), at).await?;
            dun(tx, invoice, is_automatic, at).await?;
        }
        // It has failed already.
        PaymentOutcome::Declined { .. } => return Ok(()),
    }
    invoices::save(tx, before, invoice).await
}

/// Ends what collects an invoice by itself, where it is paid or owed no longer.
pub(in crate::engine) async fn conclude(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    let dunned = invoice.conclude(at);
    tell_dunned(tx, invoice, dunned, at).await
}

/// Plans a retry of an attempt that began by itself.
async fn dun(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    is_automatic: bool,
    at: Timestamp,
) -> Result<(), Error> {
    if !is_automatic {
        return Ok(());
    }
    let days = account::account_entry(tx).await?.configuration.retry_days.clone();
    let dunned = invoice.dun(&days, at);
    tell_dunned(tx, invoice, dunned, at).await
}

async fn tell_dunned(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
    dunned: Option<Dunned>,
    at: Timestamp,
) -> Result<(), Error> {
    let Some(dunned) = dunned else { return Ok(()) };
    let invoice_id = invoice.id;
    let body = match dunned {
        Dunned::Created(schedule) => Body::InvoiceDunningScheduleCreated(Box::new(schedule)),
        Dunned::Reset { schedule, previous } => Body::InvoiceDunningScheduleReset {
            schedule: Box::new(schedule),
            previous: Box::new(previous),
        },
        Dunned::Executed(step) => {
            Body::InvoiceDunningScheduleStepExecuted { invoice_id, step: Box::new(step) }
        }
        Dunned::Ended(schedule) => Body::InvoiceDunningScheduleEnded(Box::new(schedule)),
    };
    tell(tx, invoice, body, at).await
}

async fn tell(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
    body: Body,
    at: Timestamp,
) -> Result<(), Error> {
    outbox::tell(tx, invoice.customer_id, at, body).await
}

fn told(
    customer: &Customer,
    invoice: &Invoice,
    attempt_id: PaymentAttemptId,
    instrument: Option<&PaymentInstrument>,
    transaction_id: Option<String>,
) -> PaymentTold {
    let gateway = customer.payment_provider.filter(|of: &PaymentProvider| of.is_gateway());
    PaymentTold {
        invoice_id: invoice.id,
        attempt_id,
        payment_provider: gateway,
        payment_provider_id: customer.payment_provider_id.clone().filter(|_| gateway.is_some()),
        payment_provider_transaction_id: transaction_id,
        shared_payment_token_id: instrument.and_then(PaymentInstrument::token).map(str::to_owned),
    }
}
