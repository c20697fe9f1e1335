#[cfg(test)]
mod tests;

use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    decoded::Says,
    subscription_rows,
    transaction::{Stop, Transaction},
};
use crate::{
    CustomerId, Error, MessageId, Timestamp,
    backfill::Backfill,
    idempotency::Fingerprint,
    limits,
    schema::{self, OutboxEntry, Slot},
    store::Scan,
    webhook::{Body, Message, Place, Queue},
};

impl Account {
    /// Reads waiting messages, at most `limit` of them and 1,000: those of one customer in the
    /// order in which they came about.
    ///
    /// A message waits until it is acknowledged, so it is read at least once. Whoever delivers it
    /// keeps its id over all retries.
    pub async fn messages(&self, limit: usize) -> Result<Vec<Message>, Error> {
        self.read_messages(schema::waiting_messages(self.id(), limit.min(limits::SCAN_ROWS))).await
    }

    /// Reads the waiting messages that come behind a place: the later ones of its customer or backfill,
    /// then those of the ones behind it. So a message that cannot be delivered holds up no other.
    pub async fn messages_after(&self, place: Place, limit: usize) -> Result<Vec<Message>, Error> {
        let key = schema::outbox(self.id(), place);
        let scan = schema::waiting_messages(self.id(), limit.min(limits::SCAN_ROWS));
        self.read_messages(scan.after(key.key().bytes())).await
    }

    async fn read_messages(&self, scan: Scan) -> Result<Vec<Message>, Error> {
        let mut tx = self.reading();
        let rows = tx.scan(&scan).await?;
        let entries = rows.iter().map(schema::read_outbox).collect::<Result<_, _>>()?;
        tx.render(entries).await
    }

    /// Removes messages that were delivered; those that are gone already are left alone.
    pub fn acknowledge(&self, places: impl IntoIterator<Item = Place>) -> Call<()> {
        Call::new(self, Acknowledge { places: places.into_iter().collect() })
    }
}

impl Transaction<'_> {
    /// Writes a message into the outbox, with the next number of its customer.
    pub(super) async fn tell(
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
    pub(super) async fn tell_of_backfill(
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

    fn tell_at(&mut self, place: Place, created_at: Timestamp, body: Body) -> Result<(), Error> {
        let id = MessageId::generate(created_at, self.entropy());
        let slot = schema::outbox(self.account, place);
        self.put(&slot, &OutboxEntry { id, place, created_at, body })
    }

    /// Adds the resources that messages are about, as they are now.
    async fn render(&mut self, entries: Vec<OutboxEntry>) -> Result<Vec<Message>, Error> {
        let account = self.account;
        let customer = |id| schema::customer(account, id);
        let backfill = |id| schema::backfill(account, id);
        let keys = entries.iter().flat_map(|OutboxEntry { place, body, .. }| {
            let customer = place.queue.customer_id().map(|id| customer(id).key().clone());
            let subscription = body.subscription_id();
            let subscription = subscription.map(|id| subscription_rows::keys(account, id));
            let backfill = body.backfill_id().map(|id| backfill(id).key().clone());
            customer.into_iter().chain(subscription.into_iter().flatten()).chain(backfill)
        });
        self.fetch(&keys.collect::<Vec<_>>()).await?;
        let mut messages = Vec::with_capacity(entries.len());
        for OutboxEntry { id, place, created_at, body } in entries {
            let customer = match place.queue.customer_id() {
                Some(id) => {
                    let missing = || Error::corrupt("the customer of a message is missing");
                    Some(self.row(&customer(id))?.ok_or_else(missing)?.customer)
                }
                None => None,
            };
            let subscription = match body.subscription_id() {
                Some(id) => self.subscription(id).await?.map(|entry| entry.subscription),
                None => None,
            };
            let backfill = self.found(body.backfill_id().map(backfill))?;
            messages.push(Message {
                id,
                created_at,
                place,
                body,
                customer,
                subscription,
                backfill,
            });
        }
        Ok(messages)
    }

    /// Returns what a row says that was fetched, where one is named.
    fn found<T: Says>(&self, slot: Option<Slot<T>>) -> Result<Option<T>, Error> {
        match slot {
            Some(slot) => self.row(&slot),
            None => Ok(None),
        }
    }
}

struct Acknowledge {
    places: Vec<Place>,
}

#[async_trait]
impl Command for Acknowledge {
    type Outcome = ();

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        for place in &self.places {
            tx.delete(&schema::outbox(tx.account, *place));
        }
        Ok(())
    }
}

impl Request for Acknowledge {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("acknowledge", &self.places)
    }
}
