//! Fan-out: messages that wait become bodies, and deliveries to the endpoints that want them
//! (`docs/decisions/endpoints-are-leased.md`).

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    Error, MessageId, Pace,
    engine::{
        Account, Billing,
        commands::messages,
        kernel::{Command, Stop, Transaction, apply_step},
        rows::{
            account,
            endpoints::{self, Queue},
            sent_messages,
        },
    },
    limits,
    schema::{self, MessageEntry, OutboxEntry},
    store::{Key, Row},
    webhook::{Delivery, DueDelivery, Endpoint, Message, PayloadStyle, Place},
};

/// Writer of the bodies that endpoints are sent.
#[async_trait]
pub trait PayloadRenderer: Send + Sync {
    /// Writes a message as endpoints receive it: a JSON object, the same whoever asks.
    async fn render(
        &self,
        account: &Account,
        message: &Message,
        style: PayloadStyle,
    ) -> Result<String, Error>;
}

#[async_trait]
impl<R: PayloadRenderer + ?Sized> PayloadRenderer for Arc<R> {
    async fn render(
        &self,
        account: &Account,
        message: &Message,
        style: PayloadStyle,
    ) -> Result<String, Error> {
        (**self).render(account, message, style).await
    }
}

/// Result of a fan-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FannedOut {
    /// Number of messages that were taken.
    pub taken: usize,
    /// Number of messages that could not be.
    pub failed: usize,
    /// True where there may be more: call again.
    pub more: bool,
}

/// Number of messages that one commit takes.
const TOGETHER: usize = 100;

/// Number of rows that one of them has, about.
const ROWS: usize = 10;

/// Number of bytes of their bodies.
const BYTES_TOGETHER: usize = 1024 * 1024;

impl Billing {
    /// Takes up to `limit` messages that wait: writes their bodies, which every attempt sends, and a delivery to each
    /// endpoint that wants them. They are kept for [30 days](crate::limits::MESSAGE_DAYS).
    ///
    /// Whoever [acknowledges](Account::acknowledge) messages by itself does not call this.
    ///
    /// ```
    /// # use accrue::{Account, AccountId, Billing, Email, Error, Name, customer::NewCustomer};
    /// # use accrue::store::MemoryStore;
    /// use accrue::{PayloadRenderer, webhook::{Message, PayloadStyle, SentMessageFilter}};
    ///
    /// struct Types;
    ///
    /// #[async_trait::async_trait]
    /// impl PayloadRenderer for Types {
    ///     async fn render(&self, _: &Account, of: &Message, _: PayloadStyle) -> Result<String, Error> {
    ///         Ok(format!(r#"{{"type":"{}"}}"#, of.message_type()))
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// let account = billing.account(AccountId::parse("acme")?);
    /// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// account.create_customer(ada).await?;
    /// while billing.fan_out_messages(&Types, 100).await?.more {}
    /// let sent = account.list_sent_messages(&SentMessageFilter::default(), &Default::default()).await?;
    /// assert_eq!(sent.data[0].payload.as_deref(), Some(r#"{"type":"customer.created"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn fan_out_messages(
        &self,
        renderer: &dyn PayloadRenderer,
        limit: usize,
    ) -> Result<FannedOut, Error> {
        let limit = limit.clamp(1, limits::SCAN_ROWS);
        let mut scan = schema::all_waiting_messages(limit);
        // What was taken is deleted, and stores keep that for a while: it is not gone over each time.
        let begun = self.fanned_out_to(None);
        if let Some(last) = &begun {
            scan = scan.after(last.bytes());
        }
        loop {
            let rows = self.shared().store.scan(&scan).await?;
            let is_end = rows.len() < limit;
            let more = !is_end || begun.is_some();
            let mut result = FannedOut { more, ..FannedOut::default() };
            let mut rest = rows.as_slice();
            while let Some(first) = rest.first() {
                let id = schema::account_of(&first.key)?;
                let is_own = |key: &Key| schema::account_of(key).is_ok_and(|of| of == id);
                let count = rest.iter().take(TOGETHER).take_while(|row| is_own(&row.key)).count();
                let (own, others) = rest.split_at(count.max(1));
                rest = others;
                self.account(id).fan_out_all(renderer, own, &mut result).await;
            }
            match rows.into_iter().next_back().filter(|_| !is_end) {
                // Where none could be taken, those behind them do not wait for them.
                Some(last) if result.taken == 0 => scan = scan.after(last.key.bytes()),
                // Nor do those that could not be taken wait for all the others.
                last => {
                    let last = last.filter(|_| result.failed == 0);
                    self.fanned_out_to(last.map(|row| row.key));
                    return Ok(result);
                }
            }
        }
    }

    /// Says up to where messages are fanned out, and returns up to where they were.
    fn fanned_out_to(&self, last: Option<Key>) -> Option<Key> {
        let known = &self.shared().fanned_out;
        std::mem::replace(&mut *known.lock().unwrap_or_else(PoisonError::into_inner), last)
    }
}

impl Account {
    /// Takes messages, one by one where something is wrong with one of them: the others do not wait for it.
    async fn fan_out_all(
        &self,
        renderer: &dyn PayloadRenderer,
        rows: &[Row],
        result: &mut FannedOut,
    ) {
        let read = |row: &Row| schema::read_outbox(&row.key, &row.document);
        let entries: Vec<_> = rows.iter().filter_map(|row| read(row).ok()).collect();
        result.failed = result.failed.saturating_add(rows.len().saturating_sub(entries.len()));
        if self.fan_out(renderer, &entries).await.is_ok() {
            result.taken = result.taken.saturating_add(entries.len());
            return;
        }
        for entry in entries {
            match self.fan_out(renderer, &[entry]).await {
                Ok(()) => result.taken = result.taken.saturating_add(1),
                Err(_) => result.failed = result.failed.saturating_add(1),
            }
        }
    }

    async fn fan_out(
        &self,
        renderer: &dyn PayloadRenderer,
        entries: &[OutboxEntry],
    ) -> Result<(), Error> {
        let mut tx = self.reading();
        let guard = account::guard(&mut tx).await?;
        let endpoints = endpoints::endpoints(&tx, &guard).await?;
        let read = messages::render(&mut tx, entries.to_vec()).await?;
        let (mut bodies, mut bytes) = (Vec::new(), 0_usize);
        // Whether one wants it or is sent it later by hand.
        let standard = endpoints.iter().any(|of| of.payload_style == PayloadStyle::Standard);
        for message in read {
            let rendered = Rendered::of(self, renderer, &message, standard).await?;
            tx.pace.spend_bytes(rendered.bytes().saturating_mul(2)).await;
            bytes = bytes.saturating_add(rendered.bytes());
            bodies.push(rendered);
            if bytes >= BYTES_TOGETHER {
                self.take(std::mem::take(&mut bodies)).await?;
                bytes = 0;
            }
        }
        self.take(bodies).await
    }

    async fn take(&self, messages: Vec<Rendered>) -> Result<(), Error> {
        if messages.is_empty() {
            return Ok(());
        }
        apply_step(self.shared(), self.id(), &FanOut { messages }).await
    }
}

/// A message with its bodies.
struct Rendered {
    id: MessageId,
    place: Place,
    expanded: String,
    standard: Option<String>,
}

impl Rendered {
    async fn of(
        account: &Account,
        renderer: &dyn PayloadRenderer,
        message: &Message,
        needs_standard: bool,
    ) -> Result<Self, Error> {
        let render = |style| renderer.render(account, message, style);
        let expanded = render(PayloadStyle::Expanded).await?;
        let is_long = expanded.len() > limits::PAYLOAD_BYTES;
        let standard = match needs_standard || is_long {
            true => Some(render(PayloadStyle::Standard).await?),
            false => None,
        };
        let Message { id, place, .. } = *message;
        Ok(match standard {
            Some(short) if is_long => Self { id, place, expanded: short, standard: None },
            standard => Self { id, place, expanded, standard },
        })
    }

    fn bytes(&self) -> usize {
        let standard = self.standard.as_ref().map_or(0, String::len);
        self.expanded.len().saturating_add(standard)
    }
}

struct FanOut {
    messages: Vec<Rendered>,
}

#[async_trait]
impl Command for FanOut {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "fan_out_messages"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let guard = account::guard(tx).await?;
        let endpoints = endpoints::endpoints(tx, &guard).await?;
        let slots = self.messages.iter().map(|of| schema::outbox(tx.account, of.place));
        let slots: Vec<_> = slots.collect();
        let found = tx.get_all(&slots).await?;
        // They report what they have sent at the same time.
        tx.lock_queues(endpoints.iter().filter(|of| of.is_enabled()).map(|of| of.id)).await?;
        for ((rendered, slot), entry) in self.messages.iter().zip(&slots).zip(found) {
            // Somebody else has taken it.
            let Some(entry) = entry.filter(|entry| entry.id == rendered.id) else { continue };
            tx.delete(slot);
            take_one(tx, &endpoints, rendered, &entry).await?;
            tx.pace.spend(Pace::ROW.saturating_mul(ROWS)).await;
        }
        Ok(())
    }
}

async fn take_one(
    tx: &mut Transaction<'_>,
    endpoints: &[Endpoint],
    rendered: &Rendered,
    entry: &OutboxEntry,
) -> Result<(), Error> {
    let OutboxEntry { id, place, created_at, told_at, body } = entry;
    let (id, place, created_at) = (*id, *place, *created_at);
    let message_type = body.message_type();
    let told_at = told_at.unwrap_or(created_at);
    let wanted = endpoints.iter().filter(|of| of.wants(message_type, told_at));
    let wanted: Vec<_> = wanted.collect();
    let expanded_parts =
        sent_messages::put_body(tx, id, PayloadStyle::Expanded, &rendered.expanded)?;
    let standard_parts = match &rendered.standard {
        Some(text) => sent_messages::put_body(tx, id, PayloadStyle::Standard, text)?,
        None => 0,
    };
    let kept = Duration::from_secs(limits::MESSAGE_DAYS.saturating_mul(24 * 60 * 60));
    let entry = MessageEntry {
        id,
        message_type: message_type.to_owned(),
        created_at,
        place,
        expires_at: told_at.saturating_add(kept),
        endpoints: wanted.iter().map(|of| of.id).collect(),
        not_delivered: wanted.len(),
        expanded_parts,
        standard_parts,
        is_of_alert: body.is_of_alert(),
    };
    sent_messages::save_new(tx, &entry)?;
    if entry.is_of_alert {
        sent_messages::put_told(tx, id, body)?;
    }
    for endpoint in wanted {
        let (since, style) = (endpoint.enabled_from(tx.now), endpoint.payload_style);
        let due = DueDelivery { message: id, place, since, style };
        let queue = Queue::of(tx, endpoint.id).await?;
        queue.add(tx, due, endpoint.order, Delivery::new(endpoint.id, None)).await?;
    }
    Ok(())
}
