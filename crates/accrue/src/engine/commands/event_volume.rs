//! Number of events of an account, hour by hour.

use std::collections::BTreeMap;

use crate::{
    Error,
    engine::{
        Account,
        kernel::{Transaction, boxed},
        rows::volumes,
    },
    limits,
    page::{Listing, Page, PageRequest},
    schema,
    usage::{EventVolume, EventVolumeQuery, Hour, Hours},
};

impl Account {
    /// Counts the events of all customers hour by hour, newest first (wire 3.5): every hour of the
    /// timeframe is there, also those without events.
    ///
    /// An event lies in the hour of its timestamp, whenever it came. Those that were deprecated, or
    /// replaced by a backfill, are not counted. The counts of a page need not be of one instant: events
    /// go on to come.
    ///
    /// A page costs a row for each customer with events in one of its hours. It ends early, and with
    /// a whole hour, where it has read 10,000 of them.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the timeframe ends before it
    /// starts, or the cursor or the limit of the page is not one of this list.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Clock, EventKey, EventName, ExternalId, PageRequest};
    /// # use accrue::{SystemClock, store::MemoryStore, usage::{Event, Properties}};
    /// use accrue::usage::EventVolumeQuery;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let event = Event {
    /// #     idempotency_key: EventKey::parse("request-1")?,
    /// #     event_name: EventName::parse("completion")?,
    /// #     timestamp: SystemClock.now(),
    /// #     properties: Properties::default(),
    /// #     customer: ExternalId::parse("ada")?.into(),
    /// # };
    /// let since = event.timestamp;
    /// account.ingest([event]).await?;
    /// let query = EventVolumeQuery::since(since);
    /// let hours = account.event_volume(query, &PageRequest::default()).await?;
    /// assert_eq!(hours.data.iter().map(|hour| hour.count).sum::<u64>(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn event_volume(
        &self,
        query: impl Into<EventVolumeQuery>,
        page: &PageRequest,
    ) -> Result<Page<EventVolume>, Error> {
        let query = query.into();
        let listing =
            Listing { name: "event_volume", account: self.id(), filter: format!("{query:?}") };
        let tx = self.reading();
        let all = query.hours(tx.now)?;
        let limit = page.rows()?;
        let rest = match listing.position(page)?.as_ref().and_then(schema::hour_at) {
            Some(last) => all.before(last),
            None => all,
        };
        let (counted, counts) = count_events(&tx, rest.newest(limit)).await?;
        let count = |hour: Hour| counts.get(&hour).copied().unwrap_or_default();
        let data = counted.iter().map(|hour| EventVolume::new(hour.timeframe(), count(hour)));
        let data: Vec<_> = data.collect();
        let last = counted.iter().last().filter(|last| rest.before(*last).iter().next().is_some());
        let next_cursor = last.map(|last| listing.cursor(&schema::position_of_hour(last)));
        Ok(Page { data, next_cursor })
    }
}

/// Counts the events of hours, from the newest on until enough rows were read. Returns the hours
/// that were counted to their end, at least one, and those of them that have events.
#[boxed]
async fn count_events(
    tx: &Transaction<'_>,
    hours: Hours,
) -> Result<(Hours, BTreeMap<Hour, u64>), Error> {
    let mut counts = BTreeMap::<_, u64>::new();
    let volumes = schema::event_volumes(tx.account, hours.timeframe(), limits::SCAN_ROWS);
    let mut scan = volumes.descending();
    let mut read = 0_usize;
    while scan.bounds().is_some() {
        let rows = tx.scan_now(&scan).await?;
        let mut open = Vec::new();
        for row in &rows {
            let (hour, volume) = schema::read_event_volume(&row.key, &row.document)?;
            let count = counts.entry(hour).or_default();
            *count = count.saturating_add(volume.events);
            if volume.is_open {
                open.push((hour, schema::volume_customer(&row.key)?));
            }
        }
        for ((hour, _), events) in open.iter().zip(volumes::open_volumes(tx, &open).await?) {
            let count = counts.entry(*hour).or_default();
            *count = count.saturating_add(events);
        }
        let Some(last) = rows.last().filter(|_| rows.len() >= scan.limit) else { break };
        scan = scan.after(last.key.bytes());
        read = read.saturating_add(rows.len());
        // The oldest hour may go on: a page begins with all of it.
        if read >= limits::VOLUME_ROWS
            && counts.len() > 1
            && let Some((oldest, _)) = counts.pop_first()
        {
            return Ok((hours.after(oldest), counts));
        }
    }
    Ok((hours, counts))
}
