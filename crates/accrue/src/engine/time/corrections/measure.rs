//! Measures earlier events by later metrics (`docs/decisions/metrics-over-earlier-events.md`).

use super::build::Chunk;
use crate::{
    CustomerId, Error, SubscriptionId, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{periods::Wanted, tallies::Indexed},
        time::recount::SummedBy,
    },
    limits,
    schema::{self, CustomerHead, Progress},
    subscription::SubscriptionEntry,
    time::INSTANT,
    usage::{Day, EventPlace, Meters},
};

/// Measuring the events of a customer by metrics that came after them.
///
/// Their rows are not read before all of them are there, so that they need no other slot.
impl Transaction<'_> {
    /// Measures more of them, up to a revision of the metrics.
    pub(super) async fn measure(
        &mut self,
        customer: CustomerId,
        head: &CustomerHead,
        revision: u64,
        behind: Option<EventPlace>,
    ) -> Result<Option<Progress>, Error> {
        let from = head.measured.saturating_add(1);
        let meters = self.meters().await?.since(from..=revision);
        let chunk = self.unmeasured(customer, &meters, behind).await?;
        if let Some(last) = chunk.last.clone() {
            let first = chunk.events.first().map_or(last.at, |(place, _)| place.at);
            let ends = Timeframe::nothing_at(first).until(last.at.saturating_add(INSTANT));
            let counting = self.bucket_slots(customer, ends).await?;
            self.add_chunk(customer, &counting, &chunk, Indexed::Yes).await?;
            return Ok(Some(Progress::Measuring { revision, behind: Some(last) }));
        }
        Ok(Some(Progress::Totalling { revision, behind: None }))
    }

    /// Sums the billing periods of more subscriptions by the metrics of a revision too. Nothing is
    /// priced by a metric before the customer is measured by it: no balance and no alert moves.
    pub(super) async fn total_anew(
        &mut self,
        customer: CustomerId,
        head: &CustomerHead,
        revision: u64,
        behind: Option<SubscriptionId>,
    ) -> Result<Option<Progress>, Error> {
        let entries = self.every_subscription(customer).await?;
        let is_behind = |of: &SubscriptionEntry| Some(of.subscription.id) == behind;
        let done = entries.iter().position(is_behind).map_or(0, |last| last.saturating_add(1));
        let mut summed = 0_usize;
        for entry in entries.iter().skip(done) {
            let open = self.open_periods(&entry.subscription);
            let mut periods = self.periods(entry, &open, Wanted::default(), self.now).await?;
            self.sum_anew(entry, &mut periods, SummedBy::Revision(revision)).await?;
            self.save_periods(&periods)?;
            summed = summed.saturating_add(periods.states.len());
            if summed >= limits::STEP_PERIODS {
                let behind = Some(entry.subscription.id);
                return Ok(Some(Progress::Totalling { revision, behind }));
            }
        }
        let slot = schema::customer_head(self.account, customer);
        self.put(&slot, &CustomerHead { measured: revision, ..*head })?;
        Ok(None)
    }

    /// Reads the next events, day by day.
    async fn unmeasured<'m>(
        &mut self,
        customer: CustomerId,
        meters: &'m Meters,
        behind: Option<EventPlace>,
    ) -> Result<Chunk<'m>, Error> {
        let mut chunk = Chunk::of(meters);
        let mut next = match &behind {
            Some(place) => Some(Day::of(place.at)),
            None => self.next_day(customer, Timestamp::MIN).await?,
        };
        while let Some(day) = next.filter(|_| !chunk.is_full()) {
            let mut walk = self.walk_events(customer, day.timeframe(), behind.as_ref()).await?;
            if self.fill(&mut chunk, &mut walk).await? {
                next = self.next_day(customer, day.end()).await?;
            }
            self.leave(walk).await;
        }
        Ok(chunk)
    }

    /// Finds the next day on which a customer may have events, from an instant on.
    async fn next_day(
        &mut self,
        customer: CustomerId,
        from: Timestamp,
    ) -> Result<Option<Day>, Error> {
        let rest = Timeframe::nothing_at(from).until(Timestamp::MAX);
        let events = schema::events(self.account, customer, rest, 1);
        let overlays = schema::overlays(self.account, customer, rest, 1);
        let event = match self.range(&events).await?.rows.first() {
            Some((key, _)) => Some(Day::of(schema::event_minute(key)?.start())),
            None => None,
        };
        let overlay = match self.range(&overlays).await?.rows.first() {
            Some((key, _)) => Some(schema::overlay_day(key)?),
            None => None,
        };
        Ok(event.into_iter().chain(overlay).min())
    }
}
