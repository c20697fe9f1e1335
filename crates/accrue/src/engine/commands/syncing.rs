//! Invoices that an invoicing provider of the host collects: those that it is to take, and whether it has.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    Error, InvoiceId, Page, PageRequest,
    customer::PaymentProvider,
    engine::{
        Account, Call,
        commands::{invoices::current_invoice, waiting::Asked},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, invoices, outbox},
    },
    invoice::{Invoice, InvoiceStatus, SyncOutcome, SyncRequest, SyncTold},
    schema::Index,
    webhook::Body,
};

/// Provider that invoices customers in its own name, as the host reaches it (invoicing 16.2).
///
/// It may be asked more than once for the same invoice, which it knows by its id and takes once.
#[async_trait]
pub trait InvoicingProvider: Send + Sync {
    /// Takes an invoice over. `None` where nobody knows yet whether it was taken: it is asked again, unless somebody
    /// [reports](Account::report_sync) before.
    async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome>;
}

#[async_trait]
impl<P: InvoicingProvider + ?Sized> InvoicingProvider for Arc<P> {
    async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome> {
        (**self).sync(request).await
    }
}

impl Account {
    /// Lists the issued invoices that an invoicing provider is to take, and to be asked for by now, those that
    /// began to wait last first.
    pub async fn list_invoices_awaiting_sync(
        &self,
        page: &PageRequest,
    ) -> Result<Page<InvoiceId>, Error> {
        let index = Index::awaited_syncs(self.id());
        self.list_waiting_invoices("invoices_awaiting_sync", index, page).await
    }

    /// Returns what an invoicing provider is asked for; `None` where nothing is: the invoice waits no longer, or its
    /// customer is invoiced through no provider by now.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice.
    pub async fn sync_request(&self, id: InvoiceId) -> Result<Option<SyncRequest>, Error> {
        let find = |mut tx| async move {
            let found = asked_of(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Says whether an invoicing provider has taken an invoice (invoicing 16.2). It is synced then; where it failed
    /// it stays issued, and is asked for again after an hour.
    ///
    /// Nothing changes where the invoice waits no longer, or a payment of it is under way.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice.
    pub fn report_sync(&self, id: InvoiceId, outcome: SyncOutcome) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("report_sync", (id, outcome), |tx, (id, outcome)| report(tx, *id, *outcome)),
        )
    }

    /// Asks a provider to take the invoices that wait for it, and reports what it answers; returns how many were
    /// taken. A host does so whenever [`tick`](crate::Billing::tick) has applied something, and every few minutes
    /// for those that are tried again.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// use accrue::invoice::{SyncOutcome, SyncRequest};
    ///
    /// /// Books of the host's own.
    /// struct Books;
    ///
    /// #[async_trait::async_trait]
    /// impl accrue::InvoicingProvider for Books {
    ///     async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome> {
    ///         // Send the invoice, under its id as the idempotency key.
    ///         println!("{} owes {}", request.customer.name, request.invoice.amount_due);
    ///         Some(SyncOutcome::Succeeded)
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// assert_eq!(account.sync_invoices(&Books).await?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn sync_invoices(&self, provider: &dyn InvoicingProvider) -> Result<usize, Error> {
        let (mut page, mut asked) = (PageRequest::default(), Asked::default());
        loop {
            let Page { data, next_cursor } = self.list_invoices_awaiting_sync(&page).await?;
            for id in data {
                asked.note(self.sync_invoice(id, provider).await)?;
            }
            let Some(cursor) = next_cursor else { return asked.settled() };
            page = page.after(cursor);
        }
    }

    fn leave_unsynced(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(self, Op::new("leave_unsynced", id, |tx, id| leave(tx, *id)))
    }

    /// Asks for one invoice, and tells whether it is taken by that.
    async fn sync_invoice(
        &self,
        id: InvoiceId,
        provider: &dyn InvoicingProvider,
    ) -> Result<bool, Error> {
        let Some(request) = self.sync_request(id).await? else {
            self.leave_unsynced(id).await?;
            return Ok(false);
        };
        let Some(outcome) = provider.sync(&request).await else { return Ok(false) };
        // It may have been settled meanwhile.
        Ok(self.report_sync(id, outcome).await?.status == InvoiceStatus::Synced)
    }
}

#[boxed]
async fn asked_of(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Option<SyncRequest>, Error> {
    let invoice = invoices::invoice(tx, id).await?;
    if !invoice.awaits_sync() {
        return Ok(None);
    }
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    Ok(SyncRequest::of(invoice, customer))
}

#[boxed]
async fn report(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    outcome: SyncOutcome,
) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    if !invoice.awaits_sync() {
        return Ok(invoice);
    }
    let before = invoice.status;
    invoice.sync(outcome, tx.now);
    invoices::save(tx, before, &invoice).await?;
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let told = SyncTold {
        invoice_id: id,
        payment_provider: customer.payment_provider,
        payment_provider_id: customer.payment_provider_id,
    };
    let body = match outcome {
        SyncOutcome::Succeeded => Body::InvoiceSyncSucceeded(told),
        SyncOutcome::Failed => Body::InvoiceSyncFailed(told),
    };
    outbox::tell(tx, invoice.customer_id, tx.now, body).await?;
    Ok(invoice)
}

/// Asks for an invoice no more whose customer is invoiced through no provider by now.
#[boxed]
async fn leave(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let is_synced = customer.payment_provider.is_some_and(PaymentProvider::is_invoicing);
    if invoice.awaits_sync() && !is_synced {
        let before = invoice.status;
        invoice.leave_unsynced();
        invoices::save(tx, before, &invoice).await?;
    }
    Ok(invoice)
}
