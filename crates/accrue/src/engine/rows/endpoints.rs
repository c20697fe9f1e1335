//! Endpoints, their queues, and the messages that wait in them.

use crate::{
    Error, MessageId, Timeframe, Timestamp, WebhookEndpointId,
    engine::kernel::{Guard, Stop, Transaction},
    limits,
    schema::{self, AccountHead, DueAt, EndpointTurn, Slot},
    webhook::{
        Delivery, DeliveryOrder, DeliveryStatus, DueDelivery, Endpoint, EndpointQueue, Holder,
        PayloadStyle, Place, WaitingDelivery,
    },
};

/// Reads the endpoints of an account, in no order.
pub(in crate::engine) async fn endpoints(
    tx: &Transaction<'_>,
    guard: &Guard<AccountHead>,
) -> Result<Vec<Endpoint>, Error> {
    let scan = schema::webhook_endpoints(tx.account, limits::SCAN_ROWS);
    let rows = guard.range_all(tx, scan).await?;
    rows.iter().map(|(key, document)| schema::read_webhook_endpoint(key, document)).collect()
}

/// Reads an endpoint.
pub(in crate::engine) async fn endpoint(
    tx: &mut Transaction<'_>,
    guard: &Guard<AccountHead>,
    id: WebhookEndpointId,
) -> Result<Option<Endpoint>, Error> {
    guard.get(tx, &schema::webhook_endpoint(tx.account, id)).await
}

/// The queue of an endpoint, under its guard.
pub(in crate::engine) struct Queue {
    guard: Guard<EndpointQueue>,
    id: WebhookEndpointId,
}

impl Queue {
    pub(in crate::engine) async fn of(
        tx: &mut Transaction<'_>,
        id: WebhookEndpointId,
    ) -> Result<Self, Error> {
        Ok(Self { guard: tx.guard(id).await?, id })
    }

    /// Has others in this process wait until it is written.
    pub(in crate::engine) async fn locked(
        tx: &mut Transaction<'_>,
        id: WebhookEndpointId,
    ) -> Result<Self, Stop> {
        tx.lock_queues(std::iter::once(id)).await?;
        Ok(Self::of(tx, id).await?)
    }

    /// Tells who has it, and when it is looked at next.
    pub(in crate::engine) fn head(&self, tx: &Transaction<'_>) -> Result<EndpointQueue, Error> {
        Ok(self.guard.head(tx)?.as_ref().clone())
    }

    pub(in crate::engine) fn head_mut<'t>(
        &self,
        tx: &'t mut Transaction<'_>,
    ) -> Result<&'t mut EndpointQueue, Error> {
        self.guard.head_mut(tx)
    }

    /// Says when it is looked at next, and whose it is until then.
    pub(in crate::engine) fn set_turn(
        &self,
        tx: &mut Transaction<'_>,
        next_at: Option<Timestamp>,
        holder: Option<Holder>,
    ) -> Result<(), Error> {
        let (account, endpoint) = (tx.account, self.id);
        let head = self.guard.head_mut(tx)?;
        head.holder = holder;
        let before = std::mem::replace(&mut head.next_at, next_at);
        if before == next_at {
            return Ok(());
        }
        if let Some(at) = before {
            tx.delete(&schema::endpoint_turn(at, account, endpoint));
        }
        if let Some(at) = next_at {
            let turn = EndpointTurn { at, account: account.clone(), endpoint };
            tx.put(&schema::endpoint_turn(at, account, endpoint), &turn)?;
        }
        Ok(())
    }

    /// Has it looked at from an instant on, unless somebody looks at it already, or earlier.
    pub(in crate::engine) fn call_for(
        &self,
        tx: &mut Transaction<'_>,
        at: Timestamp,
    ) -> Result<(), Error> {
        tx.has_to_send = true;
        // Whoever waits for it now is kept from leaving it.
        self.guard.touch(tx);
        let head = self.guard.head(tx)?;
        let at = head.awake_from(at);
        let comes_by_then = head.next_at.is_some_and(|next| next <= at);
        match head.is_held(None, tx.now) || comes_by_then {
            true => Ok(()),
            false => self.set_turn(tx, Some(at), None),
        }
    }

    /// Returns the first messages that wait, of those that are due by an instant.
    pub(in crate::engine) async fn due(
        &self,
        tx: &Transaction<'_>,
        by: Timestamp,
        limit: usize,
    ) -> Result<Vec<WaitingDelivery>, Error> {
        let rows = limit.min(limits::SCAN_ROWS);
        let from = self.guard.head(tx)?.due_from.unwrap_or(Timestamp::MIN);
        let within = Timeframe::through(by).since(from);
        let mut scan = schema::due_deliveries(tx.account, self.id, within, rows);
        let mut found = Vec::new();
        loop {
            let part = self.guard.range(tx, &scan).await?;
            for (key, document) in &part.rows {
                let DueAt { at, due } = schema::read_due_delivery(key, document)?;
                found.push(WaitingDelivery { due_at: at, due });
            }
            match part.rest {
                Some(rest) if found.len() < limit => scan = rest,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the first message that waits, where some were taken out: nobody has to go over those again.
    pub(in crate::engine) async fn first_after(
        &self,
        tx: &mut Transaction<'_>,
        taken: usize,
    ) -> Result<Option<WaitingDelivery>, Error> {
        let due = self.due(tx, Timestamp::MAX, taken.saturating_add(1)).await?;
        let first = due.into_iter().next();
        let from = first.map_or(Timestamp::MAX, |of| of.due_at);
        self.guard.head_mut(tx)?.due_from = Some(from);
        Ok(first)
    }

    /// Puts a message into the queue, to be sent now: behind others in its line, where the endpoint is sent those
    /// of a customer one after the other, or there is a line from when it was.
    pub(in crate::engine) async fn add(
        &self,
        tx: &mut Transaction<'_>,
        due: DueDelivery,
        order: DeliveryOrder,
        mut delivery: Delivery,
    ) -> Result<(), Error> {
        let first = self.first_in_line(tx, due.place).await?;
        if order == DeliveryOrder::Strict || first.is_some() {
            self.put_in_line(tx, &due).await?;
        }
        if first.is_none() {
            return self.send_now(tx, due, delivery);
        }
        delivery.again(None);
        self.put_delivery(tx, &due, &delivery)
    }

    /// Writes a message of a line, anew where it is in there.
    pub(in crate::engine) async fn put_in_line(
        &self,
        tx: &mut Transaction<'_>,
        due: &DueDelivery,
    ) -> Result<(), Error> {
        let slot = schema::delivery_line(tx.account, self.id, due.place);
        if self.guard.get(tx, &slot).await?.is_none() {
            let head = self.guard.head_mut(tx)?;
            head.lines = head.lines.saturating_add(1);
        }
        self.guard.put(tx, &slot, due)
    }

    /// Reads messages and their deliveries, each kind in one call of the store.
    pub(in crate::engine) async fn fetch(
        &self,
        tx: &mut Transaction<'_>,
        messages: impl Iterator<Item = MessageId> + Clone,
    ) -> Result<(), Error> {
        let account = tx.account;
        let deliveries = messages.clone().map(|id| schema::delivery(account, id, self.id));
        let deliveries: Vec<_> = deliveries.collect();
        Guard::fetch(tx, deliveries.iter().map(|slot| (&self.guard, slot.key()))).await?;
        let messages: Vec<_> = messages.map(|id| schema::sent_message(account, id)).collect();
        tx.fetch(messages.iter().map(Slot::key)).await
    }

    pub(in crate::engine) async fn delivery(
        &self,
        tx: &mut Transaction<'_>,
        due: &DueDelivery,
    ) -> Result<Option<Delivery>, Error> {
        self.guard.get(tx, &schema::delivery(tx.account, due.message, self.id)).await
    }

    pub(in crate::engine) fn put_delivery(
        &self,
        tx: &mut Transaction<'_>,
        due: &DueDelivery,
        delivery: &Delivery,
    ) -> Result<(), Error> {
        self.guard.put(tx, &schema::delivery(tx.account, due.message, self.id), delivery)
    }

    /// Writes a delivery that waited from an instant on, and has it wait from another, or the next in its line.
    pub(in crate::engine) async fn move_on(
        &self,
        tx: &mut Transaction<'_>,
        (before, due): (Option<Timestamp>, DueDelivery),
        delivery: &Delivery,
    ) -> Result<(), Error> {
        if let Some(before) = before {
            self.remove_due(tx, before, &due)?;
        }
        match delivery.status {
            DeliveryStatus::Waiting { due_at } => {
                if let Some(at) = due_at {
                    self.put_due(tx, at, due)?;
                }
            }
            _ => self.leave_line(tx, &due).await?,
        }
        self.put_delivery(tx, &due, delivery)
    }

    /// Has a message sent now.
    fn send_now(
        &self,
        tx: &mut Transaction<'_>,
        due: DueDelivery,
        mut delivery: Delivery,
    ) -> Result<(), Error> {
        let now = tx.now;
        let at = self.guard.head_mut(tx)?.add(now);
        delivery.again(Some(at));
        self.put_due(tx, at, due)?;
        self.call_for(tx, at)?;
        self.put_delivery(tx, &due, &delivery)
    }

    fn put_due(
        &self,
        tx: &mut Transaction<'_>,
        at: Timestamp,
        due: DueDelivery,
    ) -> Result<(), Error> {
        let head = self.guard.head_mut(tx)?;
        head.due_from = head.due_from.map(|from| from.min(at));
        let slot = schema::due_delivery(tx.account, self.id, at, due.place);
        self.guard.put(tx, &slot, &DueAt { at, due })
    }

    fn remove_due(
        &self,
        tx: &mut Transaction<'_>,
        at: Timestamp,
        due: &DueDelivery,
    ) -> Result<(), Error> {
        self.guard.delete(tx, &schema::due_delivery(tx.account, self.id, at, due.place))
    }

    /// Takes a message out of its line, where it is in one: the next one is sent now.
    async fn leave_line(&self, tx: &mut Transaction<'_>, due: &DueDelivery) -> Result<(), Error> {
        if !self.remove_from_line(tx, due.place).await? {
            return Ok(());
        }
        while let Some(next) = self.first_in_line(tx, due.place).await? {
            let delivery = self.delivery(tx, &next).await?.filter(Delivery::is_waiting);
            let Some(delivery) = delivery else {
                // It is over already.
                self.remove_from_line(tx, next.place).await?;
                continue;
            };
            if delivery.due_at().is_none() {
                self.send_now(tx, next, delivery)?;
            }
            break;
        }
        Ok(())
    }

    /// Tells whether it was in a line.
    async fn remove_from_line(
        &self,
        tx: &mut Transaction<'_>,
        place: Place,
    ) -> Result<bool, Error> {
        if self.guard.head(tx)?.lines == 0 {
            return Ok(false);
        }
        let slot = schema::delivery_line(tx.account, self.id, place);
        if self.guard.get(tx, &slot).await?.is_none() {
            return Ok(false);
        }
        self.guard.delete(tx, &slot)?;
        let head = self.guard.head_mut(tx)?;
        head.lines = head.lines.saturating_sub(1);
        Ok(true)
    }

    /// Returns the message that others of a queue wait for.
    async fn first_in_line(
        &self,
        tx: &Transaction<'_>,
        of: Place,
    ) -> Result<Option<DueDelivery>, Error> {
        if self.guard.head(tx)?.lines == 0 {
            return Ok(None);
        }
        let scan = schema::delivery_lines(tx.account, self.id, of.queue.as_bytes(), 1);
        let mut rest = Some(scan);
        while let Some(scan) = rest {
            let part = self.guard.range(tx, &scan).await?;
            if let Some((key, document)) = part.rows.first() {
                return schema::read_delivery_line(key, document).map(Some);
            }
            rest = part.rest;
        }
        Ok(None)
    }

    /// Forgets a delivery, where the message is removed.
    pub(in crate::engine) async fn forget(
        &self,
        tx: &mut Transaction<'_>,
        message: MessageId,
        place: Place,
    ) -> Result<(), Error> {
        let style = PayloadStyle::default();
        let due = DueDelivery { message, place, since: tx.now, style };
        let Some(delivery) = self.delivery(tx, &due).await? else { return Ok(()) };
        if let Some(at) = delivery.due_at() {
            self.remove_due(tx, at, &due)?;
        }
        self.leave_line(tx, &due).await?;
        self.guard.delete(tx, &schema::delivery(tx.account, message, self.id))
    }
}
