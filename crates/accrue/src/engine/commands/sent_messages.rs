//! Messages that endpoints are sent: lists, sending again, and removal.

use async_trait::async_trait;

use crate::{
    Error, MessageId, Page, PageRequest, Timestamp, WebhookEndpointId,
    engine::{
        Account, Call,
        kernel::{Command, Op, Stop, Transaction, boxed},
        rows::{
            account,
            endpoints::{self, Queue},
            lists::Walk,
            sent_messages,
        },
    },
    page::Listing,
    schema::{self, Index, MessageEntry},
    webhook::{
        Delivery, DeliveryStatus, DueDelivery, Endpoint, PayloadStyle, SentMessage,
        SentMessageFilter,
    },
};

impl Account {
    /// Lists the messages that endpoints are sent, newest first, with their attempts (subscriptions 10.2). They are
    /// kept for [30 days](crate::limits::MESSAGE_DAYS).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_sent_messages(
        &self,
        filter: &SentMessageFilter,
        page: &PageRequest,
    ) -> Result<Page<SentMessage>, Error> {
        let account = self.id();
        let name = "sent_messages";
        let listing = Listing { name, account, filter: format!("{filter:?}") };
        let index = match (filter.message_type, filter.is_delivered) {
            (Some(of), _) => Index::messages_of_type(account, (of.as_str(), [0])),
            (None, Some(of)) => Index::messages_of_outcome(account, &[u8::from(of)]),
            (None, None) => Index::messages(account),
        };
        let mut tx = self.reading();
        let mut walk = Walk::new(listing, &index, filter.created, page)?;
        let slot = |id| schema::sent_message(account, MessageId::from_bytes(id));
        let now = tx.now;
        let is_shown = |of: &MessageEntry| {
            now < of.expires_at
                && filter.is_delivered.is_none_or(|wanted| of.is_delivered() == wanted)
        };
        let show = |entry| Some(entry).filter(is_shown);
        let Page { data, next_cursor } =
            walk.run(&mut tx, |at| slot(schema::id_at(at)), show).await?;
        Ok(Page { data: shown(&tx, data, !filter.without_payload).await?, next_cursor })
    }

    /// Returns a message that endpoints are sent, with its body, its attempts, and what an alert has told in it.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such message, or it is no longer
    /// kept.
    pub async fn fetch_sent_message(&self, id: MessageId) -> Result<SentMessage, Error> {
        let mut tx = self.reading();
        let entry = entry(&mut tx, id).await?;
        let told = sent_messages::told(&tx, &entry).await?;
        let found = shown(&tx, vec![entry], true).await?.pop();
        let found = found.ok_or_else(|| Error::not_found("webhook event", id))?;
        Ok(SentMessage { told, ..found })
    }

    /// Has a message sent once more: to one endpoint, or to all that it was meant for. The schedule of attempts
    /// begins anew.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where an endpoint is disabled;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such message or endpoint.
    pub fn send_message_again(
        &self,
        id: MessageId,
        endpoint: Option<WebhookEndpointId>,
    ) -> Call<()> {
        let run = Op::new("send_message_again", (id, endpoint), |tx, (id, endpoint)| {
            send_again(tx, *id, *endpoint)
        });
        Call::new(self, run)
    }
}

#[boxed]
async fn entry(tx: &mut Transaction<'_>, id: MessageId) -> Result<MessageEntry, Error> {
    let found = tx.get(&schema::sent_message(tx.account, id)).await?;
    let kept = found.filter(|of| tx.now < of.expires_at);
    kept.ok_or_else(|| Error::not_found("webhook event", id))
}

/// Adds the bodies and the deliveries of messages.
#[boxed]
async fn shown(
    tx: &Transaction<'_>,
    entries: Vec<MessageEntry>,
    with_payload: bool,
) -> Result<Vec<SentMessage>, Error> {
    let mut bodies = Vec::new();
    if with_payload {
        let wanted: Vec<_> = entries.iter().map(|of| (of, PayloadStyle::Expanded)).collect();
        bodies = sent_messages::bodies(tx, &wanted).await?;
    }
    let mut bodies = bodies.into_iter();
    let slots = entries.iter().flat_map(|of| {
        of.endpoints.iter().map(|endpoint| schema::delivery(tx.account, of.id, *endpoint))
    });
    let mut found = tx.peek(&slots.collect::<Vec<_>>()).await?.into_iter();
    let show = |of: MessageEntry| {
        let deliveries = found.by_ref().take(of.endpoints.len()).flatten().collect();
        SentMessage {
            id: of.id,
            customer_id: of.place.queue.customer_id(),
            is_delivered: of.is_delivered(),
            message_type: of.message_type,
            created_at: of.created_at,
            payload: bodies.next().map(|body| body.to_string()),
            told: None,
            deliveries,
        }
    };
    Ok(entries.into_iter().map(show).collect())
}

#[boxed]
async fn send_again(
    tx: &mut Transaction<'_>,
    id: MessageId,
    endpoint: Option<WebhookEndpointId>,
) -> Result<(), Stop> {
    let before = entry(tx, id).await?;
    let guard = account::guard(tx).await?;
    let mut after = before.clone();
    match endpoint {
        Some(id) => {
            let found = endpoints::endpoint(tx, &guard, id).await?;
            let found = found.ok_or_else(|| Error::not_found("webhook endpoint", id))?;
            send_to(tx, &mut after, &found).await?;
        }
        None => {
            for id in &before.endpoints {
                // One that was deleted is sent nothing.
                if let Some(found) = endpoints::endpoint(tx, &guard, *id).await? {
                    send_to(tx, &mut after, &found).await?;
                }
            }
        }
    }
    sent_messages::save(tx, &before, &after)?;
    Ok(())
}

async fn send_to(
    tx: &mut Transaction<'_>,
    entry: &mut MessageEntry,
    endpoint: &Endpoint,
) -> Result<(), Stop> {
    if !endpoint.is_enabled() {
        let detail = format!("the webhook endpoint {} is disabled", endpoint.id);
        return Err(Error::constraint(detail).into());
    }
    let queue = Queue::locked(tx, endpoint.id).await?;
    // Whoever asks for it knows that it is there again.
    queue.head_mut(tx)?.rests_until = None;
    let (since, style) = (endpoint.enabled_from(tx.now), endpoint.payload_style);
    let due = DueDelivery { message: entry.id, place: entry.place, since, style };
    let Some(mut delivery) = queue.delivery(tx, &due).await? else {
        entry.endpoints.push(endpoint.id);
        entry.not_delivered = entry.not_delivered.saturating_add(1);
        queue.add(tx, due, endpoint.order, Delivery::new(endpoint.id, None)).await?;
        return Ok(());
    };
    match (delivery.status, delivery.due_at()) {
        // It is sent as soon as those before it are.
        (DeliveryStatus::Waiting { .. }, None) => {
            queue.put_in_line(tx, &due).await?;
            return Ok(());
        }
        (DeliveryStatus::Waiting { .. }, Some(before)) => {
            let now = tx.now;
            delivery.again(Some(now));
            queue.move_on(tx, (Some(before), due), &delivery).await?;
            queue.call_for(tx, now)?;
            return Ok(());
        }
        (DeliveryStatus::Delivered, _) => {
            entry.not_delivered = entry.not_delivered.saturating_add(1);
        }
        _ => {}
    }
    queue.add(tx, due, endpoint.order, delivery).await?;
    Ok(())
}

/// Removes a message that is no longer kept, with its deliveries.
pub(super) struct RemoveMessage {
    pub(super) id: MessageId,
    pub(super) expires_at: Timestamp,
}

#[async_trait]
impl Command for RemoveMessage {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "remove_message"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let Some(entry) = tx.get(&schema::sent_message(tx.account, self.id)).await? else {
            tx.delete(&schema::message_expiry(self.expires_at, tx.account, self.id));
            return Ok(());
        };
        tx.lock_queues(entry.endpoints.iter().copied()).await?;
        for endpoint in &entry.endpoints {
            let queue = Queue::of(tx, *endpoint).await?;
            queue.forget(tx, entry.id, entry.place).await?;
        }
        sent_messages::remove(tx, &entry);
        Ok(())
    }
}
