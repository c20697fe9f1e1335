use super::sort::New;
use crate::{BackfillId, CustomerId, Error, engine::unit::Unit, schema, usage::StoredEvent};

impl Unit<'_> {
    /// Writes new events of a customer that a backfill brings, or none: each with its number among
    /// those of the customer. The head was read.
    ///
    /// The first are measured by all metrics that there are, up to a generation of them.
    pub(in crate::engine) async fn accept(
        &mut self,
        customer_id: CustomerId,
        brought_by: Option<BackfillId>,
        new: &[&New<'_>],
        metrics: u64,
    ) -> Result<(), Error> {
        let slot = schema::head(self.account, customer_id);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        if head.accepted == 0 {
            head.measured = metrics;
        }
        for New { event, entry, slot, .. } in new {
            head.accepted = head.accepted.saturating_add(1);
            let (at, key) = (event.timestamp, &event.idempotency_key);
            let place = self.event_slot(brought_by, customer_id, at, key);
            self.put(slot, entry)?;
            self.put(&place, &StoredEvent::new(event, head.accepted))?;
        }
        self.put(&slot, &head)
    }
}
