//! The outbox: messages, in the commit that causes them.

use crate::{
    CustomerId, Error, MessageId, Timestamp,
    backfill::Backfill,
    engine::kernel::Transaction,
    schema::{self, OutboxEntry},
    webhook::{Body, Place, Queue},
};

impl Transaction<'_> {
    /// Writes a message into the outbox, with the next number of its customer.
    pub(in crate::engine) async fn tell(
        &mut self,
        customer_id: CustomerId,
        created_at: Timestamp,
        body: Body,
    ) -> Result<(), Error> {
        let slot = schema::customer_head(self.account, customer_id);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        head.messages = head.messages.saturating_add(1);
        self.put(&slot, &head)?;
        let place = Place { queue: Queue::Customer(customer_id), number: head.messages };
        self.tell_at(place, created_at, body)
    }

    /// Writes a message about a backfill into the outbox: among those of its customer, or among its
    /// own, which are two at most.
    pub(in crate::engine) async fn tell_of_backfill(
        &mut self,
        backfill: &Backfill,
        created_at: Timestamp,
        body: Body,
    ) -> Result<(), Error> {
        if let Some(customer_id) = backfill.customer_id {
            return self.tell(customer_id, created_at, body).await;
        }
        let number = match body {
            Body::BackfillReverted { .. } => 2,
            _ => 1,
        };
        let place = Place { queue: Queue::Backfill(backfill.id), number };
        self.tell_at(place, created_at, body)
    }

    pub(in crate::engine) fn tell_at(
        &mut self,
        place: Place,
        created_at: Timestamp,
        body: Body,
    ) -> Result<(), Error> {
        let id = MessageId::generate(created_at, self.entropy());
        let slot = schema::outbox(self.account, place);
        self.put(&slot, &OutboxEntry { id, place, created_at, body })
    }
}
