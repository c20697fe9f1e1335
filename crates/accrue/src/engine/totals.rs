//! Running totals of billing periods.

use super::transaction::Transaction;
use crate::{
    Error, SubscriptionId, Timestamp,
    schema::{self, CellTotalEntry, TotalEntry},
    subscription::SubscriptionEntry,
    usage::Total,
};

/// The running totals of billing periods: a row for the metrics, and one for the cells of matrices,
/// so that each fits a document however many there are.
impl Transaction<'_> {
    /// Returns what the billing period that begins at an instant adds up to.
    pub(super) async fn total(
        &mut self,
        entry: &SubscriptionEntry,
        start: Timestamp,
    ) -> Result<Total, Error> {
        let id = entry.subscription.id;
        let metrics = self.get(&schema::total(self.account, id, start)).await?;
        let has_cells = !self.plan_version_of(entry).await?.splits.is_empty();
        let cells = match has_cells {
            true => self.get(&schema::cell_total(self.account, id, start)).await?,
            false => None,
        };
        let (metrics, cells) = (metrics.unwrap_or_default(), cells.unwrap_or_default());
        Ok(Total { metrics: metrics.total, cells: cells.cells })
    }

    /// Removes what a billing period adds up to, which was read.
    pub(super) fn delete_total(&mut self, id: SubscriptionId, start: Timestamp, total: &Total) {
        self.delete(&schema::total(self.account, id, start));
        if !total.cells.is_empty() {
            self.delete(&schema::cell_total(self.account, id, start));
        }
    }

    /// Writes what a billing period adds up to, whose total was read.
    pub(super) fn put_total(
        &mut self,
        id: SubscriptionId,
        start: Timestamp,
        total: &Total,
    ) -> Result<(), Error> {
        if !total.metrics.is_empty() {
            let metrics = TotalEntry { total: total.metrics.clone() };
            self.put(&schema::total(self.account, id, start), &metrics)?;
        }
        if total.cells.is_empty() {
            return Ok(());
        }
        let cells = CellTotalEntry { cells: total.cells.clone() };
        self.put(&schema::cell_total(self.account, id, start), &cells)
    }
}
