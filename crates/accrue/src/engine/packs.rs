use super::{events::New, transaction::Transaction};
use crate::{
    BackfillId, CustomerId, Error, ErrorKind, EventKey, Timeframe, limits,
    schema::{self, Slot},
    store::{Document, Key, Scan},
    usage::{Carrier, EventPlace, Minute, Pack, Packed, StoredEvent},
};

/// The rows of events: a row has those of one minute that a customer got in one commit, from one
/// backfill or from none. It is numbered as the first of them is among all that the customer got.
impl Transaction<'_> {
    /// Writes new events of a customer that a backfill brings, or none: each with its number among
    /// those of the customer. The head was read.
    ///
    /// The first are measured by all metrics that there are, up to a generation of them.
    pub(super) async fn accept(
        &mut self,
        customer_id: CustomerId,
        brought_by: Option<BackfillId>,
        new: &[&New<'_>],
        metrics: u64,
    ) -> Result<(), Error> {
        let slot = schema::customer_head(self.account, customer_id);
        let mut head = self.get(&slot).await?.unwrap_or_default();
        if head.accepted == 0 {
            head.measured = metrics;
        }
        let mut in_order = new.to_vec();
        in_order.sort_by_key(|new| Minute::of(new.event.timestamp));
        let mut rest = in_order.as_slice();
        while let Some(first) = rest.first() {
            let minute = Minute::of(first.event.timestamp);
            let (pack, behind) = rest.split_at(fitting(rest, minute));
            let number = head.accepted.saturating_add(1);
            let mut events = Vec::with_capacity(pack.len());
            for New { event, entry, slot, .. } in pack {
                head.accepted = head.accepted.saturating_add(1);
                let stored = StoredEvent::new(event, head.accepted);
                self.pace.spend_bytes(event.rough_bytes()).await;
                events.push(Packed::new(&event.idempotency_key, event.timestamp, stored));
                self.put(slot, &entry.clone().packed(brought_by, number))?;
            }
            self.put(&self.pack(brought_by, customer_id, minute, number), &Pack { events })?;
            rest = behind;
        }
        self.put(&slot, &head)
    }

    /// Reads an event that a carrier has brought.
    pub(super) async fn packed_event(
        &mut self,
        carrier: &Carrier,
        key: &EventKey,
    ) -> Result<Option<StoredEvent<'static>>, Error> {
        let Some(slot) = self.pack_of(carrier) else { return Ok(None) };
        let pack = self.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten();
        let events = pack.into_iter().flat_map(|pack: Pack<'static>| pack.events);
        Ok(events.into_iter().find(|packed| *packed.key == *key).map(|packed| packed.event))
    }

    /// Writes another content of an event that a carrier has brought. Where the row would become too
    /// long, the event gets one of its own, of which the carrier is told.
    pub(super) async fn put_packed(
        &mut self,
        carrier: &mut Carrier,
        key: &EventKey,
        event: &StoredEvent<'_>,
    ) -> Result<(), Error> {
        let missing = || Error::corrupt("an event has no row");
        let slot = self.pack_of(carrier).ok_or_else(missing)?;
        let pack: Option<Pack<'static>> =
            self.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten();
        let mut pack = pack.ok_or_else(missing)?;
        let at = pack.events.iter().position(|packed| *packed.key == *key);
        let packed = at.and_then(|at| pack.events.get_mut(at)).ok_or_else(missing)?;
        packed.event = event.clone().into_owned();
        match self.put(&slot, &pack) {
            Err(error) if error.kind() == ErrorKind::ResourceTooLarge => {}
            other => return other,
        }
        let head_slot = schema::customer_head(self.account, carrier.customer_id);
        let mut head = self.get(&head_slot).await?.unwrap_or_default();
        head.accepted = head.accepted.saturating_add(1);
        carrier.pack = Some(head.accepted);
        let own = self.pack_of(carrier).ok_or_else(missing)?;
        pack.events.retain(|packed| *packed.key != *key);
        let alone = Packed::new(key, carrier.timestamp, event.clone());
        self.put(&slot, &pack)?;
        self.put(&own, &Pack { events: vec![alone] })?;
        self.put(&head_slot, &head)
    }

    /// Names the row of the event that a carrier has brought; none where it is yet to be written.
    pub(super) fn pack_of<'p>(&self, carrier: &Carrier) -> Option<Slot<Pack<'p>>> {
        let Carrier { backfill_id, customer_id, timestamp, pack, .. } = carrier;
        Some(self.pack(*backfill_id, *customer_id, Minute::of(*timestamp), (*pack)?))
    }

    fn pack<'p>(
        &self,
        brought_by: Option<BackfillId>,
        customer: CustomerId,
        minute: Minute,
        number: u64,
    ) -> Slot<Pack<'p>> {
        match brought_by {
            Some(id) => schema::backfill_event(self.account, id, customer, minute, number),
            None => schema::event(self.account, customer, minute, number),
        }
    }

    /// Returns the rows of the minutes that a timeframe touches, of events that a backfill has
    /// brought, or none.
    pub(super) fn packs(
        &self,
        brought_by: Option<BackfillId>,
        customer: CustomerId,
        timeframe: Timeframe,
    ) -> Scan {
        let (account, limit) = (self.account, limits::SCAN_PACKS);
        match brought_by {
            Some(id) => schema::backfill_events(account, id, customer, timeframe, limit),
            None => schema::events(account, customer, timeframe, limit),
        }
    }

    /// Reads the minute of such a row, and its events with their places.
    pub(super) fn read_pack(
        &self,
        key: Key,
        document: &Document,
    ) -> Result<(Minute, Vec<(EventPlace, StoredEvent<'static>)>), Error> {
        let missing = || Error::corrupt("an event has no place");
        let minute = schema::minute_of(&key).ok_or_else(missing)?;
        let pack: Pack<'static> = Slot::new(key).decode(document)?;
        let places = pack
            .events
            .into_iter()
            .map(|packed| Ok((packed.place(minute).ok_or_else(missing)?, packed.event)));
        Ok((minute, places.collect::<Result<_, Error>>()?))
    }
}

/// How many of some events, the first of which lies in a minute, one row takes.
fn fitting(events: &[&New<'_>], minute: Minute) -> usize {
    let mut bytes = 0_usize;
    let fits = |new: &&&New<'_>| {
        bytes = bytes.saturating_add(Packed::most_bytes(new.event));
        Minute::of(new.event.timestamp) == minute && bytes <= limits::PACK_BYTES
    };
    events.iter().take_while(fits).count().max(1)
}
