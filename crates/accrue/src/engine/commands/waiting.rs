//! Invoices that wait for a provider of the host.

use crate::{
    Error, InstantRange, InvoiceId, Page, PageRequest,
    engine::{Account, rows::lists::Walk},
    page::{Listing, Position},
    schema::{self, Index},
};

impl Account {
    /// Lists the invoices of an index whose instant has come.
    pub(super) async fn list_waiting_invoices(
        &self,
        name: &'static str,
        index: Index,
        page: &PageRequest,
    ) -> Result<Page<InvoiceId>, Error> {
        let account = self.id();
        let listing = Listing { name, account, filter: String::new() };
        let mut tx = self.reading();
        let by_now = InstantRange::default().at_or_before(tx.now);
        let mut walk = Walk::new(listing, &index, by_now, page)?;
        let slot =
            |at: &Position| schema::invoice(account, InvoiceId::from_bytes(schema::id_at(at)));
        walk.run(&mut tx, slot, |entry| Some(entry.invoice.id)).await
    }
}

/// Asks for each invoice of a list, and returns for how many that settled it.
pub(super) async fn each_waiting(
    list: impl AsyncFn(&PageRequest) -> Result<Page<InvoiceId>, Error>,
    settles: impl AsyncFn(InvoiceId) -> Result<bool, Error>,
) -> Result<usize, Error> {
    let mut page = PageRequest::default();
    let (mut settled, mut failed) = (0_usize, None);
    loop {
        let Page { data, next_cursor } = list(&page).await?;
        for id in data {
            match settles(id).await {
                Ok(is_settled) => settled = settled.saturating_add(usize::from(is_settled)),
                Err(error) if error.can_be_retried() => return Err(error),
                // Whatever is wrong with one customer, the others do not wait for it.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let Some(cursor) = next_cursor else {
            return failed.map_or(Ok(settled), Err);
        };
        page = page.after(cursor);
    }
}
