//! Payments of invoices: attempts that begin by hand, those that a gateway is to make, and what became of
//! them.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    Error, InvoiceId, Page, PageRequest, PaymentAttemptId,
    engine::{
        Account, Call,
        commands::waiting::Asked,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, invoices, lists::Walk},
        time::{collecting, current, purchases},
    },
    invoice::{Invoice, PaymentInstrument, PaymentOutcome, StartedPayment},
    limits,
    page::{InstantRange, Listing, Position},
    schema::{self, Index},
    webhook::Body,
};

/// Gateway that a host charges its customers with.
///
/// It is asked for each payment that is under way, and may be asked more than once for the same:
/// [`attempt_id`](StartedPayment::attempt_id) is its key for charging once.
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Charges a payment. `None` where the outcome is not known yet: it is asked again, unless somebody
    /// [reports](Account::report_payment) before.
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome>;
}

#[async_trait]
impl<G: PaymentGateway + ?Sized> PaymentGateway for Arc<G> {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        (**self).charge(payment).await
    }
}

impl Account {
    /// Begins to collect an invoice now (invoicing 8.4), with a shared payment token for this attempt alone
    /// or with what its customer pays with.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is not issued, a payment is
    /// under way, 100 were attempted, or the customer has nothing to pay with;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the token has more than
    /// [500](crate::limits::PROVIDER_CHARACTERS) characters.
    pub fn pay_invoice(&self, id: InvoiceId, token: Option<String>) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("pay_invoice", (id, token), |tx, (id, token)| {
                pay_invoice(tx, *id, token.clone())
            }),
        )
    }

    /// Takes back that an invoice was marked as paid (invoicing 8.5).
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it was not.
    pub fn undo_mark_invoice_paid(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(self, Op::new("undo_mark_invoice_paid", id, |tx, id| undo(tx, *id)))
    }

    /// Lists the payments that are under way, those that began last first.
    pub async fn list_started_payments(
        &self,
        page: &PageRequest,
    ) -> Result<Page<StartedPayment>, Error> {
        let listing =
            Listing { name: "started_payments", account: self.id(), filter: String::new() };
        let index = Index::started_payments(self.id());
        let mut walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        let account = self.id();
        let slot =
            |at: &Position| schema::invoice(account, InvoiceId::from_bytes(schema::id_at(at)));
        walk.run(&mut self.reading(), slot, |entry| entry.invoice.started_payment()).await
    }

    /// Says what became of a payment (invoicing 8.2). To say it again changes nothing.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where no such attempt is known.
    pub fn report_payment(&self, id: PaymentAttemptId, outcome: PaymentOutcome) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("report_payment", (id, outcome), |tx, (id, outcome)| report(tx, *id, outcome)),
        )
    }

    /// Charges the payments that are under way with a gateway, and reports what became of them; returns how
    /// many have. A host does so whenever [`tick`](crate::Billing::tick) has applied something.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// use accrue::invoice::{PaymentOutcome, StartedPayment};
    ///
    /// struct Declines;
    ///
    /// #[async_trait::async_trait]
    /// impl accrue::PaymentGateway for Declines {
    ///     async fn charge(&self, _: &StartedPayment) -> Option<PaymentOutcome> {
    ///         Some(PaymentOutcome::Declined { transaction_id: None })
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// assert_eq!(account.collect_payments(&Declines).await?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn collect_payments(&self, gateway: &dyn PaymentGateway) -> Result<usize, Error> {
        let (mut page, mut asked) = (PageRequest::default(), Asked::default());
        loop {
            let Page { data, next_cursor } = self.list_started_payments(&page).await?;
            for payment in data {
                if let Some(outcome) = gateway.charge(&payment).await {
                    let reported = self.report_payment(payment.attempt_id, outcome).await;
                    asked.note(reported.map(|_| true))?;
                }
            }
            let Some(cursor) = next_cursor else { return asked.settled() };
            page = page.after(cursor);
        }
    }
}

/// Refuses a word of a provider that is too long to be kept.
fn check_word(field: &str, word: Option<&str>) -> Result<(), Error> {
    let (count, most) = (word.map_or(0, |word| word.chars().count()), limits::PROVIDER_CHARACTERS);
    if count > most {
        let message = format!("found {count} characters, expected at most {most}");
        return Err(Error::invalid(field, message));
    }
    Ok(())
}

#[boxed]
async fn pay_invoice(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    token: Option<String>,
) -> Result<Invoice, Stop> {
    check_word("shared_payment_token_id", token.as_deref())?;
    let mut invoice = invoices::invoice(tx, id).await?;
    current::current_head(tx, invoice.customer_id).await?;
    invoice.check_pay()?;
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let token = token.map(PaymentInstrument::Token);
    let instrument = token.or_else(|| PaymentInstrument::of(&customer));
    let nothing = || Error::constraint("the customer has nothing to pay with");
    let instrument = Some(instrument.ok_or_else(nothing)?);
    collecting::begin(tx, &mut invoice, &customer, instrument, false, tx.now).await?;
    Ok(invoice)
}

#[boxed]
async fn report(
    tx: &mut Transaction<'_>,
    id: PaymentAttemptId,
    outcome: &PaymentOutcome,
) -> Result<Invoice, Stop> {
    let (PaymentOutcome::Succeeded { transaction_id, .. }
    | PaymentOutcome::Declined { transaction_id }) = outcome;
    check_word("transaction_id", transaction_id.as_deref())?;
    let mut invoice = invoices::invoice_of_attempt(tx, id).await?;
    current::current_head(tx, invoice.customer_id).await?;
    collecting::settle(tx, &mut invoice, id, outcome, tx.now).await?;
    purchases::follow(tx, &invoice, tx.now).await?;
    Ok(invoice)
}

#[boxed]
async fn undo(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = invoices::invoice(tx, id).await?;
    current::current_head(tx, invoice.customer_id).await?;
    let before = invoice.status;
    invoice.undo_mark_as_paid()?;
    invoices::save(tx, before, &invoice).await?;
    let body = Body::InvoiceUndoMarkAsPaid { invoice_id: id };
    rows::outbox::tell(tx, invoice.customer_id, tx.now, body).await?;
    Ok(invoice)
}
