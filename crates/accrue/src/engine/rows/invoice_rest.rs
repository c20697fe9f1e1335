//! What of an invoice may be long, beside its lines: texts, and attempts to pay it. Each has rows of its own,
//! so that no invoice grows beyond what a row takes.

use crate::{
    Error, InvoiceId,
    engine::{
        kernel::{Guard, Transaction},
        rows::invoice_lines::all_of,
    },
    invoice::{Invoice, PaymentAttempt},
    schema::{self, CustomerHead, InvoiceTexts, Slot},
};

/// Which of these rows an invoice has.
#[derive(Clone, Copy, Default)]
pub(super) struct Rest {
    pub(super) has_texts: bool,
    pub(super) attempts: u32,
}

/// Reads them.
pub(super) async fn read(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: &mut Invoice,
    rest: Rest,
) -> Result<(), Error> {
    let (texts, attempts) = slots(tx, invoice.id, rest);
    let texts = guard.get_all(tx, &texts).await?;
    place(invoice, texts, guard.get_all(tx, &attempts).await?)
}

/// Reads those of an invoice that a list found.
pub(super) async fn peek(
    tx: &Transaction<'_>,
    invoice: &mut Invoice,
    rest: Rest,
) -> Result<(), Error> {
    let (texts, attempts) = slots(tx, invoice.id, rest);
    let texts = tx.peek(&texts).await?;
    place(invoice, texts, tx.peek(&attempts).await?)
}

/// Puts them in place of what the row of the invoice itself has: it has them in its older form.
fn place(
    invoice: &mut Invoice,
    texts: Vec<Option<InvoiceTexts>>,
    attempts: Vec<Option<PaymentAttempt>>,
) -> Result<(), Error> {
    if let Some(InvoiceTexts { memo, metadata }) = all_of(texts)?.pop() {
        (invoice.memo, invoice.metadata) = (memo, metadata);
    }
    if !attempts.is_empty() {
        invoice.payment_attempts = all_of(attempts)?;
    }
    Ok(())
}

/// Writes those that are others than before, and returns which there are.
pub(super) async fn put(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: &Invoice,
    before: Rest,
) -> Result<Rest, Error> {
    let Invoice { id, memo, metadata, payment_attempts, .. } = invoice;
    let has_texts = memo.is_some() || !metadata.is_empty();
    let (texts, attempts) = slots(tx, *id, before);
    let texts = guard.get_all(tx, &texts).await?.pop().flatten();
    let slot = schema::invoice_texts(tx.account, *id);
    if has_texts {
        let new = InvoiceTexts { memo: memo.clone(), metadata: metadata.clone() };
        if texts.as_ref() != Some(&new) {
            guard.put(tx, &slot, &new)?;
        }
    } else if texts.is_some() {
        guard.delete(tx, &slot)?;
    }
    let mut known = guard.get_all(tx, &attempts).await?.into_iter();
    let mut number = 0_u32;
    for attempt in payment_attempts {
        if known.next().flatten().as_ref() != Some(attempt) {
            guard.put(tx, &schema::payment_attempt(tx.account, *id, number), attempt)?;
        }
        number = number.saturating_add(1);
    }
    Ok(Rest { has_texts, attempts: number })
}

/// Removes those of a draft, which nobody has paid.
pub(super) fn delete(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    invoice: InvoiceId,
    Rest { has_texts, .. }: Rest,
) -> Result<(), Error> {
    match has_texts {
        true => guard.delete(tx, &schema::invoice_texts(tx.account, invoice)),
        false => Ok(()),
    }
}

type OfCustomer<T> = Vec<Slot<T, CustomerHead>>;

fn slots(
    tx: &Transaction<'_>,
    id: InvoiceId,
    Rest { has_texts, attempts }: Rest,
) -> (OfCustomer<InvoiceTexts>, OfCustomer<PaymentAttempt>) {
    let account = tx.account;
    let texts = has_texts.then(|| schema::invoice_texts(account, id));
    let attempts = (0..attempts).map(|number| schema::payment_attempt(account, id, number));
    (texts.into_iter().collect(), attempts.collect())
}
