//! Webhook messages: their texts, the outbox that a host reads, and acknowledgements.

#[cfg(test)]
mod tests;

use crate::{
    Error,
    engine::{
        Account, Call,
        commands::invoices,
        kernel::{Op, Says, Stop, Transaction, boxed},
        rows::{self, lists::page_of},
    },
    limits,
    page::{Listing, Page, PageRequest},
    schema::{self, OutboxEntry, Slot},
    webhook::{Message, Place},
};

impl Account {
    /// Lists the messages that wait: queue by queue, those of one customer in the order in which they
    /// were created.
    ///
    /// A message waits until it is acknowledged, so it is read at least once. Whoever delivers it
    /// keeps its id over all retries. A cursor is good for as long as one likes, also once the messages
    /// before it are acknowledged: so a message that cannot be delivered holds up no other. Messages
    /// that are created behind a cursor are read with the next walk from the first page.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this
    /// list.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// use accrue::PageRequest;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # account.create_customer(ada).await?;
    /// let mut page = PageRequest::first_of_messages(1_000)?;
    /// loop {
    ///     let waiting = account.list_messages(&page).await?;
    ///     // Those that were delivered; the others stay, and are read again with the next walk.
    ///     let delivered = waiting.data.iter().map(|message| message.place);
    ///     account.acknowledge(delivered).await?;
    ///     let Some(cursor) = waiting.next_cursor else { break };
    ///     page = page.after(cursor);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn list_messages(&self, page: &PageRequest) -> Result<Page<Message>, Error> {
        let listing = Listing { name: "messages", account: self.id(), filter: String::new() };
        // One message more than the page holds tells whether there is another page.
        let wanted = page.limit().saturating_add(1);
        let mut scan = schema::waiting_messages(self.id(), wanted.min(limits::SCAN_ROWS));
        if let Some(position) = listing.position(page)? {
            scan = scan.after(schema::outbox(self.id(), schema::place_at(&position)).key().bytes());
        }
        let (mut tx, mut found) = (self.reading(), Vec::new());
        loop {
            let rows = tx.scan_now(&scan).await?;
            for row in &rows {
                let entry = schema::read_outbox(&row.key, &row.document)?;
                found.push((schema::position(&row.key)?, entry));
            }
            let Some(last) = rows.last().filter(|_| rows.len() >= scan.limit) else { break };
            if found.len() >= wanted {
                break;
            }
            scan = scan.after(last.key.bytes());
            scan.limit = wanted.saturating_sub(found.len());
        }
        let Page { data, next_cursor } = page_of(&listing, page.limit(), found);
        Ok(Page { data: render(&mut tx, data).await?, next_cursor })
    }

    /// Removes messages that were delivered; those that are gone already are left alone.
    pub fn acknowledge(&self, places: impl IntoIterator<Item = Place>) -> Call<()> {
        Call::new(
            self,
            Op::new("acknowledge", places.into_iter().collect(), |tx, places| {
                acknowledge(tx, places)
            }),
        )
    }
}

/// Adds the resources that messages are about, as they are now.
pub(super) async fn render(
    tx: &mut Transaction<'_>,
    entries: Vec<OutboxEntry>,
) -> Result<Vec<Message>, Error> {
    let account = tx.account;
    let customer = |id| schema::customer(account, id);
    let backfill = |id| schema::backfill(account, id);
    let keys = entries.iter().flat_map(|OutboxEntry { place, body, .. }| {
        let customer = place.queue.customer_id().map(|id| customer(id).key().clone());
        let subscription = body.subscription_id();
        let subscription = subscription.map(|id| rows::subscriptions::keys(account, id));
        let backfill = body.backfill_id().map(|id| backfill(id).key().clone());
        let plan = body.plan_id().map(|id| schema::plan(account, id).key().clone());
        customer.into_iter().chain(subscription.into_iter().flatten()).chain(backfill).chain(plan)
    });
    tx.fetch(&keys.collect::<Vec<_>>()).await?;
    let mut messages = Vec::with_capacity(entries.len());
    for OutboxEntry { id, place, created_at, body, .. } in entries {
        let customer = match place.queue.customer_id() {
            Some(id) => {
                let missing = || Error::corrupt("the customer of a message is missing");
                Some(tx.row(&customer(id))?.ok_or_else(missing)?.customer)
            }
            None => None,
        };
        let subscription = match body.subscription_id() {
            Some(id) => {
                rows::subscriptions::subscription(tx, id).await?.map(|entry| entry.subscription)
            }
            None => None,
        };
        let backfill = found(tx, body.backfill_id().map(backfill))?;
        let invoice = match body.invoice_id() {
            Some(id) => invoices::found(tx, id).await?,
            None => None,
        };
        let credit_note = match body.credit_note_id() {
            Some(id) => Some(rows::credit_notes::credit_note(tx, id).await?),
            None => None,
        };
        let plan = found(tx, body.plan_id().map(|id| schema::plan(account, id)))?;
        let price = match body.price_id() {
            Some(id) => Some(rows::prices::price(tx, &id.into()).await?),
            None => None,
        };
        messages.push(Message {
            id,
            created_at,
            place,
            body,
            customer,
            subscription,
            backfill,
            invoice,
            credit_note,
            plan,
            price,
        });
    }
    Ok(messages)
}

/// Returns the decoded row that was fetched, where one is named.
fn found<T: Says>(tx: &Transaction<'_>, slot: Option<Slot<T>>) -> Result<Option<T>, Error> {
    match slot {
        Some(slot) => tx.row(&slot),
        None => Ok(None),
    }
}

#[boxed]
async fn acknowledge(tx: &mut Transaction<'_>, places: &Vec<Place>) -> Result<(), Stop> {
    for place in places {
        tx.delete(&schema::outbox(tx.account, *place));
    }
    Ok(())
}
