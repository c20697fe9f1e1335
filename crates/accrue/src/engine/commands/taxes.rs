//! Taxes that a host calculates: drafts that wait for theirs, and what becomes of them.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    Error, InvoiceId, Page, PageRequest,
    engine::{
        Account, Call,
        commands::{
            invoices::{current_invoice, issue_draft, show, show_as_billed},
            waiting::Asked,
        },
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, invoices, outbox},
        time::{invoicing, one_off, taxing},
    },
    invoice::{Invoice, InvoiceStatus, TaxAnswer, TaxOutcome, TaxRequest},
    limits,
    schema::Index,
    webhook::Body,
};

/// Provider that a host calculates taxes with.
///
/// It is asked before an invoice is issued, and may be asked more than once for the same: what it answers
/// counts once.
#[async_trait]
pub trait TaxProvider: Send + Sync {
    /// Calculates the taxes of a draft. `None` where they are not known yet: it is asked again, unless somebody
    /// [reports](Account::report_taxes) before.
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome>;
}

#[async_trait]
impl<P: TaxProvider + ?Sized> TaxProvider for Arc<P> {
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
        (**self).calculate(request).await
    }
}

impl Account {
    /// Lists the drafts that wait for their tax and whose tax is to be asked for by now, those that began to
    /// wait last first.
    pub async fn list_invoices_awaiting_tax(
        &self,
        page: &PageRequest,
    ) -> Result<Page<InvoiceId>, Error> {
        let index = Index::awaited_taxes(self.id());
        self.list_waiting_invoices("invoices_awaiting_tax", index, page).await
    }

    /// Returns what a draft is to be taxed by, as it would be issued now; `None` where nothing is to be asked:
    /// it waits for no tax, or its customer is taxed no longer.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice.
    pub async fn tax_request(&self, id: InvoiceId) -> Result<Option<TaxRequest>, Error> {
        let find = |mut tx| async move {
            let found = asked_of(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Says what the taxes of a draft are that waits for them, and issues it with these (invoicing 4.3), or that
    /// they cannot be told: then it stays a draft, and is asked for again after an hour where it is issued by
    /// itself (invoicing 4.5).
    ///
    /// An answer whose request is not what would be asked now changes nothing: the draft goes on waiting. Nor
    /// does one for an invoice that waits no longer.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a line is not one of the draft, or has
    /// more than [20](crate::limits::TAXES_OF_LINE) taxes.
    pub fn report_taxes(&self, request: TaxRequest, outcome: TaxOutcome) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("report_taxes", (request, outcome), |tx, (request, outcome)| {
                report(tx, request, outcome)
            }),
        )
    }

    /// Asks a provider for the taxes of the drafts that wait for theirs, and reports what it answers; returns
    /// how many were issued. A host does so whenever [`tick`](crate::Billing::tick) has applied something, and
    /// every few minutes for those that are tried again.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// use accrue::{Decimal, Name, invoice::{TaxAmount, TaxOutcome, TaxReason, TaxRequest}};
    ///
    /// /// A fifth of everything.
    /// struct Vat;
    ///
    /// #[async_trait::async_trait]
    /// impl accrue::TaxProvider for Vat {
    ///     async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
    ///         let fifth = Decimal::parse("0.2").ok()?;
    ///         let vat = Name::parse("VAT").ok()?;
    ///         let taxes = request.lines.iter().map(|line| {
    ///             let tax = TaxAmount {
    ///                 description: vat.clone(),
    ///                 percentage: Some(Decimal::from(20)),
    ///                 amount: &line.amount * &fifth,
    ///                 reason: Some(TaxReason::Taxed),
    ///             };
    ///             (line.id, vec![tax])
    ///         });
    ///         Some(TaxOutcome::Calculated(taxes.collect()))
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// assert_eq!(account.calculate_taxes(&Vat).await?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn calculate_taxes(&self, provider: &dyn TaxProvider) -> Result<usize, Error> {
        let (mut page, mut asked) = (PageRequest::default(), Asked::default());
        loop {
            let Page { data, next_cursor } = self.list_invoices_awaiting_tax(&page).await?;
            for id in data {
                asked.note(self.calculate_tax(id, provider).await)?;
            }
            let Some(cursor) = next_cursor else { return asked.settled() };
            page = page.after(cursor);
        }
    }

    fn issue_untaxed(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(self, Op::new("issue_untaxed", id, |tx, id| issue_untaxed(tx, *id)))
    }

    /// Asks for the taxes of one draft, and tells whether it is issued by that.
    async fn calculate_tax(
        &self,
        id: InvoiceId,
        provider: &dyn TaxProvider,
    ) -> Result<bool, Error> {
        let invoice = match self.tax_request(id).await? {
            None => self.issue_untaxed(id).await?,
            Some(request) => match provider.calculate(&request).await {
                Some(outcome) => self.report_taxes(request, outcome).await?,
                None => return Ok(false),
            },
        };
        Ok(invoice.status != InvoiceStatus::Draft)
    }
}

#[boxed]
async fn asked_of(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Option<TaxRequest>, Error> {
    let mut invoice = invoices::invoice(tx, id).await?;
    if !invoice.awaits_tax() {
        return Ok(None);
    }
    show_as_billed(tx, &mut invoice).await?;
    taxing::request(tx, &invoice).await
}

#[boxed]
async fn report(
    tx: &mut Transaction<'_>,
    request: &TaxRequest,
    outcome: &TaxOutcome,
) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, request.invoice_id).await?;
    if still_waits(tx, &mut invoice).await? {
        match outcome {
            TaxOutcome::Calculated(taxes) => {
                return issue_draft(tx, invoice, Some(TaxAnswer { request, taxes })).await;
            }
            TaxOutcome::Refused { reason } => {
                invoice.fail_to_issue(tx.now);
                invoices::save(tx, InvoiceStatus::Draft, &invoice).await?;
                let reason = reason.chars().take(limits::PROVIDER_CHARACTERS).collect();
                let body = Body::InvoiceIssueFailed { invoice_id: invoice.id, reason };
                outbox::tell(tx, invoice.customer_id, tx.now, body).await?;
            }
        }
    }
    show(tx, &mut invoice).await?;
    Ok(invoice)
}

/// Issues a draft of whose tax nothing is to be asked any more. One that is to be taxed after all goes on
/// waiting, and one that waits no longer stays as it is.
#[boxed]
async fn issue_untaxed(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    if still_waits(tx, &mut invoice).await? {
        return issue_draft(tx, invoice, None).await;
    }
    Ok(invoice)
}

/// Tells whether an invoice waits for its tax still. Where drafts of its subscription are issued by themselves
/// no longer, it is left to somebody.
async fn still_waits(tx: &mut Transaction<'_>, invoice: &mut Invoice) -> Result<bool, Error> {
    if invoice.awaits_tax() && is_left_to_somebody(tx, invoice).await? {
        invoice.leave_to_somebody();
        invoices::save(tx, InvoiceStatus::Draft, invoice).await?;
    }
    Ok(invoice.awaits_tax())
}

/// Tells whether drafts like it are issued by themselves no longer, since this one began to wait.
async fn is_left_to_somebody(tx: &mut Transaction<'_>, invoice: &Invoice) -> Result<bool, Error> {
    if !invoice.will_auto_issue {
        return Ok(false);
    }
    let Some(id) = invoice.subscription_id else {
        let mut followed = invoice.clone();
        one_off::follow_issuance(tx, &mut followed).await?;
        return Ok(!followed.will_auto_issue);
    };
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    Ok(!invoicing::is_automatic(tx, &entry).await?)
}
