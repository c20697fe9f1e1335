//! Invoices that wait for a provider of the host, and what becomes of asking it.

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

/// What became of those that a provider was asked for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    settled: usize,
    failed: Option<Error>,
}

impl Asked {
    /// Notes one, and whether it is settled by that. Whatever is wrong with one customer, the others do not wait
    /// for it; where the store cannot be reached nobody is asked any more.
    pub(super) fn note(&mut self, outcome: Result<bool, Error>) -> Result<(), Error> {
        match outcome {
            Ok(is_settled) => self.settled = self.settled.saturating_add(usize::from(is_settled)),
            Err(error) if error.can_be_retried() => return Err(error),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
        Ok(())
    }

    /// Returns how many are settled, or the first failure.
    pub(super) fn settled(self) -> Result<usize, Error> {
        self.failed.map_or(Ok(self.settled), Err)
    }
}
