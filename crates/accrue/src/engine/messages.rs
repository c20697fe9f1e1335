use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    unit::{Stop, Unit},
};
use crate::{
    CustomerId, Error, MessageId, Timestamp,
    idempotency::Fingerprint,
    limits,
    schema::{self, OutboxEntry},
    store::Scan,
    webhook::{Body, Message, Place},
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

    /// Reads the waiting messages that come behind a place: the later ones of its customer, then
    /// those of the customers behind it. So a message that cannot be delivered holds up no other.
    pub async fn messages_after(&self, place: Place, limit: usize) -> Result<Vec<Message>, Error> {
        let key = schema::outbox(self.id(), place.customer_id, place.number);
        let scan = schema::waiting_messages(self.id(), limit.min(limits::SCAN_ROWS));
        self.read_messages(scan.after(key.key().bytes())).await
    }

    async fn read_messages(&self, scan: Scan) -> Result<Vec<Message>, Error> {
        let mut unit = self.reading();
        let rows = unit.scan(&scan).await?;
        let entries = rows.iter().map(schema::read_outbox).collect::<Result<_, _>>()?;
        unit.render(entries).await
    }

    /// Removes messages that were delivered; those that are gone already are left alone.
    pub fn acknowledge(&self, places: impl IntoIterator<Item = Place>) -> Call<()> {
        Call::new(self, Acknowledge { places: places.into_iter().collect() })
    }
}

impl Unit<'_> {
    /// Writes a message into the outbox, with the next number of its customer.
    pub(super) async fn tell(
        &mut self,
        customer_id: CustomerId,
        created_at: Timestamp,
        body: Body,
    ) -> Result<(), Error> {
        let slot = schema::head(self.account, customer_id);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        head.messages = head.messages.saturating_add(1);
        let number = head.messages;
        let id = MessageId::generate(created_at, self.entropy());
        let entry = OutboxEntry { id, customer_id, number, created_at, body };
        self.put(&schema::outbox(self.account, customer_id, number), &entry)?;
        self.put(&slot, &head)
    }

    /// Adds the resources that messages are about, as they are now.
    async fn render(&mut self, entries: Vec<OutboxEntry>) -> Result<Vec<Message>, Error> {
        let account = self.account;
        let customers: Vec<_> =
            entries.iter().map(|entry| schema::customer(account, entry.customer_id)).collect();
        let subscriptions: Vec<_> = entries
            .iter()
            .filter_map(|entry| entry.body.subscription_id())
            .map(|id| schema::subscription(account, id))
            .collect();
        let customer_keys = customers.iter().map(schema::Slot::key);
        let keys = customer_keys.chain(subscriptions.iter().map(schema::Slot::key));
        self.fetch(keys.collect::<Vec<_>>()).await?;
        let mut messages = Vec::with_capacity(entries.len());
        for OutboxEntry { id, customer_id, number, created_at, body } in entries {
            let customer = self.row(&schema::customer(account, customer_id))?;
            let missing = || Error::corrupt("the customer of a message is missing");
            let subscription = match body.subscription_id() {
                Some(id) => self.row(&schema::subscription(account, id))?,
                None => None,
            };
            messages.push(Message {
                id,
                created_at,
                place: Place { customer_id, number },
                body,
                customer: customer.ok_or_else(missing)?.customer,
                subscription: subscription.map(|enrolment| enrolment.subscription),
            });
        }
        Ok(messages)
    }
}

struct Acknowledge {
    places: Vec<Place>,
}

#[async_trait]
impl Command for Acknowledge {
    type Outcome = ();

    async fn run(&self, unit: &mut Unit<'_>) -> Result<(), Stop> {
        for place in &self.places {
            unit.delete(&schema::outbox(unit.account, place.customer_id, place.number));
        }
        Ok(())
    }
}

impl Request for Acknowledge {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let places = self.places.iter().map(|place| (place.customer_id, place.number));
        fingerprint("acknowledge", &places.collect::<Vec<_>>())
    }
}
